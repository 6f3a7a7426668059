"""Uses CPU time without end."""

while True:
    pass
