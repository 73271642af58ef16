"""Profile blocks: the programs that tell what they cost, and the times of a run."""
import jax
import numpy as np
import pytest

import stanimport
from stanimport import api, inference
from stanimport.inference import precision
from stanimport.inference.density import points
from stanimport.inference.fits import profiling

PROGRAM = """\
functions {
  real bumped(real x) { real y; profile("function") { y = x ^ 2; } return y; }
  real early(real x) { profile("early") { return x; } }
}
data { int N; matrix[N, N] D; vector[N] y; }
transformed data { real q; profile("data") { q = sum(y); } }
parameters { real<lower=0> length; vector[N] z; }
transformed parameters {
  vector[N] f;
  array[2] tuple(real, vector[N]) pairs;
  real late;
  profile("process") {
    matrix[N, N] K = add_diag(exp(-D / length), 1e-6);
    f = cholesky_decompose(K) * z;
    pairs[1].1 = f[1];
  }
  late = bumped(early(f[1]));
}
model {
  real g = 2 * f[1];
  for (i in 1:N) { profile("looped") { target += -square(f[i] - g); } z[i] ~ normal(0, 1); }
  profile("noise") { length ~ exponential(1); y ~ normal(f, 1); }
  target += late;
}
generated quantities { vector[N] r; profile("noise") { r = to_vector(normal_rng(f, 1)); } real s; s = sum(r); }
"""
N = 100


@pytest.fixture(scope="module")
def blocks():
    found = api.profiled("p.stan", source=PROGRAM)
    return {(p.name, p.block): p for p in found}


def test_every_block_is_found_and_told_by_two_right_programs(blocks):
    names = [name for name, _ in blocks]
    assert names == ["function", "early", "data", "process", "looped", "noise", "noise"]
    for p in blocks.values():
        assert bool(p.with_it) == bool(p.without) == (p.name not in ("early", "data"))
        for text in filter(None, (p.with_it, p.without)):
            stanimport.check("p.stan", source=text)


def test_what_stands_behind_a_block_is_left_out(blocks):
    process = blocks["process", "transformed parameters"]
    assert "late = " not in process.with_it and "exponential" not in process.with_it
    assert "cholesky" in process.with_it and "cholesky" not in process.without
    # what it makes reaches the target, so that it is computed: reals in tuples in arrays too
    assert "target += sum(f)" in process.with_it and ".2)" in process.with_it
    assert "target += late" not in process.with_it
    looped = blocks["looped", "model"]
    assert "z[i] ~" in looped.without and "square" not in looped.without and "target += g" in looped.without
    assert "sum(r)" not in blocks["noise", "generated quantities"].with_it


def operations(density, points, function):
    """In place of a clock: an evaluation takes as many microseconds as XLA counts operations in it."""
    with precision.TRACING, precision.double_precision():
        counted = jax.jit(function).lower(points[0]).compile().cost_analysis()
    each = 1e-6 * (counted["flops"] + counted.get("transcendentals", 0.0))
    return lambda times: times * each


@pytest.mark.slow
def test_a_run_tells_the_time_of_its_blocks(monkeypatch):
    """The heavy block takes most of it, and calls are those of the sampler."""
    monkeypatch.setattr(profiling, "_running", operations)
    program = PROGRAM
    for name in ("function", "early", "looped"):
        program = program.replace(f'profile("{name}")', "")
    module = stanimport.loads(program, name="profiled")
    at = np.random.default_rng(1).normal(size=N)
    data = {"N": N, "D": np.abs(at[:, None] - at), "y": at}
    fit = inference.sample(module, data, chains=2, iter_warmup=4, iter_sampling=3, seed=1, max_treedepth=2,
                           show_progress=False)  # fmt: skip
    found = fit.profiles().set_index(["name", "thread_id"])
    assert list(found.columns) == ["total_time", "forward_time", "reverse_time", "chain_stack", "no_chain_stack",
                                   "autodiff_calls", "no_autodiff_calls"]  # fmt: skip
    assert list(found.loc["process"].autodiff_calls) == list(fit.stats["n_leapfrog__"].sum(axis=1))
    assert (found.no_autodiff_calls[["process", "noise"]] == 3).all() and np.isnan(found.total_time["data"]).all()
    heavy, light = found.total_time["process"], found.total_time["noise"]
    assert (heavy > 10 * light).all() and (light > 0).all() and (found.reverse_time["process"] > 0).all()
    assert np.allclose(found.total_time["process"], found.forward_time["process"] + found.reverse_time["process"])


@pytest.mark.slow
def test_the_clock_runs_longer_for_more_evaluations():
    module = stanimport.loads('parameters { vector[50] x; } model { profile("p") { x ~ normal(0, 1); } }')
    fit = inference.sample(module, {}, chains=1, iter_warmup=2, iter_sampling=2, seed=1, show_progress=False)
    (row,) = fit.profiles().to_dict("records")
    assert row["name"] == "p" and row["forward_time"] >= 0 and np.isfinite(row["reverse_time"])
    density = points.LogProb(module, {})
    seconds = profiling._running(density, np.zeros((1, 50)), profiling._value_of(density))
    assert 0 < seconds(1) < seconds(10**6)


def test_runs_without_gradients_have_no_profiles():
    module = stanimport.loads("parameters { real x; } model { profile(\"p\") { x ~ normal(0, 1); } }")
    with pytest.raises(stanimport.StanError, match="optimize"):
        inference.optimize(module, seed=1).profiles()
