"""Sources of random numbers under one interface, for the `_rng` functions.

base.py says what a source offers; numpy.py wraps a Generator, torch.py a torch Generator, jax.py a key or a state of
streams.py, from which jax_laws.py draws. A source is what an rng function takes as its first argument:
`normal_rng(NumpyRandom(generator), mu, sigma)`.
"""
