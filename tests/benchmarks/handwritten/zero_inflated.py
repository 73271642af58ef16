"""zero_inflated by hand: zeros and positive counts are apart; all zeros have the same term."""
import jax.numpy as jnp
import numpy as np
from scipy.special import gammaln

from . import laws


def log_density(N, count):
    count = np.asarray(count)
    positive = count[count > 0]
    zeros, constant = N - len(positive), np.sum(gammaln(positive + 1.0))

    def total(p):
        idle, rate = p["idle"], p["rate"]
        active = jnp.log1p(-idle)
        likelihood = zeros * jnp.logaddexp(jnp.log(idle), active - rate)
        likelihood += jnp.sum(active + positive * jnp.log(rate) - rate) - constant
        return laws.beta(idle, 1, 1) + laws.gamma(rate, 2, 1) + likelihood

    return total
