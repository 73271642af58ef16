"""Functions of functions, of the program: equations, integrals, differential equations, sums in parts."""

from __future__ import annotations

from collections.abc import Callable

from .containers import expression, vector_of
from .integers import integer
from .kinds import REAL, Kind, array, vector
from .reals import real
from .scope import Place, Variable
from .statements import indented, statements

Lines = list[str]
TIGHT = "1e-10, 1e-10, 100000"
ADJOINT = "1e-11, rep_vector(1e-11, 2), 1e-11, rep_vector(1e-11, 2), 1e-11, 1e-11, 100000, 100, 1, 1, 1"


def solver(place: Place) -> Lines:
    """A function to be handed over, and in the place how it is called."""
    makers = [root, integral, trajectory, parts, mapped, constrained_trajectory, marginal, density_in_parts]
    return place.choices.pick(makers)(place)


def _inside(place: Place, *arguments: tuple[str, Kind, bool]) -> Place:
    inside = Place(place.choices, place.names, place.features - {"ragged", "target"}, "function",
                   functions=[f for f in place.functions if not f.suffix], budget=4)  # fmt: skip
    for name, kind, data in arguments:
        inside.add(Variable(name, kind, 1, 3, data, data))
    return inside


def _names(place: Place, count: int) -> list[str]:
    return [place.names.fresh() for _ in range(count)]


def root(place: Place) -> Lines:
    """An equation of two unknowns."""
    f, z, a, b = _names(place, 4)
    inside = _inside(place, (a, REAL, False), (b, vector(2), False))
    one, other = real(inside, 1), real(inside, 1)
    name = place.choices.pick(["solve_newton_tol({f}, [0.1, 0.2]', 1e-11, 1e-11, 500, {x}, {v})[{i}]",
                               "solve_powell_tol({f}, [0.1, 0.2]', 1e-12, 1e-12, 500, {x}, {v})[{i}]"])  # fmt: skip
    place.solvers.append(_call(name, f))
    return [f"vector {f}(vector {z}, real {a}, vector {b}) {{",
            f"  return [{z}[1]^3 + 2 * {z}[1] - tanh({one}), {z}[2] + 0.3 * tanh({z}[1]) - sin({other})]';", "}"]


def integral(place: Place) -> Lines:
    f, x, xc, th, xr, xi = _names(place, 6)
    inside = _inside(place, (th, array(REAL, 2), False), (xr, array(REAL, 1), True))
    factor = real(inside, 1)
    ends = place.choices.pick(["0, exp(tanh({y}))", "-0.5, 1", "tanh({x}) - 2, 0.3", "0, 1 + {y} ^ 2"])
    place.solvers.append(_call(f"integrate_1d({{f}}, {ends}, {{{{{{x}}, {{y}}}}}}, {{{{0.3}}}}, {{{{1}}}}, 1e-9)", f))
    return [
        f"real {f}(real {x}, real {xc}, array[] real {th}, data array[] real {xr}, data array[] int {xi}) {{",
        f"  return exp(-square({th}[1]) * square({x})) * (1.5 + sin({factor})) + {xr}[{xi}[1]] * {x};", "}",
    ]


def trajectory(place: Place) -> Lines:
    """A linear system, by one of the integrators."""
    f, t, s, k, b = _names(place, 5)
    inside = _inside(place, (k, REAL, False), (b, vector(2), False))
    one = real(inside, 1)
    method = place.choices.pick(["rk45", "bdf", "ckrk", "adams", "adjoint"])
    name = f"ode_{method}_tol" + ("_ctl" if method == "adjoint" else "")
    control = ADJOINT if method == "adjoint" else TIGHT
    place.solvers.append(_call(f"{name}({{f}}, [1.0, 0.5 + tanh({{y}})]', 0, {{{{0.5, 1.0}}}}, {control}, "
                               "exp(tanh({x})), {v})[{i}, 2]", f))  # fmt: skip
    return [f"vector {f}(real {t}, vector {s}, real {k}, vector {b}) {{",
            f"  return [-{k} * {s}[1] + tanh({one}), {k} * {s}[1] - 0.5 * {s}[2] + 0.1 * {t}]';", "}"]


def parts(place: Place) -> Lines:
    """A sum in parts, with statements of its own."""
    f, own, start, end, a, b, out = _names(place, 7)
    inside = _inside(place, (a, REAL, False), (b, vector(2), False))
    inside.add(Variable(out, REAL, assignable=True))
    index = place.names.fresh()
    lines = statements(inside, 2)
    inside.add(Variable(index, REAL))  # an element of what is summed
    term = real(inside, 1)
    name = place.choices.pick(["reduce_sum", "reduce_sum_static"])
    place.solvers.append(_call(f"{name}({{f}}, {{w}}, 1, {{x}}, {{v}})", f))
    return [f"real {f}(array[] real {own}, int {start}, int {end}, real {a}, vector {b}) {{", f"  real {out} = 0;",
            f"  for ({index} in {own}) {{", *indented(indented(lines)), f"    {out} += tanh({term});", "  }",
            f"  return {out} + 0.1 * ({end} - {start} + 1);", "}"]  # fmt: skip


def density_in_parts(place: Place) -> Lines:
    """The log density of an array of vectors, in parts."""
    f, own, start, end, a, b = _names(place, 6)
    inside = _inside(place, (a, REAL, False), (b, vector(2), False))
    term = real(inside, 1)
    place.solvers.append(_call("reduce_sum({f}_lpdf, {{{v}, [{x}, {y}]', {v}}}, 2, {y}, {v})", f))
    return [f"real {f}_lpdf(array[] vector {own}, int {start}, int {end}, real {a}, vector {b}) {{",
            f"  return normal_lpdf({own}[1] | {b}, exp(tanh({a})))",
            f"    + normal_lpdf(to_array_1d({own}[{end} - {start} + 1]) | tanh({term}), 2);", "}"]  # fmt: skip


def constrained_trajectory(place: Place) -> Lines:
    """A differential equation of one state, with another that follows from it."""
    f, t, s, d, k, b = _names(place, 6)
    inside = _inside(place, (k, REAL, False), (b, vector(2), False))
    one = real(inside, 1)
    place.solvers.append(_call(f"dae_tol({{f}}, [1.0, 0.0]', [0.0, 0.0]', 0, {{{{0.5, 1.0}}}}, {TIGHT}, "
                               "exp(tanh({x})), {v})[{i}, 1]", f))  # fmt: skip
    return [f"vector {f}(real {t}, vector {s}, vector {d}, real {k}, vector {b}) {{",
            f"  return [{d}[1] + {k} * ({s}[1] - 1) + {t} * tanh({one}), {s}[1] + {s}[2] - 1]';", "}"]  # fmt: skip


def marginal(place: Place) -> Lines:
    """Counts of a latent Gaussian process, which Laplace's method integrates out."""
    f, theta, y, a, k, x, scale = _names(place, 7)
    likelihood = real(_inside(place, (a, REAL, False)), 1)
    width = real(_inside(place, (scale, REAL, False)), 1)
    place.solvers.append(_call(f"laplace_marginal({{f}}, ({{{{1, 0, 2}}}}, {{x}}), 1, {k}, "
                               "([0.1, 0.5, 1.2]', {y}))", f))  # fmt: skip
    return [f"real {f}(vector {theta}, array[] int {y}, real {a}) {{",
            f"  return poisson_log_lpmf({y} | {theta} + tanh({likelihood}));", "}",
            f"matrix {k}(vector {x}, real {scale}) {{",
            f"  return add_diag(gp_exp_quad_cov(to_array_1d({x}), exp(tanh({scale})), 1 + exp(tanh({width}))), 0.4);",
            "}"]  # fmt: skip


def mapped(place: Place) -> Lines:
    f, phi, th, xr, xi = _names(place, 5)
    inside = _inside(place, (phi, vector(2), False), (th, vector(1), False), (xr, array(REAL, 1), True))
    one = real(inside, 2)
    own, data = "{{[{x}]', [{y}]'}}", "{{{{0.3}}, {{-0.2}}}}, {{{{1}}, {{2}}}}"
    place.solvers.append(_call(f"sum(map_rect({{f}}, {{v}}, {own}, {data}))", f))
    return [f"vector {f}(vector {phi}, vector {th}, data array[] real {xr}, data array[] int {xi}) {{",
            f"  return [{one}, {xi}[1] * tanh({th}[1])]';", "}"]  # fmt: skip


def _call(text: str, f: str) -> Callable[[Place, int], str]:
    """How the call is written: with reals x and y, a vector v of two, an array w, an index i."""

    def written(place: Place, depth: int) -> str:
        x, y = real(place, depth), real(place, depth)
        return "tanh(" + text.format(
            f=f, x=f"tanh({x})", y=f"sin({y})", v=f"tanh({vector_of(place, 2, depth)})",
            w=expression(place, array(REAL, 3), depth), i=integer(place, 1, 2, 1),
        ) + ")"  # fmt: skip

    return written
