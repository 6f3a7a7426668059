"""Pictures for people and papers."""
