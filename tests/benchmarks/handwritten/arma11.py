"""arma11 by hand: a scan over the shocks, all else outside of it."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import laws


def log_density(T, series):
    series = np.asarray(series)

    def total(p):
        level, persistence, echo = p["level"], p["persistence"], p["echo"]
        unexpected = series[1:] - level - persistence * (series[:-1] - level)

        def step(shock, now):
            shock = now - echo * shock
            return shock, shock

        first = series[0] - level
        _, later = lax.scan(step, first, unexpected, unroll=4)
        shock = jnp.concatenate([first[None], later])
        prior = laws.normal(level, 0, 5) + laws.normal(persistence, 0, 0.5) + laws.normal(echo, 0, 0.5)
        return prior + laws.normal(p["noise"], 0, 2) + jnp.sum(laws.normal(shock, 0, p["noise"]))

    return total
