"""The higher-order functions that pass further arguments on to the function they are given.

Source: Stan Functions Reference, "Higher-Order Functions". Each is called as `name(f, control..., further...)`, and
calls `f(required..., further...)`.
"""
from __future__ import annotations

from dataclasses import dataclass

from .types import INT, MATRIX, REAL, ROW_VECTOR, VECTOR, Parameter, Type, array

_REALS = array(REAL, 1)


@dataclass(frozen=True)
class Variadic:
    """What a variadic function takes behind the function, what it calls it with, and both results."""

    result: Type
    control: tuple[Parameter, ...]
    required: tuple[Parameter, ...]
    function_result: Type


def _data(*types: Type) -> tuple[Parameter, ...]:
    return tuple(Parameter(t, True) for t in types)


def _any(*types: Type) -> tuple[Parameter, ...]:
    return tuple(Parameter(t) for t in types)


_ODE = Variadic(array(VECTOR, 1), _any(VECTOR, REAL, _REALS), _any(REAL, VECTOR), VECTOR)
_ODE_TOL = Variadic(_ODE.result, (*_ODE.control, *_data(REAL, REAL, INT)), _ODE.required, VECTOR)
_ADJOINT = (*_ODE.control, *_data(REAL, VECTOR, REAL, VECTOR, REAL, REAL, INT, INT, INT, INT, INT))
_DAE = Variadic(
    array(VECTOR, 1), (*_any(VECTOR, VECTOR), *_data(REAL, _REALS)), _any(REAL, VECTOR, VECTOR), VECTOR
)
_DAE_TOL = Variadic(_DAE.result, (*_DAE.control, *_data(REAL, REAL, INT)), _DAE.required, VECTOR)
_SOLVE = Variadic(VECTOR, _any(VECTOR), _any(VECTOR), VECTOR)
_SOLVE_TOL = Variadic(VECTOR, (*_any(VECTOR), *_data(REAL, REAL, INT)), _any(VECTOR), VECTOR)
_INTEGRATE = Variadic(REAL, _any(REAL, REAL), _any(REAL, REAL), REAL)
_INTEGRATE_TOL = Variadic(REAL, (*_any(REAL, REAL), *_data(REAL, REAL, INT)), _any(REAL, REAL), REAL)

VARIADIC: dict[str, Variadic] = {
    **{f"ode_{m}": _ODE for m in ("rk45", "ckrk", "adams", "bdf")},
    **{f"ode_{m}_tol": _ODE_TOL for m in ("rk45", "ckrk", "adams", "bdf")},
    "ode_adjoint_tol_ctl": Variadic(_ODE.result, _ADJOINT, _ODE.required, VECTOR),
    "dae": _DAE,
    "dae_tol": _DAE_TOL,
    **{f"solve_{m}": _SOLVE for m in ("newton", "powell")},
    **{f"solve_{m}_tol": _SOLVE_TOL for m in ("newton", "powell")},
    **{f"integrate_1d_{m}": _INTEGRATE for m in ("gauss_kronrod", "double_exponential")},
    **{f"integrate_1d_{m}_tol": _INTEGRATE_TOL for m in ("gauss_kronrod", "double_exponential")},
}

REDUCE_SUM = ("reduce_sum", "reduce_sum_static")
REDUCE_SUM_ELEMENTS = (REAL, INT, MATRIX, VECTOR, ROW_VECTOR)

_INTS = array(INT, 1)
# What the built-in likelihoods of the embedded Laplace approximation take in place of a function and its arguments.
LAPLACE_LIKELIHOODS: dict[str, tuple[Parameter, ...]] = {
    "bernoulli_logit": _any(_INTS, _INTS, VECTOR),
    "neg_binomial_2_log": _any(_INTS, _INTS, VECTOR, VECTOR),
    "poisson_log": _any(_INTS, _INTS, VECTOR),
}
LAPLACE_TOLERANCES = (Parameter(VECTOR), *_data(REAL, INT, INT, INT, INT))
LAPLACE = (
    "laplace_marginal", "laplace_marginal_tol", "laplace_latent_rng", "laplace_latent_tol_rng",
    "laplace_latent_solve", "laplace_latent_solve_tol",
    *(f"laplace_marginal{t}_{f}_lpmf" for t in ("", "_tol") for f in LAPLACE_LIKELIHOODS),
    *(f"laplace_latent{t}_{f}_rng" for t in ("", "_tol") for f in LAPLACE_LIKELIHOODS),
)  # fmt: skip

# Functions without second derivatives in Stan, which a likelihood of the Laplace approximation can't call.
FIRST_ORDER_ONLY = {
    "algebra_solver", "algebra_solver_newton", "integrate_1d", "integrate_ode", "integrate_ode_adams",
    "integrate_ode_bdf", "integrate_ode_rk45", "map_rect", "hmm_marginal", "hmm_hidden_state_prob",
    *VARIADIC, *REDUCE_SUM, *LAPLACE,
}  # fmt: skip


def is_special(name: str) -> bool:
    """Whether a function (by its normalised name) is checked by rules of its own, and can't be overloaded."""
    return name in VARIADIC or name in REDUCE_SUM or name in LAPLACE


def laplace_likelihood(name: str) -> tuple[Parameter, ...] | None:
    """The arguments of the built-in likelihood in the name of a Laplace function, None for the general ones."""
    core = name.removeprefix("laplace_")
    for part in ("marginal_", "latent_", "tol_"):
        core = core.removeprefix(part)
    return LAPLACE_LIKELIHOODS.get(core.rpartition("_")[0])


# The arguments behind the function that functions of before 2.24 pass on to it.
_FORWARDED_OF_OLD = {
    "algebra_solver": slice(2, 5), "algebra_solver_newton": slice(2, 5), "integrate_1d": slice(3, 6),
    **{f"integrate_ode{m}": slice(4, 7) for m in ("", "_rk45", "_bdf", "_adams")},
}  # fmt: skip


def forwarded(name: str) -> slice:
    """Which arguments of a call are passed on to the function that is its first argument, as that one's last."""
    if name in VARIADIC:
        return slice(1 + len(VARIADIC[name].control), None)
    return _FORWARDED_OF_OLD.get(name, slice(1, None))
