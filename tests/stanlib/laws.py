"""The distributions of the library beside SciPy's: parameters, outcomes to try, and the same law in SciPy."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Law(NamedTuple):
    name: str
    parameters: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    scipy: Any

    def __str__(self) -> str:
        return f"{self.name}{self.parameters}"


def _skew_laplace(mu, sigma, tau):
    kappa = math.sqrt(tau / (1 - tau))
    return stats.laplace_asymmetric(kappa, mu, sigma * kappa / (2 * tau))


CONTINUOUS = [
    Law("normal", (0.4, 1.3), (-30.0, -1.0, 0.4, 9.0), stats.norm(0.4, 1.3)),
    Law("std_normal", (), (-30.0, -1.0, 0.0, 7.0), stats.norm()),
    Law("student_t", (3.5, 0.4, 1.3), (-900.0, 0.41, 5.0), stats.t(3.5, 0.4, 1.3)),
    Law("student_t", (0.7, 0.4, 1.3), (-2.0, 0.41, 50.0), stats.t(0.7, 0.4, 1.3)),
    Law("cauchy", (0.4, 1.3), (-90.0, 0.0, 500.0), stats.cauchy(0.4, 1.3)),
    Law("double_exponential", (0.4, 1.3), (-90.0, 0.5, 40.0), stats.laplace(0.4, 1.3)),
    Law("skew_double_exponential", (0.4, 1.3, 0.2), (-9.0, 0.5, 12.0), _skew_laplace(0.4, 1.3, 0.2)),
    Law("logistic", (0.4, 1.3), (-90.0, 0.5, 40.0), stats.logistic(0.4, 1.3)),
    Law("gumbel", (0.4, 1.3), (-3.0, 0.5, 40.0), stats.gumbel_r(0.4, 1.3)),
    Law("lognormal", (0.4, 1.3), (0.01, 1.5, 300.0), stats.lognorm(1.3, scale=math.exp(0.4))),
    Law("exponential", (1.3,), (1e-5, 0.5, 40.0), stats.expon(scale=1 / 1.3)),
    Law("gamma", (2.4, 1.3), (0.01, 1.5, 60.0), stats.gamma(2.4, scale=1 / 1.3)),
    Law("gamma", (0.3, 1.3), (1e-9, 1.5, 20.0), stats.gamma(0.3, scale=1 / 1.3)),
    Law("chi_square", (3.4,), (0.01, 1.5, 90.0), stats.chi2(3.4)),
    Law("inv_gamma", (2.4, 1.3), (0.03, 1.5, 900.0), stats.invgamma(2.4, scale=1.3)),
    Law("inv_chi_square", (3.4,), (0.02, 1.5, 900.0), stats.invgamma(1.7, scale=0.5)),
    Law("scaled_inv_chi_square", (3.4, 0.8), (0.05, 1.5, 90.0), stats.invgamma(1.7, scale=1.7 * 0.64)),
    Law("weibull", (0.7, 1.3), (1e-9, 1.5, 90.0), stats.weibull_min(0.7, scale=1.3)),
    Law("frechet", (1.7, 1.3), (0.3, 1.5, 1e6), stats.invweibull(1.7, scale=1.3)),
    Law("rayleigh", (1.3,), (1e-4, 1.5, 20.0), stats.rayleigh(scale=1.3)),
    Law("loglogistic", (1.3, 1.7), (1e-4, 1.5, 20.0), stats.fisk(1.7, scale=1.3)),
    Law("pareto", (0.4, 1.3), (0.41, 1.5, 1e6), stats.pareto(1.3, scale=0.4)),
    Law("pareto_type_2", (0.4, 1.3, 2.2), (0.41, 1.5, 1e6), stats.lomax(2.2, 0.4, 1.3)),
    Law("beta", (2.4, 0.7), (0.001, 0.5, 0.999), stats.beta(2.4, 0.7)),
    Law("beta_proportion", (0.3, 2.2), (0.001, 0.5, 0.999), stats.beta(0.66, 1.54)),
    Law("uniform", (-0.6, 1.3), (-0.5, 0.5, 1.2), stats.uniform(-0.6, 1.9)),
    Law("von_mises", (0.0, 2.3), (-3.0, 0.1, 2.0), stats.vonmises(2.3)),
    Law("exp_mod_normal", (0.4, 1.3, 0.8), (-5.0, 0.5, 30.0), stats.exponnorm(1 / (1.3 * 0.8), 0.4, 1.3)),
    Law("skew_normal", (0.4, 1.3, 2.1), (-0.5, 0.5, 6.0), stats.skewnorm(2.1, 0.4, 1.3)),
    Law("skew_normal", (0.4, 1.3, -2.1), (-5.0, 0.5, 1.0), stats.skewnorm(-2.1, 0.4, 1.3)),
]
DISCRETE = [
    Law("bernoulli", (0.3,), (0, 1), stats.bernoulli(0.3)),
    Law("bernoulli_logit", (-0.8,), (0, 1), stats.bernoulli(1 / (1 + math.exp(0.8)))),
    Law("binomial", (12, 0.3), (0, 4, 12), stats.binom(12, 0.3)),
    Law("binomial_logit", (12, -0.8), (0, 4, 12), stats.binom(12, 1 / (1 + math.exp(0.8)))),
    Law("beta_binomial", (12, 1.7, 0.8), (0, 4, 12), stats.betabinom(12, 1.7, 0.8)),
    Law("poisson", (4.3,), (0, 4, 40), stats.poisson(4.3)),
    Law("poisson_log", (1.2,), (0, 4, 40), stats.poisson(math.exp(1.2))),
    Law("neg_binomial", (2.4, 0.7), (0, 4, 40), stats.nbinom(2.4, 0.7 / 1.7)),
    Law("neg_binomial_2", (3.1, 1.4), (0, 4, 40), stats.nbinom(1.4, 1.4 / 4.5)),
    Law("neg_binomial_2_log", (1.1, 1.4), (0, 4, 40), stats.nbinom(1.4, 1.4 / (1.4 + math.exp(1.1)))),
    Law("beta_neg_binomial", (2.0, 3.7, 1.2), (0, 4, 40), stats.betanbinom(2, 3.7, 1.2)),
    Law("yule_simon", (3.3,), (1, 4, 40), stats.yulesimon(3.3)),
    Law("discrete_range", (-1, 6), (-1, 3, 6), stats.randint(-1, 7)),
]
LAWS = CONTINUOUS + DISCRETE


def outcomes(law: Law) -> np.ndarray:
    return np.array(law.outcomes)
