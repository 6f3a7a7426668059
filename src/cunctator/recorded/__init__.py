"""Recorded runtimes: tables of them, and the search on them."""
