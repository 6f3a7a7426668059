"""Studies of real targets: the loop, its folder, journal and slots, and what is run beside it."""
