"""Rows of data that several devices share: in a process with eight of the CPU's, in two processes, and in threads."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import compilation
import numpy as np
import pytest

import stanimport
from stanimport.inference.options import OptionError

START = """
import json, sys
import jax, numpy as np
from jax.sharding import Mesh
import stanimport
from stanimport.inference.blocks import arrangement, density, sweeps

sweeps.MOST, sweeps.FEWEST, arrangement.FEW, density.ROWS = 64, 8, 10, 500
rng = np.random.default_rng(5)
N, G = 1009, 40
data = dict(N=N, G=G, x=rng.normal(size=(N, 2)), y=rng.normal(size=N), g=rng.integers(1, G + 1, N),
            k=rng.integers(0, 2, N))
program = stanimport.loads('''data { int N; int G; matrix[N, 2] x; vector[N] y; array[N] int<lower=1, upper=G> g;
    array[N] int k; }
  parameters { vector[G] a; vector[2] b; real<lower=0> s; }
  model { a ~ std_normal(); b ~ std_normal(); y ~ normal(a[g] + x * b, s); k ~ bernoulli_logit(x * b); }''')
options = dict(chains=1, iter_warmup=40, iter_sampling=10, seed=3)
few = {**options, "iter_warmup": 5, "iter_sampling": 3, "max_treedepth": 3}
def mesh(n): return Mesh(np.array(jax.devices()[:n]), ("rows",))
"""

DRAWS = START + """
out = {"draws": {"none": stanimport.sample(program, data, **options).draws().tolist()}}
for n in (2, 8):
    out["draws"][n] = stanimport.sample(program, data, mesh=mesh(n), **options).draws().tolist()
out["few"] = stanimport.sample(program, data, **few).draws().tolist()
print(json.dumps(out))
"""

EIGHT = START + """
from stanimport.inference.density.posterior import condition
out = {"slopes": {}}
jax.config.update("jax_enable_x64", True)
MODELS = {
    "parameters for every row": "parameters { vector[N] e; } model { e ~ normal(0, 2); y ~ normal(e, exp(e)); }",
    "differences": "parameters { vector[N] h; } model { h[2:N] ~ normal(h[1:(N - 1)], 1); y ~ normal(h, 1); }",
    "rejected": "parameters { real m; } model { y ~ normal(0, y - m); }",
}
for name, text in MODELS.items():
    made = condition(stanimport.loads("data { int N; vector[N] y; }" + text), {"N": N, "y": data["y"]})
    point = np.random.default_rng(1).normal(0, 0.1, made.size)
    whole = jax.jit(jax.value_and_grad(lambda q: made._density_of(made.split(q), True)))(point)
    for used in (mesh(1), mesh(4), Mesh(np.array(jax.devices()).reshape(2, 4), ("hosts", "devices"))):
        made.divide(used, needed=True)
        parts = jax.jit(jax.value_and_grad(made.log_density))(point)
        out["slopes"].setdefault(name, []).append([[float(v), np.asarray(g).tolist()] for v, g in (whole, parts)])
walk = stanimport.loads("data { int N; vector[N] y; } parameters { real<lower=0> t; real<lower=0,upper=1> c; } model { "
    "vector[N] v; v[1] = 1; for (i in 2:N) v[i] = t + c * v[i - 1] * y[i - 1]^2; y ~ normal(0, sqrt(v)); }")
loud = stanimport.loads("data { int N; vector[N] y; } parameters { real m; } model { print(m); y ~ normal(m, 1); }")
for wrong in (lambda: stanimport.sample(walk, {"N": N, "y": data["y"]}, mesh=mesh(2), **options),
              lambda: stanimport.sample(loud, {"N": N, "y": data["y"]}, mesh=mesh(2), **options),
              lambda: stanimport.sample(program, {**data, "N": 3, "x": data["x"][:3], "y": data["y"][:3],
                                                  "g": data["g"][:3], "k": data["k"][:3]}, mesh=mesh(2), **options)):
    try:
        wrong()
    except stanimport.StanError as e:
        out.setdefault("refused", []).append(str(e))

from stanimport.inference.programs import Program
from stanimport.inference.samplers.chains import layout
for named in (jax.devices()[3], None):
    with jax.default_device(named):
        made = Program(lambda x: x + 1, np.ones(2))(np.ones(2))
        out.setdefault("named", []).append([[d.id for d in made.devices()],
            [[d.id for d in layout(4, kind, None)[0] if d is not None] for kind in ("vectorized", "parallel")],
            stanimport.sample(program, data, chain_method="vectorized", **{**few, "chains": 2}).draws().tolist()])
print(json.dumps(out))
"""

TWO = START + """
jax.distributed.initialize(sys.argv[2], num_processes=2, process_id=int(sys.argv[1]))
fit = stanimport.sample(program, data, mesh=Mesh(np.array(jax.devices()), ("rows",)), **few)
print(json.dumps([len(jax.devices()), len(jax.local_devices()), fit.draws().tolist()]))
"""

# in another process than the one that stored its programs for one device
THREADS = START + """
one = stanimport.sample(program, data, **options) if sys.argv[1:] else None
if not sys.argv[1:]:
    two = stanimport.sample(program, data, threads_per_chain=2, **options)
    coin = stanimport.loads("data { int k; } parameters { real<lower=0, upper=1> p; } model { k ~ bernoulli(p); }")
    few = stanimport.sample(coin, {"k": 1}, threads_per_chain=2, **options)
    assert len(jax.devices()) == 2 and few.draws().size
print(json.dumps((one or two).draws().tolist()))
"""


def started(text, *arguments, devices=1, **environment):
    """A process of its own, with so many CPU devices."""
    number = {"JAX_NUM_CPU_DEVICES": str(devices)} if devices else {}
    own = compilation.quickly({**os.environ, **number, **environment})
    return subprocess.Popen([sys.executable, "-c", text, *arguments], env=own, stdout=subprocess.PIPE, text=True)


def result(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return json.loads(out.splitlines()[-1])


@pytest.fixture(scope="module")
def of_eight():
    return result(started(EIGHT, devices=8))


@pytest.fixture(scope="module")
def drawn():
    return result(started(DRAWS, devices=8))


@pytest.mark.slow
def test_draws_are_the_same_for_any_number_of_devices(drawn):
    draws = drawn["draws"]
    assert len(draws) == 3
    for found in draws.values():
        np.testing.assert_allclose(found, draws["none"], rtol=1e-3, atol=1e-4)  # rounding, over 50 trajectories
    assert np.std(draws["none"], axis=0).max() > 0.1


def test_parameters_of_rows_rows_in_other_places_and_rejected_draws(of_eight):
    for pairs in of_eight["slopes"].values():
        assert len(pairs) == 3
        for (value, slope), (found, at) in pairs:
            np.testing.assert_allclose(found, value, rtol=1e-12)
            np.testing.assert_allclose(at, slope, rtol=1e-9, atol=1e-12)
    assert of_eight["slopes"]["rejected"][0][0][0] == -np.inf


def test_what_can_not_be_divided_is_refused(of_eight):
    one, printed, few = of_eight["refused"]
    assert "rows of data need the ones before" in one and "divided between 2 devices" in few
    assert "its density prints" in printed


def test_programs_run_where_jax_is_told_to(of_eight):
    there, anywhere = of_eight["named"]
    assert there[0] == [3] and there[1][0] == [3] and anywhere[0] == [0] and anywhere[1][0] == [0, 1, 2, 3]
    np.testing.assert_allclose(there[2], anywhere[2], rtol=1e-6)


@pytest.mark.slow
def test_two_processes_share_the_rows(drawn):
    with socket.socket() as s:
        s.bind(("localhost", 0))
        place = f"localhost:{s.getsockname()[1]}"
    both = [started(TWO, str(k), place) for k in range(2)]
    for devices, own, draws in map(result, both):
        assert (devices, own) == (2, 1)
        np.testing.assert_allclose(draws, drawn["few"], rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_threads_share_the_rows(tmp_path):
    """Programs that a process with one device stored are of use in one with two."""
    one, two = (result(started(THREADS, *arguments, devices=0, STANIMPORT_JIT_CACHE=str(tmp_path)))
                for arguments in (["alone"], []))  # fmt: skip
    np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-4)


def test_options_that_are_wrong():
    import jax

    many = {"N": 2**17, "y": np.zeros(2**17)}
    program = stanimport.loads("data { int N; vector[N] y; } parameters { real a; } model { y ~ normal(a, 1); }")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("rows",))
    for message, options in {
        "JAX_NUM_CPU_DEVICES=99": {"threads_per_chain": 99},
        "one of them is enough": {"threads_per_chain": 2, "mesh": mesh},
        "must be a jax.sharding.Mesh, not int": {"mesh": 2},
        "needs method='nuts', not 'numpyro'": {"mesh": mesh, "method": "numpyro"},
        "chain_method='vectorized'": {"mesh": mesh, "chain_method": "vectorized"},
        "threads_per_chain must be": {"threads_per_chain": 0},
    }.items():
        with pytest.raises(OptionError, match=message):
            stanimport.sample(program, many, **options)


def test_pyro_refuses_them():
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    program = stanimport.loads("parameters { real a; } model { a ~ normal(0, 1); }", backend="pyro")
    with pytest.raises(OptionError, match="runs on one device"):
        stanimport.sample(program, {}, threads_per_chain=2)
