"""The log densities of the programs in models/, from their mathematics: one function per program.

Each takes the data and the parameters as namespaces of NumPy arrays, and keeps or drops constants as is convenient.
"""
from __future__ import annotations

import numpy as np
from scipy import integrate, linalg, special, stats

normal = stats.norm.logpdf


def coin(d, p):
    heads = np.sum(d.heads)
    return stats.beta.logpdf(p.bias, 2 + heads, 2 + d.flips - heads)


def _schools(d, p, effect):
    prior = normal(p.mean_effect, 0, 5) + stats.cauchy.logpdf(p.spread, 0, 5)
    return prior + np.sum(normal(d.gain, effect, d.se))


def eight_schools(d, p):
    return _schools(d, p, p.effect) + np.sum(normal(p.effect, p.mean_effect, p.spread))


def eight_schools_noncentered(d, p):
    return _schools(d, p, p.mean_effect + p.spread * p.standardized) + np.sum(normal(p.standardized))


def populations(d, p):
    """Hares and lynxes in every year."""

    def change(t, state):
        return [(p.rate[0] - p.rate[1] * state[1]) * state[0], (p.rate[2] * state[0] - p.rate[3]) * state[1]]

    return integrate.solve_ivp(change, (0, d.year[-1]), p.initial, "DOP853", d.year, rtol=1e-12, atol=1e-12).y.T


def lotka_volterra(d, p):
    years = populations(d, p)
    prior = np.sum(normal(p.rate, [1, 0.05, 0.05, 1], [0.5, 0.05, 0.05, 0.5]))
    prior += np.sum(_lognormal(p.initial, np.log(10), 1)) + np.sum(_lognormal(p.sigma, -1, 1))
    first = np.sum(_lognormal(d.first, np.log(p.initial), p.sigma))
    return prior + first + np.sum(_lognormal(d.pelts, np.log(years), p.sigma))


def _lognormal(y, mu, sigma):
    return normal(np.log(y), mu, sigma) - np.log(y)


def linear_regression(d, p):
    fitted = p.level + p.slope * (d.pressure - np.mean(d.pressure))
    prior = normal(p.level, 200, 20) + normal(p.slope, 0, 5) + stats.expon.logpdf(p.sigma)
    return prior + np.sum(normal(d.boiling_point, fitted, p.sigma))


def arK(d, p):
    past = np.lib.stride_tricks.sliding_window_view(d.series[:-1], d.K)[:, ::-1]
    prior = normal(p.drift) + np.sum(normal(p.weight, 0, 0.5)) + stats.cauchy.logpdf(p.noise, 0, 2)
    return prior + np.sum(normal(d.series[d.K :], p.drift + past @ p.weight, p.noise))


def arma11(d, p):
    """The shocks solve a lower bidiagonal system: shock[t] + echo shock[t - 1] = x[t] - persistence x[t - 1]."""
    x = d.series - p.level
    bands = np.array([np.ones(d.T), np.full(d.T, p.echo)])
    shock = linalg.solve_banded((1, 0), bands, np.append(x[0], x[1:] - p.persistence * x[:-1]))
    prior = normal(p.level, 0, 5) + normal(p.persistence, 0, 0.5) + normal(p.echo, 0, 0.5) + normal(p.noise, 0, 2)
    return prior + np.sum(normal(shock, 0, p.noise))


def garch11(d, p):
    """The variances are a linear filter of the squared shocks."""
    drive = p.alpha0 + p.alpha1 * (d.returns[:-1] - p.mu) ** 2
    powers = p.beta1 ** np.arange(d.T)
    weights = linalg.toeplitz(powers, np.zeros(d.T))
    variance = weights @ np.append(d.first_volatility**2, drive)
    return normal(p.mu) + normal(p.alpha0) + np.sum(normal(d.returns, p.mu, np.sqrt(variance)))


def hmm_example(d, p):
    """The likelihood as a product of matrices, normalised at every step."""
    emission = stats.norm.pdf(d.y[:, None], p.centre, p.sigma)
    filtered, log_likelihood = np.full(2, 0.5), 0.0
    for t, e in enumerate(emission):
        filtered = (filtered if t == 0 else filtered @ p.move) * e
        log_likelihood += np.log(np.sum(filtered))
        filtered = filtered / np.sum(filtered)
    prior = sum(stats.dirichlet.logpdf(row, [2, 2]) for row in p.move)
    return log_likelihood + prior + np.sum(normal(p.centre, 0, 5)) + stats.lognorm.logpdf(p.sigma, 1)


def dogs(d, p):
    """A dog's risk depends on how often it got shocked and how often it avoided that before."""
    shocks = np.cumsum(d.shocked, axis=1)[:, :-1]
    avoidances = np.arange(1, d.trials) - shocks
    risk = p.after_shock**shocks * p.after_avoidance**avoidances
    prior = stats.beta.logpdf(p.after_shock, 5, 1) + stats.beta.logpdf(p.after_avoidance, 5, 1)
    return prior + np.sum(stats.bernoulli.logpmf(d.shocked[:, 1:], risk))


def gaussian_mixture(d, p):
    prior = stats.dirichlet.logpdf(p.share, np.full(d.K, 2.0)) + np.sum(normal(p.centre, 0, 5))
    density = stats.norm.pdf(d.y[:, None], p.centre, p.width) @ p.share
    return prior + np.sum(stats.lognorm.logpdf(p.width, 0.5)) + np.sum(np.log(density))


discrete_mixture, discrete_hmm = gaussian_mixture, hmm_example


def capture_recapture(d, p):
    """By animal: survived and seen or not up to the last sighting, then never seen again."""
    total = 0.0
    for history in d.seen.astype(bool):
        when = np.flatnonzero(history)
        first, last = when[0], when[-1]
        total += np.sum(np.log(p.survival[first:last]))
        total += np.sum(stats.bernoulli.logpmf(history[first + 1 : last + 1], p.sighting))
        never = 1.0
        for s in p.survival[last:][::-1]:
            never = 1 - s + s * (1 - p.sighting) * never
        total += np.log(never)
    return total


def gp_regr(d, p):
    distance = d.x[:, None] - d.x
    covariance = p.amplitude**2 * np.exp(-0.5 * (distance / p.length_scale) ** 2) + p.noise**2 * np.eye(d.N)
    prior = stats.invgamma.logpdf(p.length_scale, 4, scale=4) + normal(p.amplitude, 0, 2) + normal(p.noise)
    return prior + stats.multivariate_normal.logpdf(d.y, np.zeros(d.N), covariance)


def _bernoulli_logit(y, eta):
    return np.sum(special.log_expit(np.where(y == 1, eta, -eta)))


def old_syntax(d, p):
    eta = p.level + p.slope * (d.temperature - np.mean(d.temperature))
    prior = normal(p.level, 0, 3) + stats.t.logpdf(p.slope, 4, 0, 0.5)
    return prior + _bernoulli_logit(d.damaged, eta)


def logistic_regression_loop(d, p):
    prior = normal(p.intercept, 0, 2.5) + np.sum(normal(p.slope))
    return prior + _bernoulli_logit(d.y, p.intercept + d.x @ p.slope)


def nested_loop(d, p):
    prior = np.sum(normal(p.ability)) + np.sum(normal(p.difficulty, 0, 2))
    eta = p.discrimination * (p.ability[:, None] - p.difficulty)
    return prior + np.sum(stats.lognorm.logpdf(p.discrimination, 0.5)) + _bernoulli_logit(d.correct, eta)


def ragged(d, p):
    prior = normal(p.overall, 0, 10) + normal(p.between, 0, 5) + normal(p.within, 0, 5)
    groups = np.sum(normal(p.centre, p.overall, p.between))
    return prior + groups + np.sum(normal(d.y, np.repeat(p.centre, d.length), p.within))


def conditional(d, p):
    law = stats.norm(p.baseline + p.benefit * d.treated, p.sigma)
    prior = normal(p.baseline, 2, 2) + normal(p.benefit, 0, 2) + stats.expon.logpdf(p.sigma)
    x = np.log(d.weeks)
    return prior + np.sum(np.where(d.observed == 1, law.logpdf(x), law.logsf(x)))


def reduction(d, p):
    fitted = p.level + (d.setting - np.mean(d.setting, axis=0)) @ p.slope
    prior = np.sum(normal(p.slope)) + normal(p.level, 15, 10) + stats.expon.logpdf(p.sigma, scale=5)
    return prior + np.sum(normal(d.loss, fitted, p.sigma))


def hierarchical_index(d, p):
    prior = normal(p.mean_size, 250, 50) + normal(p.mean_growth, 5, 5)
    spreads = normal(p.sd_size, 0, 20) + normal(p.sd_growth, 0, 2) + normal(p.sigma, 0, 10)
    size, growth = normal(p.size_at_middle, p.mean_size, p.sd_size), normal(p.growth, p.mean_growth, p.sd_growth)
    fitted = (p.size_at_middle + np.outer(np.unique(d.age) - 22, p.growth)).ravel()  # the data go age by age
    return prior + spreads + np.sum(size) + np.sum(growth) + np.sum(normal(d.weight, fitted, p.sigma))


def poisson_glm(d, p):
    log_time = np.log(np.arange(1, d.quarters + 1) / d.quarters)
    rate = np.exp(p.log_rate + p.slope[0] * log_time + p.slope[1] * log_time**2)
    return normal(p.log_rate, 3, 2) + np.sum(normal(p.slope, 0, 2)) + np.sum(stats.poisson.logpmf(d.deaths, rate))


def zero_inflated(d, p):
    mixed = p.idle * (d.count == 0) + (1 - p.idle) * stats.poisson.pmf(d.count, p.rate)
    return stats.gamma.logpdf(p.rate, 2) + np.sum(np.log(mixed))


def multivariate(d, p):
    """lkj_corr_cholesky(2): the density of the factor is the product of its diagonal to the powers D - k + 2."""
    k = np.arange(1, d.D + 1)
    lkj = np.sum((d.D - k + 2 * 2 - 2) * np.log(np.diag(p.factor)))
    factor = np.diag(p.scale) @ p.factor
    prior = np.sum(normal(p.centre, 0, 5)) + np.sum(stats.expon.logpdf(p.scale)) + lkj
    return prior + np.sum(stats.multivariate_normal.logpdf(d.y, p.centre, factor @ factor.T))
