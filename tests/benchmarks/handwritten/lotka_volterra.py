"""lotka_volterra by hand: Diffrax solves the equation, by Dormand and Prince's method at Stan's tolerances."""
import diffrax
import jax.numpy as jnp
import numpy as np

from . import laws

METHOD = dict(
    solver=diffrax.Dopri5(),
    stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-6),
    max_steps=256,
)


def change(t, state, rate):
    hares, lynxes = state
    return jnp.stack([(rate[0] - rate[1] * lynxes) * hares, (rate[2] * hares - rate[3]) * lynxes])


def log_density(years, year, first, pelts):
    year, first, pelts = np.asarray(year), np.asarray(first), np.asarray(pelts)

    def total(p):
        rate, initial, sigma = p["rate"], p["initial"], p["sigma"]
        saved = diffrax.SaveAt(ts=year)
        term = diffrax.ODETerm(change)
        population = diffrax.diffeqsolve(
            term, t0=0.0, t1=year[-1], dt0=None, y0=initial, args=rate, saveat=saved, **METHOD
        )
        prior = laws.normal(rate, np.array([1, 0.05, 0.05, 1]), np.array([0.5, 0.05, 0.05, 0.5])).sum()
        prior += laws.lognormal(initial, np.log(10), 1).sum() + laws.lognormal(sigma, -1, 1).sum()
        likelihood = laws.lognormal(first, jnp.log(initial), sigma).sum()
        return prior + likelihood + jnp.sum(laws.lognormal(pelts, jnp.log(population.ys), sigma))

    return total
