"""Reading other people's files."""
