"""Compiled programs are shared by what differs in data that only enter arithmetic, and by nothing else."""
import os
import subprocess
import sys

import compilation
import jax
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import programs, rows
from stanimport.inference.density import quantities
from stanimport.inference.precision import double_precision
from stanimport.inference.programs import Program
from stanimport.inference.samplers import chains
from stanimport.inference.traced import LARGE, Called, Traced

REGRESSION = """
data { int<lower=0> N; vector[N] x; vector[N] y; real<lower=0> scale; int<lower=1, upper=2> kind; }
parameters { real a; real b; real<lower=0> sigma; }
model {
  a ~ normal(0, scale);
  b ~ normal(0, scale);
  sigma ~ exponential(1);
  if (kind == 1) y ~ normal(a + b * x, sigma); else y ~ student_t(4, a + b * x, sigma);
}
generated quantities { real total = a + b; }
"""


@pytest.fixture
def compilations(monkeypatch):
    """The list of what is compiled while a test runs, from an empty store."""
    made = []

    def compile(lowered, options, original=programs._compile):
        made.append(lowered)
        return original(lowered, options)

    monkeypatch.setattr(programs, "_compile", compile)
    programs.forget()
    return made


def polynomial(coefficients, factor):
    return Program(lambda x: factor * (coefficients * x**2).sum() + x[0], np.zeros(len(coefficients)))


def value(coefficients, factor, x):
    return float(factor * (coefficients * x**2).sum() + x[0])


def test_other_numbers_find_the_program_compiled(compilations):
    x = np.array([1.0, 2.0, 3.0])
    for coefficients, factor in (([1.0, 5.0, -2.0], 2.75), ([0.5, 0.0, 7.0], 9.1), ([4.0, 4.0, 4.0], 1e-3)):
        made = polynomial(np.array(coefficients), np.float64(factor))(x)
        np.testing.assert_allclose(made, value(np.array(coefficients), factor, x), 1e-14)
    assert len(compilations) == 1


def test_integers_and_large_data_belong_to_the_program(compilations):
    x = np.arange(6.0)
    for at in ([0, 2, 2], [0, 2, 3]):
        np.testing.assert_array_equal(Program(lambda x, at=np.array(at): x[at].sum(), x)(x), x[at].sum())
    assert len(compilations) == 2
    wide = np.ones(LARGE + 1)
    for last in (1.0, 2.0):
        wide = wide.copy()
        wide[-1] = last
        np.testing.assert_allclose(Program(lambda x, w=wide: (x[1] * w).sum(), x)(x), LARGE + last)
    assert len(compilations) == 4


def test_python_functions_are_never_shared(compilations):
    def called(f):
        return Program(lambda x: jax.pure_callback(f, jax.ShapeDtypeStruct((), np.float64), x), np.zeros(()))

    assert [float(called(f)(2.0)) for f in (lambda x: x + 1, lambda x: x * 5)] == [3.0, 10.0]
    assert len(compilations) == 2


def test_the_store_is_bounded(compilations, monkeypatch):
    monkeypatch.setattr(programs._programs, "room", 3)
    for n in range(1, 7):
        Program(lambda x: x.sum(), np.zeros(n))
    assert len(programs._programs.known) == 3
    assert float(Program(lambda x: x.sum(), np.zeros(6))(np.ones(6))) == 6.0
    assert len(compilations) == 6


def test_a_failed_compilation_is_tried_again(compilations, monkeypatch):
    def fail(lowered, device):
        raise RuntimeError("no memory")

    working = programs._compile
    monkeypatch.setattr(programs, "_compile", fail)
    with pytest.raises(RuntimeError, match="no memory"):
        Program(lambda x: x + 1.0, np.zeros(2))(np.zeros(2))
    monkeypatch.setattr(programs, "_compile", working)
    np.testing.assert_array_equal(Program(lambda x: x + 1.0, np.zeros(2))(np.zeros(2)), [1.0, 1.0])


def data(seed, kind=1, size=12, scale=3.7):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=size)
    return {"N": size, "x": x, "y": 1 + 2 * x + 0.3 * rng.normal(size=size), "scale": scale, "kind": kind}


def draws(module, given, seed):
    fit = stanimport.sample(module, given, seed=seed, chains=2, iter_warmup=150, iter_sampling=50)
    return fit.draws()


def test_a_second_fit_compiles_nothing_and_draws_the_same(compilations):
    module = stanimport.loads(REGRESSION)
    draws(module, data(1), 1)
    first = len(compilations)
    assert first > 0
    again = draws(module, data(2), 7)
    draws(module, data(1), 3)
    stanimport.sample(module, data(1), chains=2, iter_warmup=150, iter_sampling=80, thin=2, inits=0.5)
    assert len(compilations) == first
    programs.forget()
    np.testing.assert_array_equal(again, draws(module, data(2), 7))


RECURRENCE = """
data { int<lower=2> T; vector[T] series; }
parameters { real level; real<lower=-1, upper=1> echo; }
model {
  vector[T] shock;
  shock[1] = series[1] - level;
  for (t in 2 : T) shock[t] = series[t] - level - echo * shock[t - 1];
  level ~ normal(0, 5);
  shock ~ normal(0, 1);
}
"""
METHODS = {
    "pathfinder": lambda module, data: stanimport.pathfinder(module, data, seed=1, num_paths=1, draws=50),
    "newton": lambda module, data: stanimport.optimize(module, data, seed=1, algorithm="newton"),
    "variational": lambda module, data: stanimport.variational(
        module, data, seed=1, iter=200, draws=50, require_converged=False
    ),
    "advi": lambda module, data: stanimport.advi(module, data, seed=1, iter=200, draws=50, require_converged=False),
}  # fmt: skip


@pytest.mark.sampled(16)
@pytest.mark.parametrize("method", METHODS)
def test_methods_whose_loops_call_the_density_compile_once(method, compilations):
    """JAX writes single numbers, as here the first of the series, into the bodies of loops."""
    module, rng = stanimport.loads(RECURRENCE), np.random.default_rng(3)
    series = [rng.normal(size=9) + 0.5 for _ in range(2)]
    fits, counts = [], []
    for given in (*series, series[0]):
        fits.append(METHODS[method](module, {"T": 9, "series": given}))
        counts.append(len(compilations))
    assert counts[0] == counts[1] == counts[2] > 0
    first, other, again = (np.asarray(fit.stan_variable("level")) for fit in fits)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_what_loops_call_has_the_data_of_its_program(compilations):
    """The data are arguments, also of the derivatives in a loop."""
    x = np.array([0.5, -1.0])
    for shift in (1.3, 0.7):
        called = Called(lambda x, shift=shift: ((x - shift) ** 2).sum(), x)
        descent = lambda x: jax.lax.fori_loop(0, 3, lambda _, x: x - 0.25 * jax.grad(called)(x), x)
        np.testing.assert_allclose(Program(descent, x, calls=called)(x), shift + (x - shift) / 8, 1e-14)
    assert len(compilations) == 1


def test_data_that_decide_a_branch_or_a_size_compile_anew(compilations):
    module = stanimport.loads(REGRESSION)
    point = {"a": 0.4, "b": -0.3, "sigma": 1.5}
    cases = [data(1), data(1, kind=2), data(1, size=13), data(1, kind=2, scale=8.25)]
    found = [stanimport.inference.log_prob(module, given, params=point).lp for given in cases]
    assert len(compilations) == 3 + 1  # densities, and the map to the unconstrained scale, which no data decide
    for given, lp in zip(cases, found):
        np.testing.assert_allclose(lp, closed_form(given, **point), 1e-12)


def closed_form(given, a, b, sigma):
    law = stats.norm if given["kind"] == 1 else stats.t(4)
    prior = stats.norm(0, given["scale"]).logpdf([a, b]).sum() - sigma
    z = (given["y"] - a - b * given["x"]) / sigma
    return prior + (law.logpdf(z) - np.log(sigma)).sum() + np.log(sigma)


def transitions(points):
    """Records of transitions with these points, as a sampler makes them."""
    zeros = np.zeros(len(points))
    return {"point": points, "divergent__": zeros > 0, "stepsize__": zeros, "n_leapfrog__": zeros}


def test_little_arithmetic_is_compiled_with_little_optimization(monkeypatch):
    """Loops are optimized however few numbers there are, and so is what takes many."""
    levels = []

    def noted(lowered, options, original=programs._compile):
        levels.append(options.get("xla_backend_optimization_level"))
        return original(lowered, options)

    monkeypatch.setattr(programs, "_compile", noted)
    programs.forget()

    def tried(function, size):
        made = quantities.Batched(lambda _, draw: {"y": function(draw)}, np.zeros(size), 600)
        draws = np.random.default_rng(1).normal(size=(600, size))
        found = made(np.zeros((600, 2), np.uint32), draws)["y"]
        return found, draws, levels.pop()

    found, draws, level = tried(lambda x: jax.numpy.exp(x) * x.sum() + 0.3 * x**2, 5)
    np.testing.assert_allclose(found, np.exp(draws) * draws.sum(1, keepdims=True) + 0.3 * draws**2, 1e-13)
    assert level == 1
    found, draws, level = tried(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y * x[0] + i, x), 2)
    by_hand = ((draws * draws[:, :1]) * draws[:, :1] + 1) * draws[:, :1] + 2
    np.testing.assert_allclose(found, by_hand, 1e-12)
    assert level is None
    found, draws, level = tried(lambda x: (x[:, None] * x).sum(1), 60)
    np.testing.assert_allclose(found, draws * draws.sum(1, keepdims=True), 1e-12)
    assert level is None and programs.BRIEF < 60 * 60 * 2


def _functions(x=2.7, order=(1, 0, 2), power=3, axis=0, name="p"):
    """A function with numbers, integers, an operation's parameters and another function in it."""
    places = np.array(order)

    def inner(a):
        return a**power + jax.numpy.logaddexp(a, 0.3)

    inner.__name__ = name
    return lambda a: jax.numpy.sum(a[places] * x, axis=axis) + jax.jit(inner)(a).sum() + jax.lax.fori_loop(
        0, power, lambda i, y: y + a[0, 0] * i, 0.0)  # fmt: skip


def test_functions_are_told_by_their_operations():
    point = np.ones((3, 3))

    def text(shape=point, **chosen):
        return Traced(_functions(**chosen), shape).text()

    assert text() == text(x=7.75) == text(name="q")
    others = [text(order=(2, 1, 0)), text(power=4), text(axis=1), text(np.ones((3, 4))), text(x=1.0)]
    assert len({text(), *others}) == 6
    with double_precision():
        traced = Traced(_functions(), point)
        lowered = traced.text_for_xla(traced.lower())
    assert "stablehlo" in lowered and "stablehlo" not in text()


def test_functions_that_call_python_are_told_by_what_xla_is_given():
    def calling(a):
        jax.debug.callback(print, a)
        return a.sum()

    text = Traced(calling, np.ones(2)).text()
    assert "callback" in text and "stablehlo" in text


def test_kept_transitions_own_their_memory():
    """A view of a few rows would keep the buffer of hundreds that the compiled program returned."""
    track, buffer = chains.Track(chains.Settings(iter_warmup=2, iter_sampling=6), 0), np.zeros((250, 1000))
    track.add(transitions(buffer[:4]), 4)
    track.add(transitions(buffer[:4]), 4)
    assert len(track.kept["point"]) == 6
    assert not any(np.shares_memory(block, buffer) for block in track.kept["point"].blocks)


def test_rows_and_what_is_thinned(monkeypatch):
    monkeypatch.setattr(rows, "BLOCK", 3 * 8 * 2)  # three rows
    settings = chains.Settings(iter_warmup=5, iter_sampling=12, thin=2, save_warmup=True)
    track, all_points = chains.Track(settings, 0), np.arange(34.0).reshape(17, 2)
    for start, end in [(0, 1), (1, 7), (7, 17)]:
        track.add(transitions(all_points[start:end]), end - start)
    expected = np.concatenate([all_points[0:5:2], all_points[5::2]])
    kept = track.kept["point"]
    np.testing.assert_array_equal(kept.array(), expected)
    points = rows.Points([kept, kept], settings.saved, len(kept))
    assert points.shape == (2, 6, 2)
    programs_rows = [rows.Rows((3, 2), float) for _ in range(2)]  # each of three chains of one program
    for beside in programs_rows:
        beside.add(np.arange(60.0).reshape(10, 3, 2))
    of_both = rows.Points(programs_rows, 2, 9)
    whole, read = np.asarray(of_both), np.zeros((6 * 7, 2))
    np.testing.assert_array_equal(whole[1], np.arange(60.0).reshape(10, 3, 2)[2:9, 1])
    for places, piece in of_both.pieces(4):
        assert len(piece) <= 4
        read[places] = piece
    np.testing.assert_array_equal(read, whole.reshape(-1, 2))
    np.testing.assert_array_equal(np.asarray(points), [expected[3:]] * 2)
    np.testing.assert_array_equal(np.concatenate(list(kept.drained(4, 3))), expected[3:])
    assert [len(b) for b in kept.blocks] == [3, 0, 0]  # the warm-up's block is there
    np.testing.assert_array_equal(kept.array(0, 3), expected[:3])


def test_the_same_draws_by_pieces(monkeypatch):
    module = stanimport.loads("data { int N; } parameters { vector[N] x; } model { x ~ normal(0, 1); }", name="wide")
    options = dict(chains=2, iter_warmup=20, iter_sampling=30, save_warmup=True, seed=1)
    at_once = stanimport.sample(module, {"N": 300}, **options)
    monkeypatch.setattr(chains, "FEW", 0)
    monkeypatch.setattr(rows, "BLOCK", 2**13)
    monkeypatch.setattr(quantities, "MEMORY", 2**14)
    by_pieces = stanimport.sample(module, {"N": 300}, **options)
    np.testing.assert_array_equal(by_pieces.draws(inc_warmup=True), at_once.draws(inc_warmup=True))


PEAK = """
import resource, stanimport
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
module = stanimport.loads("data { int N; } parameters { vector[N] x; } model { x ~ normal(0, 1); }")
options = dict(chains=2, iter_warmup=10, seed=1, step_size=0.4, adapt_engaged=False)
stanimport.sample(module, {"N": 20000}, iter_sampling=1, **options)
before = peak()
fit = stanimport.sample(module, {"N": 20000}, iter_sampling=500, **options)
print((peak() - before) / fit.variables["x"].nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
def test_memory_stays_near_that_of_the_draws():
    """Many parameters: points are given up while the variables are made of them."""
    command = [sys.executable, "-c", PEAK]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=compilation.quickly(os.environ))
    assert float(done.stdout) < 1.3


def test_options_that_xla_does_not_know_are_left_out_alone(monkeypatch):
    monkeypatch.setattr(programs, "_not_known", set())
    asked = []
    lowered = jax.jit(lambda x: x + 1).lower(1.0)

    class Asking:
        def compile(self, compiler_options):
            asked.append(dict(compiler_options))
            return lowered.compile(compiler_options=compiler_options)

    made = programs._compile(Asking(), {"xla_no_such_option": 1, "xla_backend_optimization_level": 1})
    assert float(made(1.0)) == 2.0 and asked[-1] == {"xla_backend_optimization_level": 1}
    assert programs._not_known == {"xla_no_such_option"} and len(asked) == 2
