"""garch11 by hand: a scan over the variances, all else outside of it."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import laws


def log_density(T, returns, first_volatility):
    returns = np.asarray(returns)

    def total(p):
        shocks = p["alpha0"] + p["alpha1"] * jnp.square(returns[:-1] - p["mu"])

        def step(variance, shock):
            variance = shock + p["beta1"] * variance
            return variance, variance

        first = jnp.asarray(first_volatility) ** 2
        _, later = lax.scan(step, first, shocks, unroll=4)
        volatility = jnp.sqrt(jnp.concatenate([first[None], later]))
        prior = laws.normal(p["mu"], 0, 1) + laws.normal(p["alpha0"], 0, 1)
        return prior + jnp.sum(laws.normal(returns, p["mu"], volatility))

    return total
