"""Everything a person sees: words, tables, displays, figures. Nothing here prints."""
