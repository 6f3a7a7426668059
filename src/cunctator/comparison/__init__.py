"""Many methods on one table: which runs there are, making them, keeping and reading results."""
