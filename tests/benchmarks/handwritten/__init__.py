"""Log densities of programs in models/, written by hand in JAX for gradients.py to compare with.

Each module has a function `log_density` from the program's data to a function from a dict of constrained parameters to
the log density: array code, `lax.scan` for recurrences, NumPy for what depends on data alone.
"""
