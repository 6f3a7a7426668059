"""What a study remembers, in `study.db`."""
