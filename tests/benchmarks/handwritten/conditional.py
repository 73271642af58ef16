"""conditional by hand: observed and censored patients are apart."""
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr

from . import laws


def log_density(patients, weeks, observed, treated):
    log_weeks, treated, observed = np.log(weeks), np.asarray(treated), np.asarray(observed) == 1

    def total(p):
        baseline, benefit, sigma = p["baseline"], p["benefit"], p["sigma"]
        seen = laws.normal(log_weeks[observed], baseline + benefit * treated[observed], sigma)
        expected = baseline + benefit * treated[~observed]
        unseen = log_ndtr((expected - log_weeks[~observed]) / sigma)
        prior = laws.normal(baseline, 2, 2) + laws.normal(benefit, 0, 2) + laws.exponential(sigma, 1)
        return prior + jnp.sum(seen) + jnp.sum(unseen)

    return total
