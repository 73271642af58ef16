"""What records say of laws and constraints beside their functions, against the laws and constraints themselves."""
from __future__ import annotations

import ast
import pathlib

import numpy as np
import pytest
from libraries import double
from scipy import stats

from stanlib import constraints, distribution, registry, supports
from stanlib.arrays import numpy as xp
from stanlib.constraints import reasons
from stanlib.random.base import Random
from stanlib.random.jax import JaxRandom
from stanlib.random.numpy import NumpyRandom

registry.load()
TYPES = constraints.types()
INSIDE = {
    "simplex": [0.2, 0.5, 0.3], "ordered": [-1.0, 0.5, 2.0], "positive_ordered": [0.1, 0.5, 2.0],
    "unit_vector": [0.6, 0.0, -0.8], "sum_to_zero_vector": [1.0, -3.0, 2.0],
    "sum_to_zero_matrix": [[1.0, -1.0], [-1.0, 1.0]], "row_stochastic_matrix": [[0.2, 0.8], [0.5, 0.5]],
    "column_stochastic_matrix": [[0.2, 0.5], [0.8, 0.5]], "cov_matrix": [[2.0, 0.5], [0.5, 1.0]],
    "corr_matrix": [[1.0, 0.5], [0.5, 1.0]], "cholesky_factor_cov": [[2.0, 0.0], [0.5, 1.0]],
    "cholesky_factor_corr": [[1.0, 0.0], [0.6, 0.8]],
}  # fmt: skip


def _holds(name: str, value: object) -> bool:
    record = constraints.get(name)
    y = np.asarray(value, float)
    return y.ndim == record.event_dims and bool(record.check(xp, y, *record.sizes_of(y.shape)))


def test_every_constrained_type_has_an_example_here() -> None:
    assert {c.name for c in TYPES} == set(INSIDE)


@pytest.mark.parametrize("name", INSIDE)
def test_a_type_within_another_has_none_but_its_values(name: str) -> None:
    assert _holds(name, INSIDE[name])
    for other in INSIDE:
        if constraints.get(other).has_all_of(name):
            assert _holds(other, INSIDE[name])
    for other, inside in INSIDE.items():
        if other != name and constraints.get(name).within == other:
            assert not _holds(name, inside)


@pytest.mark.parametrize("name", INSIDE)
def test_every_type_says_what_is_wrong_with_a_value(name: str) -> None:
    record = constraints.get(name)
    wrong = 1 - 3 * np.asarray(INSIDE[name])
    assert not _holds(name, wrong)
    assert reasons.of_kind(record, wrong)
    assert reasons.of_kind(record, np.full(wrong.shape, np.nan)).endswith("is nan")


UNIFORM = {  # the law of each component of a uniform value of size 4, by its components' distribution function
    "simplex": stats.beta(1, 3), "unit_vector": stats.beta(1.5, 1.5, -1, 2), "corr_matrix": stats.beta(2, 2, -1, 2),
}  # fmt: skip


def source(library: str) -> Random:
    if library == "jax":
        import jax

        return JaxRandom(jax.random.PRNGKey(3))
    if library == "torch":
        torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
        from stanlib.random.torch import TorchRandom

        return TorchRandom(torch.Generator().manual_seed(3), dtype=torch.float64)
    return NumpyRandom(np.random.default_rng(3))


def test_uniform_laws_of_types_are_those_that_records_have() -> None:
    assert {c.name for c in TYPES if c.uniform is not None} == set(UNIFORM)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", UNIFORM)
@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_a_uniform_value_is_one_of_the_type_with_the_components_of_that_law(name: str, library: str) -> None:
    record, random = constraints.get(name), source(library)
    assert record.uniform is not None
    with double(library):
        y = np.asarray(record.uniform(random.xp, random, (4000, *[4] * record.event_dims)), float)
    assert all(record.check(xp, v, *record.sizes_of(v.shape)) for v in y[:50].round(12))
    free = y[:, 3, 1] if record.event_dims == 2 else y[:, 3]
    assert stats.kstest(free, UNIFORM[name].cdf).pvalue > 1e-4
    other = y[:, 1, 0] if record.event_dims == 2 else y[:, 0]
    assert stats.kstest(other, UNIFORM[name].cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", INSIDE)
def test_free_components_have_a_start(name: str) -> None:
    record = constraints.get(name)
    shape = np.shape(INSIDE[name])
    free = np.full(record.free_shape(shape, *record.sizes_of(shape)), record.start)
    assert record.check(xp, record.constrained(xp, free, *record.sizes_of(shape)), *record.sizes_of(shape))


def test_regions_are_of_types_that_there_are() -> None:
    found = [r for d in distribution.DISTRIBUTIONS.values() for r in d.declared_regions if r is not None]
    kinds = {r.name for r in found if isinstance(r, supports.Kind)}
    assert {"simplex", "cov_matrix", "cholesky_factor_cov"} <= kinds <= {c.name for c in TYPES}


def test_laws_with_hard_bounds_are_nothing_outside_of_them() -> None:
    found = [d for d in distribution.DISTRIBUTIONS.values() if d.hard_bounds]
    assert [d.name for d in found] == ["uniform"]
    for d in found:
        y, *arguments = d.examples[0]
        low, high = (arguments[d.argument_names.index(n)] for n in d.hard_bounds)
        assert d.log_prob(low - 0.1, *arguments) == d.log_prob(high + 0.1, *arguments) == -np.inf
        assert d.log_prob(y, *arguments) > -np.inf


def test_a_law_by_its_matrix_is_that_by_the_factor() -> None:
    found = [d for d in distribution.DISTRIBUTIONS.values() if d.by_matrix]
    assert found
    for d in found:
        *others, factor = map(np.asarray, d.examples[0])
        other = distribution.get(d.by_matrix)
        np.testing.assert_allclose(other.log_prob(*others, factor @ factor.T), d.log_prob(*others, factor), rtol=1e-12)


def test_names_of_laws_and_constraints_stand_in_their_records_alone() -> None:
    """No set, list, tuple or table of the compiler's or of a backend's holds two of them, but for those named here."""
    allowed = {
        "stanimport/frontend/checker/basics.py",  # what other languages call them
    }
    records = ("stanlib/distributions/", "stanlib/constraints/", "stanlib/functions/", "stanimport/frontend/parsetab")
    names = set(distribution.DISTRIBUTIONS) | {c.name for c in TYPES}
    root = pathlib.Path(distribution.__file__).parents[1]
    found = []
    for path in sorted(p for top in ("stanimport", "stanlib") for p in (root / top).rglob("*.py")):
        place = str(path.relative_to(root))
        if place in allowed or place.startswith(records):
            continue
        text = path.read_text()
        if sum(f'"{n}"' in text or f"'{n}'" in text for n in names) < 2:  # most files, which need not be parsed
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Dict):
                items = [*node.keys, *node.values]
            elif isinstance(node, (ast.Set, ast.List, ast.Tuple)):
                items = node.elts
            else:
                continue
            held = {i.value for i in items if isinstance(i, ast.Constant)} & names
            if len(held) > 1:
                found.append(f"{place}:{node.lineno}: {sorted(held)}")
    assert found == []
