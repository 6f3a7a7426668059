"""What is run: recorded runtimes now, real solvers next."""
