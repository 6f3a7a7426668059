"""What everybody may import: errors, small records, units, words to the user."""
