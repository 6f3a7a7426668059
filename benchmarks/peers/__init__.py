"""Cunctator beside other configurators, all on the same account: `python -m peers`."""
