"""Cannot be imported."""

raise ValueError("not today")
