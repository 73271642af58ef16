"""How equations treat the rows of arrays.

A rule looks at one equation and at the axes on which its inputs have rows, and tells how to compute some rows of what
it makes from the same rows of those. There is none for what needs all rows at once.
"""
from __future__ import annotations

from collections.abc import Collection, Sequence

from ..steps import Input, Step
from .alone import (
    along,
    broadcast,
    elementwise,
    linear_algebra,
    reshape,
    squeeze,
    stack,
    transpose,
    triangular,
    unstack,
)
from .equations import Equation, Rule
from .indices import gather, scatter
from .places import concatenate, pad, slice_, split
from .sums import product, reduction, running, scan


def step_of(equation: Equation, inputs: Sequence[Input], lengths: Collection[int]) -> Step | None:
    """How an equation treats rows, of which there are as many as one of `lengths`; None for one that needs all."""
    rule = _RULES.get(equation.primitive.name)
    return rule(equation, inputs, lengths) if rule is not None else None


_ELEMENTWISE = """
    add add_any sub mul div rem pow max min neg sign floor ceil round is_finite exp exp2 log log1p expm1 tanh sin
    cos tan asin acos atan sinh cosh asinh acosh atanh atan2 logistic sqrt rsqrt cbrt square integer_pow lgamma
    digamma polygamma igamma igammac igamma_grad_a random_gamma_grad erf erfc erf_inv bessel_i0e bessel_i1e
    regularized_incomplete_beta zeta abs not and or xor eq ne lt gt le ge nextafter select_n clamp
    convert_element_type stop_gradient copy copy_p real imag complex conj population_count clz shift_left
    shift_right_logical shift_right_arithmetic reduce_precision
"""
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), elementwise), "broadcast_in_dim": broadcast, "reshape": reshape,
    "squeeze": squeeze, "transpose": transpose, "rev": along("dimensions"), "sort": along("dimension"),
    "cumsum": running, **{n: along("axis") for n in ("cumprod", "cummax", "cummin", "cumlogsumexp")},
    "stack": stack, "unstack": unstack, "cholesky": linear_algebra, "triangular_solve": triangular,
    "concatenate": concatenate, "split": split, "slice": slice_, "pad": pad, "dot_general": product,
    "reduce_sum": reduction("add"), "reduce_prod": reduction("mul"), "reduce_max": reduction("max"),
    "reduce_min": reduction("min"), "reduce_and": reduction("and"), "reduce_or": reduction("or"),
    "gather": gather, "scatter-add": scatter, "scatter": scatter, "scan": scan,
}  # fmt: skip
