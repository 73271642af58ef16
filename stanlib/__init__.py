"""The Stan standard library on NumPy, JAX and PyTorch, and what generated code needs to run.

stanlib knows nothing of the compiler: `stanimport` imports it, never the reverse.
"""
