"""Where distributions are defined: of the outcome (position 0) and of each argument that has to be constrained.

Source: Stan Functions Reference, the chapters on distributions.
"""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Real numbers between two bounds; `closed` if the bounds belong to it."""

    name: str
    lower: float | None = None
    upper: float | None = None
    closed: bool = False

    def contains(self, x: float) -> bool:
        if self.closed:
            return (self.lower is None or x >= self.lower) and (self.upper is None or x <= self.upper)
        return (self.lower is None or x > self.lower) and (self.upper is None or x < self.upper)

    @property
    def declaration(self) -> str:
        bounds = (f"{word}={x:g}" for word, x in (("lower", self.lower), ("upper", self.upper)) if x is not None)
        return f"with <{', '.join(bounds)}>"

    def __str__(self) -> str:
        return self.name


class Kinds(frozenset[str]):
    """The constrained types whose values qualify; the first that was given names them."""

    def __new__(cls, *names: str) -> "Kinds":
        out = super().__new__(cls, names)
        out.first = names[0]
        return out

    first: str

    @property
    def declaration(self) -> str:
        return f"as {self.first}"

    def __str__(self) -> str:
        return f"of type {self.first}"


Requirement = Interval | Kinds

POSITIVE = Interval("positive", 0.0)
NONNEGATIVE = Interval("nonnegative", 0.0, closed=True)
UNIT = Interval("between 0 and 1", 0.0, 1.0)
PROBABILITY = Interval("in [0, 1]", 0.0, 1.0, closed=True)
SIMPLEX, ORDERED = Kinds("simplex"), Kinds("ordered")
COVARIANCE = Kinds("cov_matrix", "corr_matrix")
FACTOR = Kinds("cholesky_factor_cov", "cholesky_factor_corr")
CORRELATION, CORRELATION_FACTOR = Kinds("corr_matrix"), Kinds("cholesky_factor_corr")

DOMAINS: dict[str, dict[int, Requirement]] = {
    "bernoulli": {1: PROBABILITY},
    "binomial": {2: PROBABILITY},
    "beta_binomial": {2: POSITIVE, 3: POSITIVE},
    "categorical": {1: SIMPLEX},
    "ordered_logistic": {2: ORDERED},
    "ordered_probit": {2: ORDERED},
    "neg_binomial": {1: POSITIVE, 2: POSITIVE},
    "neg_binomial_2": {1: POSITIVE, 2: POSITIVE},
    "neg_binomial_2_log": {2: POSITIVE},
    "neg_binomial_2_log_glm": {4: POSITIVE},
    "poisson": {1: POSITIVE},
    "multinomial": {1: SIMPLEX},
    "normal": {2: POSITIVE},
    "normal_id_glm": {4: POSITIVE},
    "exp_mod_normal": {2: POSITIVE, 3: POSITIVE},
    "skew_normal": {2: POSITIVE},
    "student_t": {1: POSITIVE, 3: POSITIVE},
    "cauchy": {2: POSITIVE},
    "double_exponential": {2: POSITIVE},
    "logistic": {2: POSITIVE},
    "gumbel": {2: POSITIVE},
    "lognormal": {0: POSITIVE, 2: POSITIVE},
    "loglogistic": {0: NONNEGATIVE, 1: POSITIVE, 2: POSITIVE},
    "chi_square": {0: POSITIVE, 1: POSITIVE},
    "inv_chi_square": {0: POSITIVE, 1: POSITIVE},
    "scaled_inv_chi_square": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE},
    "exponential": {0: POSITIVE, 1: POSITIVE},
    "gamma": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE},
    "inv_gamma": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE},
    "weibull": {0: NONNEGATIVE, 1: POSITIVE, 2: POSITIVE},
    "frechet": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE},
    "rayleigh": {0: NONNEGATIVE, 1: POSITIVE},
    "wiener": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE, 3: PROBABILITY},
    "pareto": {0: POSITIVE, 1: POSITIVE, 2: POSITIVE},
    "pareto_type_2": {2: POSITIVE, 3: POSITIVE},
    "beta": {0: UNIT, 1: POSITIVE, 2: POSITIVE},
    "beta_proportion": {0: UNIT, 1: UNIT, 2: POSITIVE},
    "von_mises": {2: POSITIVE},
    "multi_normal": {2: COVARIANCE},
    "multi_normal_prec": {2: COVARIANCE},
    "multi_normal_cholesky": {2: FACTOR},
    "multi_gp": {1: COVARIANCE},
    "multi_gp_cholesky": {1: FACTOR},
    "multi_student_t": {1: POSITIVE, 3: COVARIANCE},
    "multi_student_t_cholesky": {1: POSITIVE, 3: FACTOR},
    "gaussian_dlm_obs": {3: COVARIANCE, 4: COVARIANCE},
    "dirichlet": {0: SIMPLEX, 1: POSITIVE},
    "lkj_corr": {0: CORRELATION, 1: POSITIVE},
    "lkj_corr_cholesky": {0: CORRELATION_FACTOR, 1: POSITIVE},
    "wishart": {0: COVARIANCE, 1: POSITIVE, 2: COVARIANCE},
    "inv_wishart": {0: COVARIANCE, 1: POSITIVE, 2: COVARIANCE},
    "wishart_cholesky": {0: FACTOR, 1: POSITIVE, 2: FACTOR},
    "inv_wishart_cholesky": {0: FACTOR, 1: POSITIVE, 2: FACTOR},
}
