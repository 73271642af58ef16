"""What records say of library functions, against the functions themselves."""
from __future__ import annotations

import numpy as np
import pytest

from stanlib import registry
from stanlib.variadic import Variadic

registry.load()
LINEAR = sorted((f.symbol, group) for f in registry.SYMBOLS.values() for group in f.linear)
INVERSES = sorted(f.symbol for f in registry.SYMBOLS.values() if f.inverse)
NEUTRAL = sorted(f.symbol for f in registry.SYMBOLS.values() if f.neutral is not None)


@pytest.mark.parametrize("symbol, group", LINEAR)
def test_a_function_is_linear_in_the_arguments_that_its_record_names(symbol: str, group: str) -> None:
    f = registry.SYMBOLS[symbol]
    names, given = f.signatures[0].argument_names, f.examples[0]
    group_names = group.split()
    assert set(group_names) <= set(names)

    def at(scale: float, shift: float) -> np.ndarray:
        moved = [scale * np.asarray(a, float) + shift if n in group_names else a for n, a in zip(names, given)]
        return np.asarray(f(*(np.asarray(a) if isinstance(a, list) else a for a in moved)), float)

    # f(3 x + 2) - f(3 x) is f(2), f(3 x) is 3 f(x): no constant, nothing of second order
    zero = at(0.0, 0.0)
    np.testing.assert_allclose(zero, 0.0)
    np.testing.assert_allclose(at(3.0, 0.0), 3.0 * at(1.0, 0.0))
    np.testing.assert_allclose(at(3.0, 2.0), 3.0 * at(1.0, 0.0) + at(0.0, 2.0))


@pytest.mark.parametrize("symbol", INVERSES)
def test_an_inverse_undoes_the_function(symbol: str) -> None:
    f = registry.SYMBOLS[symbol]
    inverse = registry.SYMBOLS[f.inverse]
    for x in (0.3, 1.0, 2.5):
        assert inverse(f(x)) == pytest.approx(x, rel=1e-14)


@pytest.mark.parametrize("symbol", NEUTRAL)
def test_a_neutral_component_changes_nothing(symbol: str) -> None:
    f = registry.SYMBOLS[symbol]
    x = np.array([0.5, -1.5, 2.0])
    assert f(np.append(x, f.neutral)) == f(x)


def test_functions_that_select_or_repeat() -> None:
    x = np.arange(1.0, 13.0)
    for f in registry.SYMBOLS.values():
        if f.selects:
            m = f.signatures[0].argument_names[0] == "m"
            part = np.asarray(f(x.reshape(3, 4) if m else x, *f.examples[0][1:]))
            assert set(part.ravel()) < set(x), f.symbol
        if f.repeats:
            assert list(np.asarray(f(*f.examples[0]))) == [f.examples[0][0]] * f.examples[0][1], f.symbol


def test_a_function_that_passes_arguments_on_says_how_its_calls_are_checked() -> None:
    """Stan's own list of functions without signatures, from its reference's chapter on higher-order functions."""
    names = {f"ode_{m}{t}" for m in ("rk45", "ckrk", "adams", "bdf") for t in ("", "_tol")}
    names |= {"ode_adjoint_tol_ctl", "dae", "dae_tol", "reduce_sum", "reduce_sum_static"}
    names |= {f"solve_{m}{t}" for m in ("newton", "powell") for t in ("", "_tol")}
    names |= {f"integrate_1d_{m}{t}" for m in ("gauss_kronrod", "double_exponential") for t in ("", "_tol")}
    found = {n for n in registry.names() if isinstance(registry.variadic(n), Variadic)}
    assert {n for n in found if not n.startswith("laplace_")} == names
    assert {n for n in registry.names() if n.startswith("laplace_")} == found - names
    assert all(registry.SYMBOLS[n].first_order for n in found)


def test_a_function_by_component_is_itself_applied_to_the_components() -> None:
    found = [f for f in registry.SYMBOLS.values() if f.by_component]
    assert {f.name for f in found} >= {"add", "subtract", "elt_multiply", "elt_divide"}
    for f in found:
        numbers = next(g for g, o in registry.candidates(f.name) if all(str(t) == "real" for t in o.types))
        a, b = map(np.asarray, f.examples[0])
        assert list(f(a, b)) == [numbers(float(x), float(y)) for x, y in zip(a, b)]
