"""What records say of library functions, against the functions themselves."""
from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from stanlib import registry
from stanlib.arrays import namespace
from stanlib.domains import PROBABILITY
from stanlib.variadic import Variadic

registry.load()
LINEAR = sorted((f.symbol, group) for f in registry.SYMBOLS.values() for group in f.linear)
INVERSES = sorted(f.symbol for f in registry.SYMBOLS.values() if f.inverse)
KEEPING = sorted(f.symbol for f in registry.SYMBOLS.values() if f.keeps_nan)
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


@pytest.mark.sampled(8)
@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("symbol", KEEPING)
def test_nan_in_an_argument_gives_nan(symbol: str, library: str, x64: None, torch_double: None) -> None:
    """Beside numbers of any size, infinite ones among them; probabilities are no log densities, and are checked."""
    f = registry.SYMBOLS[symbol]
    made = {"numpy": np.asarray, "jax": jnp.asarray, "torch": lambda x: torch.tensor(x, dtype=torch.float64)}[library]
    shapes = [np.shape(a) for a in f.examples[0]]
    for i, name in enumerate(f.signatures[0].argument_names):
        for other, weight in itertools.product([0.0, -2.5, 1e300, np.inf, -np.inf], [0.0, 0.5, 1.0]):
            given = [np.full(s, weight if n in f.domains and f.domains[n] is PROBABILITY else other)
                     for n, s in zip(f.signatures[0].argument_names, shapes)]  # fmt: skip
            for place in np.ndindex(shapes[i]) if f.domains.get(name) is not PROBABILITY else ():
                given[i][place] = np.nan
                assert np.isnan(np.asarray(_computed(f, library, list(map(made, given))))), (name, other, weight)
                given[i][place] = other


def _computed(f: registry.Function, library: str, given: list[Any]) -> Any:
    """By the body alone: what is outside of a domain is no error there, as where parameters are traced."""
    body = f.overrides.get(library, f.body)
    return (jax.jit if library == "jax" else lambda g: g)(lambda x: body(namespace(x), *x))(given)


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
