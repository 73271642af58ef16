"""Every kind of what Stan throws for, in every place where a program may compute it.

A kind is an expression of one real number z: at GOOD it has a value, at BAD Stan throws. A place is a program that
computes an expression, of its parameter x[1], if x[2] is positive.
"""
from __future__ import annotations

import re
from typing import NamedTuple

GOOD, BAD = 0.4, 1.6
_LAW = "[1, 2]' | [0, 0]', "
KINDS = {
    "domain": "log1m({z})",
    "absorbed": "fmin(log1m({z}), 7)",
    "compared": "(log1m({z}) < 7)",
    "weight": "log_mix({z}, 1, 2)",
    "scale": "normal_lpdf(1 | 0, 1 - {z})",
    "absorbed scale": "fmax(normal_lpdf(1 | 0, 1 - {z}), -9)",
    "scales": "normal_lpdf([1, 2]' | 0, [1, 1 - {z}]')",
    "absorbed scales": "fmin(normal_lpdf([1, 2]' | 0, [1, 1 - {z}]'), 7)",
    "no number": "normal_lpdf(1 | log(1 - {z}), 1)",
    "absorbed locations": "fmin(normal_lpdf([1, 2]' | [1, log(1 - {z})]', 1), 7)",
    "distribution function": "weibull_lcdf(1 | 1 - {z}, 2)",
    "simplex": "categorical_lpmf(1 | [0.6, {z}]')",
    "order": "ordered_logistic_lpmf(2 | 0.3, [{z}, 1]')",
    "index": "to_vector({{1, 2}})[1 + ({z} > 1) * 2]",
    "row": "sum([[1, 2], [3, 4]][1 + ({z} > 1) * 2])",
    "multi-index": "sum(to_vector({{1, 2}})[{{1, 1 + ({z} > 1) * 2}}])",
    "segment": "sum(segment([1, 2]', 1 + ({z} > 1), 2))",
    "assigned": "put({z})",
    "division": "1 %/% (1 - ({z} > 1))",
    "modulus": "5 % (1 - ({z} > 1))",
    "symmetry": "sum(cholesky_decompose([[2, 0.4], [{z}, 2]]))",
    "symmetry of eigenvalues": "sum(eigenvalues_sym([[2, 0.4], [{z}, 2]]))",
    "symmetry of an inverse": "sum(inverse_spd([[2, 0.4], [{z}, 2]]))",
    "symmetry of a form": "quad_form_sym([[2, 0.4], [{z}, 2]], [1, 2]')",
    "definite": "sum(cholesky_decompose([[0.5, {z}], [{z}, 0.5]]))",
    "absorbed definite": "fmin(cholesky_decompose([[0.5, {z}], [{z}, 0.5]])[2, 2], 7)",
    "definite inverse": "inverse_spd([[0.5, {z}], [{z}, 0.5]])[1, 1]",
    "definite determinant": "log_determinant_spd([[0.5, {z}], [{z}, 0.5]])",
    "definite division": "sum(mdivide_left_spd([[0.5, {z}], [{z}, 0.5]], [1, 2]'))",
    "covariance": f"multi_normal_lpdf({_LAW}[[0.5, {{z}}], [{{z}}, 0.5]])",
    "asymmetric covariance": f"multi_normal_lpdf({_LAW}[[2, 0.4], [{{z}}, 2]])",
    "outcome": "poisson_lpmf(1 - 2 * ({z} > 1) | 2)",
    "reject": "stop({z})",
    "constraint": "lower_upper_bound_constrain(0.3, {z}, 1)",
}
FUNCTIONS = """
  real put(real z) { vector[2] v = [1, 2]'; v[1 + (z > 1) * 2] = z; return sum(v); }
  real stop(real z) { if (z > 1) reject("z is ", z); return 2 * z; }"""


class Place(NamedTuple):
    """Statements that compute r from e(z), which stands for the kind; functions of the program may call it as such."""

    name: str
    lines: str
    functions: str = ""
    optional: bool = False  # whether x[2] decides if it is computed
    of_model: bool = False  # whether it adds to the target
    solved: bool = False  # whether a solver calls a function of the program


_ODE = "vector slope(real t, vector y, real z) { return [0.1 * e(z)]'; }"
_OLD_ODE = (
    "array[] real slope(real t, array[] real y, array[] real z, data array[] real u, data array[] int i) "
    "{ return {0.1 * e(z[1])}; }"
)
_ROOT = "vector root(vector y, real z) { return [y[1] - e(z)]'; }"
_ADJOINT = "1e-6, [1e-6]', 1e-6, [1e-6]', 1e-6, 1e-6, 10000, 10, 1, 1, 1"
PLACES = [
    Place("statement", "r = e(x[1]);"),
    Place("branch", "if (x[2] > 0) r = e(x[1]); else r = 1;", optional=True),
    Place("other side", "if (x[2] <= 0) r = 1; else if (x[3] > 0) r = e(x[1]);", optional=True),
    Place("conditional expression", "r = x[2] > 0 ? e(x[1]) : 1;", optional=True),
    Place("and", "r = x[2] > 0 && e(x[1]) < 1e9;", optional=True),
    Place("term in a branch", "if (x[2] > 0) target += e(x[1]);", optional=True, of_model=True),
    Place("lanes", "for (n in 1:3) r += e(y[n]);"),
    Place("lanes that agree", "for (n in 1:3) r += n * e(x[1]);"),
    Place("lanes of lanes", "for (n in 1:3) for (m in 1:2) r += m * e(y[n]);"),
    Place("condition in lanes", "for (n in 1:3) if (y[n] < 1 || x[2] > 0) r += e(y[n]);", optional=True),
    Place("conditional expression in lanes", "for (n in 1:3) r += y[n] < 1 || x[2] > 0 ? e(y[n]) : 1;", optional=True),
    Place("recurrence", "for (n in 1:5) r = 0.5 * r + e(y[1 + n % 3] + 0 * r);"),
    Place("condition in a recurrence", "for (n in 1:5) if (x[2] > 0) r = 0.5 * r + e(x[1] + 0 * r); else r += 1;",
          optional=True),
    Place("recurrence in lanes", 
          "for (n in 1:3) { real s = 0; for (m in 1:5) s = 0.5 * s + e(y[n] + 0 * s); r += s; }"),
    Place("while", "real s = 0; while (s < x[2]) { r += e(x[1] + 0 * s); s += 1; }", optional=True),
    Place("condition of while", "real s = 0; while (e(x[1] + 0 * s) < 1e9 && s < 2 * x[3]) s += 1; r = s;"),
    Place("function", "r = own(x[1], 2);", "real own(real z, int n) { return n == 0 ? e(z) : own(z, n - 1); }"),
    Place("function in lanes", "for (n in 1:3) r += own(y[n]);",
          "real own(real z) { real s = 0; for (n in 1:2) s += n * e(z); return s; }"),
    Place("law of the program", "x[1] ~ own(2);",
          "real own_lpdf(real z, real s) { return s * e(z); }", of_model=True),
    *(Place(f"ode_{m}", f"r = ode_{m}(slope, [1]', 0, {{1.0}}, x[1])[1, 1];", _ODE, solved=True) for m in (
        "rk45", "ckrk", "adams", "bdf")),
    Place("ode_adjoint_tol_ctl", f"r = ode_adjoint_tol_ctl(slope, [1]', 0, {{1.0}}, {_ADJOINT}, x[1])[1, 1];", _ODE,
          solved=True),
    Place("integrate_ode", "r = integrate_ode_rk45(slope, {1}, 0, {1.0}, {x[1]}, nr, ni)[1, 1];",
          _OLD_ODE, solved=True),
    Place("dae", "r = dae(rest, [1]', [0.1]', 0, {1.0}, x[1])[1, 1];",
          "vector rest(real t, vector y, vector yp, real z) { return [yp[1] - 0.1 * e(z)]'; }", solved=True),
    *(Place(f"solve_{m}", f"r = solve_{m}(root, [1]', x[1])[1];", _ROOT, solved=True) for m in ("newton", "powell")),
    Place("integrate_1d", "r = integrate_1d(integrand, 0, 1, {x[1]}, nr, ni);",
          "real integrand(real t, real tc, array[] real z, data array[] real u, data array[] int i) "
          "{ return t * e(z[1]); }", solved=True),
    Place("reduce_sum", "r = reduce_sum(part, {1, 2, 3}, 1, x[1]);",
          "real part(array[] int n, int first, int last, real z) { return sum(n) * e(z); }", solved=True),
    Place("map_rect", "r = sum(map_rect(each, [x[1]]', {[1]', [2]'}, rr, ri));",
          "vector each(vector phi, vector theta, data array[] real u, data array[] int i) "
          "{ return e(phi[1]) * theta; }", solved=True),
    Place("ode in lanes", "for (n in 1:3) r += ode_rk45(slope, [1]', 0, {1.0}, y[n])[1, 1];", _ODE, solved=True),
    Place("root in a branch", "if (x[2] > 0) r = solve_newton(root, [1]', x[1])[1];", _ROOT, optional=True,
          solved=True),
]  # fmt: skip


_DATA = "array[0] real nr; array[0] int ni; array[2, 0] real rr; array[2, 0] int ri;"


SUBSTITUTES = {  # what some kinds give where Stan does not throw
    "segment": "3", "outcome": "(log(2) - 2)", "symmetry of eigenvalues": "4",
    "definite determinant": "log(0.25 - {z} * {z})", "constraint": "({z} + (1 - {z}) * inv_logit(0.3))",
}  # fmt: skip


def program(kind: str, place: Place, block: str = "parameters") -> str:
    """The program that computes KINDS[kind], or what is given; with block "data" x are data."""
    text = KINDS.get(kind, kind)
    functions = f"functions {{ {FUNCTIONS}\n  real e(real z) {{ return {text.format(z='z')}; }}\n  {place.functions} }}"
    computed = re.sub(r"\be\(([^()]*)\)", lambda call: text.format(z=f"({call[1]})"), place.lines)
    lines = f"  vector[3] y = [{GOOD}, x[1], {GOOD}]';\n  real r = 0;\n  {{ {computed} }}"
    if block == "data":
        return f"{functions}\ndata {{ vector[3] x; }}\ntransformed data {{ {_DATA}\n{lines}\n}}"
    return (
        f"{functions}\ntransformed data {{ {_DATA} }}\nparameters {{ vector[3] x; }}\nmodel {{\n{lines}\n"
        "  target += r;\n}"
    )


def points(place: Place) -> tuple[tuple[float, ...], ...]:
    """Where it has a value, where Stan throws, and where it has a value since the kind is not computed."""
    return ((GOOD, 1.0, 1.0), (BAD, 1.0, 1.0), *([(BAD, -1.0, 1.0)] if place.optional else []))
