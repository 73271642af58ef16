"""Compiled programs without JAX: the same draws as with it, and JAX where something is not as it should be."""
import json
import os
import subprocess
import sys

import compilation
import jax
import numpy as np
import pytest

from stanimport.inference import executables, nested

# of several types, with a function of LAPACK's, with arrays that are empty, and with none at all but numbers
PROGRAMS = {
    "types": """
        data { int<lower=0> N; vector[N] y; }
        parameters { real mu; complex_vector[2] w; array[2] simplex[3] p; vector[0] none; }
        transformed parameters { tuple(real, vector[2]) t = (mu, [mu, 2 * mu]'); }
        model { mu ~ normal(0, 1); get_real(w) ~ normal(0, 1); get_imag(w) ~ normal(0, 2); y ~ normal(mu, 1); }
        generated quantities { array[2] int k = {poisson_rng(exp(mu)), mu > 0}; complex z = w[1]; vector[0] v; }
    """,
    "lapack": """
        data { int<lower=0> N; vector[N] y; }
        parameters { real<lower=0> s; matrix[20, 20] a; }
        transformed parameters { matrix[20, 20] L = cholesky_decompose(add_diag(tcrossprod(a), s)); }
        model { to_vector(a) ~ normal(0, 1); s ~ gamma(3, 3); y ~ normal(L[1, 1], log_determinant(L)); }
    """,
    "number": """
        data { int N; vector[N] y; }
        parameters { real<lower=0> s; }
        model { y ~ normal(0, s); s ~ gamma(2, 1); }
    """,
}
DATA = {"N": 3, "y": [0.5, 1.5, -1.0]}
OPTIONS = dict(seed=5, chains=2, iter_warmup=60, iter_sampling=20)

RUN = """
import json, sys
import stanimport
given = json.loads(sys.stdin.read())
for name, code in given["programs"].items():
    open(name + ".stan", "w").write(code)
def sampled():
    return {n: stanimport.sample(n + ".stan", given["data"], **given["options"]).draws().tolist()
            for n in given["programs"]}
out = [sampled(), "jax" in sys.modules]
if given["then"]:
    import jax
    out += [str(jax.numpy.ones(1).dtype), float(jax.numpy.linalg.cholesky(4.0 * jax.numpy.eye(3)).sum()), sampled()]
print(json.dumps(out))
"""
THREADS = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
import stanimport
given = json.loads(sys.stdin.read())
def sampled(name):
    return stanimport.sample(name + ".stan", given["data"], **given["options"]).draws().tolist()
with ThreadPoolExecutor(2 * len(given["programs"])) as pool:
    found = list(pool.map(sampled, 2 * list(given["programs"])))
print(json.dumps([found, "jax" in sys.modules]))
"""

LATE = """
from stanimport.inference import executables
put = executables._Machine.put
def late(self, *given):
    import jax
    return put(self, *given)
executables._Machine.put = late
"""


def run(folder, programs=PROGRAMS, then=False, code=RUN, **environment):
    """The draws of programs in a process of its own, and whether it has loaded JAX; what it does then."""
    given = json.dumps(dict(programs=programs, data=DATA, options=OPTIONS, then=then))
    (folder / "at").mkdir(exist_ok=True)
    surroundings = {n: v for n, v in os.environ.items() if not n.startswith("JAX_")}
    surroundings |= {"STANIMPORT_JIT_CACHE": str(folder / "jit"), "STANIMPORT_CACHE_DIR": str(folder / "cache")}
    surroundings = compilation.quickly(surroundings | environment)
    made = subprocess.run([sys.executable, "-W", "ignore", "-c", code], input=given, cwd=folder / "at", check=True,
                          capture_output=True, text=True, env=surroundings)  # fmt: skip
    assert "pjrt" not in made.stderr
    return json.loads(made.stdout)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder in which the programs were sampled by a process that compiled them, and their draws."""
    folder = tmp_path_factory.mktemp("first")
    draws, loaded = run(folder)
    assert loaded
    return folder, draws


@pytest.mark.slow
def test_the_same_draws_without_jax_and_with_it_afterwards(first):
    folder, draws = first
    again, loaded, kind, total, after = run(folder, then=True)
    assert (loaded, kind, total) == (False, "float32", 6.0)
    assert again == draws and after == draws


@pytest.mark.slow
def test_where_jax_has_options_of_its_own_it_is_loaded(first):
    folder, draws = first
    assert run(folder, JAX_NUM_CPU_DEVICES="2") == [draws, True]


@pytest.mark.slow
def test_what_is_damaged_is_left_to_jax(first, tmp_path):
    folder, draws = first
    code = {"number": PROGRAMS["number"]}
    before = run(tmp_path, code)
    assert before == [{"number": draws["number"]}, True] and run(tmp_path, code) == [before[0], False]
    for file in (tmp_path / "jit").iterdir():  # those of all programs, in both forms
        file.write_bytes(file.read_bytes()[:-7])
    assert run(tmp_path, code) == before


def test_trees_count_as_those_of_jax():
    leaf = executables.Kept(b"", [], [], frozenset(), False, False)
    tree = (1.0, {"b": [2.0, (3.0, None)], "a": leaf}, [], {"c": {}})
    assert nested.leaves(tree) == jax.tree.leaves(tree)
    assert nested.mapped(lambda a, b: (a, b), tree, tree) == jax.tree.map(lambda a, b: (a, b), tree, tree)
    with pytest.raises(ValueError):
        nested.mapped(np.add, (1, 2), (1,))


def test_threads_that_begin_at_the_same_time(first):
    """There is one device for all: none is handed what lies on another thread's."""
    folder, draws = first
    assert run(folder, code=THREADS) == [2 * list(draws.values()), False]


@pytest.mark.slow
def test_jax_is_loaded_by_another_thread_when_a_program_begins(first):
    """What it is given stays in double precision, though JAX's own switch is off."""
    folder, draws = first
    assert run(folder, code=LATE + RUN) == [draws, True]
