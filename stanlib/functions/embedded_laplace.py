"""The embedded Laplace approximation. Source: Stan Functions Reference, "Embedded Laplace Approximation".

A likelihood of a latent Gaussian vector is integrated over it approximately. The choice of a solver and of what to
fall back on has nothing to decide here: one factorisation that needs neither a definite Hessian nor an invertible
covariance serves all.
"""
from __future__ import annotations

from typing import Any

from ..arrays.base import Array, Namespace
from ..checks import known, same_size, square
from ..domains import NONNEGATIVE, POSITIVE, Domain
from ..errors import StanIndexError
from ..random.base import Random
from ..registry import stan_function, variadic_function
from ..rejection import Lifted
from ..solvers import engine, solved
from ..solvers.laplace import Model, Search
from ..types import INT, MATRIX, REAL, VECTOR, Parameter, Tuple, Type, array
from ..variadic import Variadic, data, values

TOLERANCE, MOST_STEPS, SOLVER, LINE_SEARCH, FALL_THROUGH = 2.0**-26, 500, 1, 1000, 1
MOST_HALVINGS = 30  # a step that was cut in half so often is too short to matter


# --- likelihoods of Stan's own ---------------------------------------------------------------------------------------


def _predictor(theta: Array, mean: Array, y_index: Array) -> Array:
    return (theta + mean)[y_index - 1]


def bernoulli_logit(theta: Array, y: Array, y_index: Array, mean: Array) -> Array:
    from ..registry import by_symbol

    out: Array = by_symbol("bernoulli_logit_lpmf")(y, _predictor(theta, mean, y_index))
    return out


def poisson_log(theta: Array, y: Array, y_index: Array, mean: Array) -> Array:
    from ..registry import by_symbol

    out: Array = by_symbol("poisson_log_lpmf")(y, _predictor(theta, mean, y_index))
    return out


def neg_binomial_2_log(theta: Array, y: Array, y_index: Array, eta: Array, mean: Array) -> Array:
    """eta is one dispersion for all observations, or has one for each."""
    from ..registry import by_symbol

    shared = eta[0] if getattr(eta, "shape", ()) == (1,) else eta
    out: Array = by_symbol("neg_binomial_2_log_lpmf")(y, _predictor(theta, mean, y_index), shared)
    return out


LIKELIHOODS = {f.__name__: f for f in (bernoulli_logit, poisson_log, neg_binomial_2_log)}
_INTS = array(INT, 1)
# What they take in place of a function and its arguments.
_ARGUMENTS: dict[str, tuple[Parameter, ...]] = {
    "bernoulli_logit": values(_INTS, _INTS, VECTOR),
    "neg_binomial_2_log": values(_INTS, _INTS, VECTOR, VECTOR),
    "poisson_log": values(_INTS, _INTS, VECTOR),
}
_CONTROL = (Parameter(VECTOR), *data(REAL, INT, INT, INT, INT))


def _call(name: str, result: Type, family: str = "", data_only: bool = False) -> Variadic:
    """How calls of a Laplace function are checked."""
    control = _CONTROL if "_tol" in name else ()
    return Variadic(result, control, values(VECTOR), REAL, "laplace", _ARGUMENTS.get(family), data_only)


# --- calls -----------------------------------------------------------------------------------------------------------


def _search(xp: Namespace, name: str, size: Any, control: Array) -> Any:
    """How to look for the mode, by the controls of a call, or for None by default; a guess of zeros counts as none."""
    if control is None:
        return Search()
    start, tolerance, most_steps, solver, line_search, fall_through = control
    same_size(name, "the initial guess", xp.shape(start)[0], "the covariance matrix", size)
    POSITIVE.check(xp, name, "tolerance", tolerance)
    POSITIVE.check(xp, name, "max_num_steps", most_steps)
    Domain("1, 2 or 3", lambda xp, x: (x >= 1) & (x <= 3)).check(xp, name, "solver", solver)
    NONNEGATIVE.check(xp, name, "max_steps_line_search", line_search)
    given = known(xp, start)
    halvings = min(int(line_search), MOST_HALVINGS)
    return Search(float(tolerance), int(most_steps), halvings, start if given is None or given.any() else None)


def _model(
    xp: Namespace, name: str, likelihood: Any, arguments: Any, block: Any, covariance: Array, covariance_arguments: Any
) -> Any:
    matrix = engine(xp, "laplace").matrix(covariance, covariance_arguments, arguments)
    size = square(xp, name, matrix)
    block = int(block)
    if block < 1 or size % block:
        raise StanIndexError(f"{name}: the size of the blocks, {block}, must divide the latent values ({size})")
    return Model(Lifted(likelihood), arguments, matrix, block), size


def _approximate(xp: Namespace, name: str, what: str, head: Array, control: Array) -> Array:
    model, size = _model(xp, name, *head)
    out: Array = solved(name, getattr(engine(xp, "laplace"), what)(model, _search(xp, name, size, control)))
    return out


def _marginal(name: str, split: Any, family: str = "") -> None:
    def marginal(xp: Namespace, *arguments: Array) -> Array:
        head, control = split(arguments)
        return _approximate(xp, name, "marginal", head, control)

    variadic_function(name, _call(name, REAL, family))(marginal)


def _draw(name: str, split: Any, family: str = "") -> None:
    """Register a function that draws the latent vector, (n), from its approximate law; `split` parts the controls."""

    def draw(xp: Namespace, random: Random, *arguments: Array) -> Array:
        head, control = split(arguments)
        mean, covariance = _approximate(xp, name, "latent", head, control)
        # what is of data alone is NumPy's, beside random numbers of PyTorch
        mean, covariance, steps = xp.convert((mean, covariance, random.normal(xp.shape(mean))))
        # a covariance matrix that is singular but for rounding has a root too
        values, vectors = xp.eigh(covariance)
        scales = xp.sqrt(xp.maximum(values, 0.0))
        out: Array = mean + vectors @ (scales * steps)
        return out

    variadic_function(name, _call(name, VECTOR, family), random=True)(draw)


def _solve(name: str, split: Any) -> None:
    def solve(xp: Namespace, *arguments: Any) -> object:
        """The mean, and the Cholesky factor of the covariance matrix."""
        head, control = split(arguments)
        mean, covariance = _approximate(xp, name, "latent", head, control)
        return mean, xp.cholesky(covariance)

    variadic_function(name, _call(name, Tuple((VECTOR, MATRIX)), data_only=True))(solve)


def _general(arguments: Any) -> object:
    """A likelihood with its arguments, the size of the blocks, a covariance with its arguments, the controls."""
    return arguments[:5], arguments[5] if len(arguments) > 5 else None


def _of_family(family: str) -> object:
    count = len(_ARGUMENTS[family])

    def split(arguments: Any) -> tuple[tuple[Any, ...], Any | None]:
        likelihood, rest = (LIKELIHOODS[family], arguments[:count]), arguments[count:]
        return (*likelihood, *rest[:3]), rest[3] if len(rest) > 3 else None

    return split


for _tol in ("", "_tol"):
    _marginal(f"laplace_marginal{_tol}", _general)
    _draw(f"laplace_latent{_tol}_rng", _general)
    _solve(f"laplace_latent_solve{_tol}", _general)
    for _family in LIKELIHOODS:
        _marginal(f"laplace_marginal{_tol}_{_family}_lpmf", _of_family(_family), _family)
        _draw(f"laplace_latent{_tol}_{_family}_rng", _of_family(_family), _family)


@stan_function(
    "tuple(vector, real, int, int, int, int) generate_laplace_options(int theta_size)", sizes=("theta_size",)
)
def generate_laplace_options(xp: Namespace, theta_size: Array) -> Any:
    return xp.zeros((int(theta_size),)), TOLERANCE, MOST_STEPS, SOLVER, LINE_SEARCH, FALL_THROUGH


@stan_function(
    "tuple(vector, real, int, int, int, int) generate_laplace_options(vector theta_init)",
    symbol="laplace_options_from",
)
def laplace_options_from(xp: Namespace, theta_init: Array) -> Any:
    return theta_init, TOLERANCE, MOST_STEPS, SOLVER, LINE_SEARCH, FALL_THROUGH
