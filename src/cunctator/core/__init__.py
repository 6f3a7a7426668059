"""The pure heart: no clock, no file, no process, no global random state."""
