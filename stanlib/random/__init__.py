"""Sources of random numbers under one interface, for the `_rng` functions.

base.py says what a source offers; numpy.py wraps a Generator, jax.py a key, torch.py a torch Generator. A source is
what an rng function takes as its first argument: `normal_rng(NumpyRandom(generator), mu, sigma)`.
"""
