"""The registry as a whole: what loading it loads, and that its records say what they must."""
import subprocess
import sys

import pytest
import stanc_signatures

from stanlib import registry, signatures

LIBRARIES = ("numpy", "scipy", "jax", "torch")


def test_loading_the_registry_loads_no_array_library():
    program = f"""
import sys
from stanlib import registry, constraints
registry.load(), constraints.load()
for name in ("normal_lpdf", "skew_normal_cdf", "wiener_lpdf", "add", "simplex_jacobian"):
    assert registry.exact(name), name
print(*(m for m in {LIBRARIES} if m in sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize("name", ["tuple(real, real) f(real x)", "array[,] int f(vectors y | real x)"])
def test_the_name_in_a_signature_is_found_without_parsing(name):
    assert signatures.name_in(name) == signatures.parse(name).name == "f"
    names = {f.name: signatures.name_in(f.texts[0]) for f in registry.SYMBOLS.values() if f.texts}
    assert all(name == found for name, found in names.items())


# Functions of stanc's list that have no record; they are refused when a program is translated.
NOT_YET: set[str] = set()
STANC = stanc_signatures.read()


def overloads(name):
    return [str(o) for f, o in registry.candidates(name) if not f.removed]


def test_the_names_are_stancs():
    """Ours beside those are removed from Stan, or take functions with any further arguments and have no fixed list."""
    registry.load()
    ours = {f.name: f for f in registry.SYMBOLS.values() if f.is_named}
    assert set(STANC) - set(ours) <= NOT_YET
    extra = {n: f for n, f in ours.items() if n not in STANC}
    assert {n for n, f in extra.items() if not f.removed and f.texts} == set()


@pytest.mark.parametrize("letter", sorted({n[0] for n in STANC}))
def test_the_overloads_are_stancs(letter):
    names = [n for n in STANC if n[0] == letter and registry.is_known(n) and registry.candidates(n)]
    assert {n: stanc_signatures.entry(overloads(n)) for n in names} == {n: STANC[n] for n in names}


def test_no_overload_stands_for_two_records():
    for name in registry.names():
        types = [o.types for _, o in registry.candidates(name)]
        assert len(set(types)) == len(types), name
