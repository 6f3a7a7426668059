"""Other procedures for the same task, on recorded runtimes; see `docs/siblings.md`."""
