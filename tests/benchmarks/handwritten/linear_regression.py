"""linear_regression by hand."""
import jax.numpy as jnp
import numpy as np

from . import laws


def log_density(N, pressure, boiling_point):
    deviation, y = np.asarray(pressure) - np.mean(pressure), np.asarray(boiling_point)

    def total(p):
        prior = laws.normal(p["level"], 200, 20) + laws.normal(p["slope"], 0, 5) + laws.exponential(p["sigma"], 1)
        return prior + jnp.sum(laws.normal(y, p["level"] + p["slope"] * deviation, p["sigma"]))

    return total
