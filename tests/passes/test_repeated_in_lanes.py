"""A `while` runs for the lanes and the draws alone that ask for it: for others it might never end.

It runs in a process of its own, which can be stopped, as a compiled loop can't.
"""
import json
import os
import subprocess
import sys

import compilation
import numpy as np
import pytest
import stanli

FUNCTIONS = """
    functions {
        real fall(real x) { real y = x; while (y > 0.1) y = y * x; return y; }
        real guarded(real x) { real y = x; if (x < 1) { while (y > 0.1) y = y * x; } return y; }
        real nested(real x) {
            real y = x;
            while (y > 0.1) { real z = y; while (z > y / 3) z = z * x; y = z; }
            return y;
        }
        real deep(real x) {
            real y = x;
            for (i in 1:3) { if (y < 1 && x > 0) { while (y > 0.1 / i) y = y * x; } }
            return y;
        }
        real positive_rng(real m) {
            int goes = 1;
            real x = 0;
            while (goes) { x = normal_rng(m, 1); if (x > 0) goes = 0; }
            return x;
        }
        real above_rng(real m) { real x = normal_rng(m, 1); while (x < 0) x = normal_rng(m, 1); return x; }
    }
    data { int N; vector[N] w; }
    parameters { vector[N] a; }
"""
MODELS = {
    "in a branch of parameters": "if (a[n] < 1) target += fall(a[n]) * w[n];",
    "in a branch of data": "if (w[n] < 1) target += fall(w[n]) * a[n];",
    "behind a test of its own": "target += guarded(a[n]) * w[n];",
    "in another one": "if (a[n] < 1) target += nested(a[n]) * w[n];",
    "in loops and branches": "if (a[n] < 1) target += deep(a[n]) * w[n];",
    "in both sides": "if (a[n] < 1) target += fall(a[n]) * w[n]; else target += fall(1 / a[n]);",
}
CASES = [([0.5, 2.0], [0.3, -2.0]), ([1.5, 2.0], [1.7, 2.0]), ([0.5, 0.7], [0.6, 0.2]), ([1.0, 2.0], [3.0, 4.0])]
QUANTITIES = """generated quantities {
    vector[N] z; vector[N] u; vector[N] v;
    for (n in 1:N) {
        z[n] = -1; u[n] = -1; v[n] = -1;
        if (a[n] > 0) z[n] = positive_rng(a[n]);
        if (a[n] > 0) u[n] = above_rng(a[n]);
        if (w[n] > 1) v[n] = above_rng(w[n]);
    }
}"""
DRAWS = """
    functions {
        int odd_parts(int n) {
            int k = n; int s = 0;
            while (k > 0) { int j = k; while (j % 2 == 0) j = j %/% 2; s += j; k -= 1; }
            return s;
        }
    }
    parameters { real a; }
    model { a ~ normal(0, 1); }
    generated quantities {
        int n = poisson_rng(exp(a)); int s = odd_parts(n); int t = 0; int u = 0; int k = n;
        for (i in 1:n) { int j = n - i + 1; while (j % 2 == 0) j = j %/% 2; t += j; }
        while (k > 0) { int j = k; while (j % 2 == 0) j = j %/% 2; u += j; k -= 1; }
        real z = -1;
        if (a > 0) { z = normal_rng(a * 1e6, 1); while (z < 0) z = normal_rng(a * 1e6, 1); }
    }
"""
OF_FIT = """
import json, sys
import stanimport
fit = stanimport.sample(stanimport.loads(sys.stdin.read()), {}, seed=1, chains=2, iter_warmup=100, iter_sampling=100)
print(json.dumps({n: fit.stan_variable(n).tolist() for n in "anstuz"}))
"""
RUN = """
import json, sys
import numpy as np
import stanimport
from beside_stan import value_and_gradient
backend, programs, quantities, cases = json.loads(sys.stdin.read())
def drawn(w, a):
    module = stanimport.loads(quantities, backend=backend)
    inputs = module.transformed_data(N=len(w), w=w)
    if backend == "pyro":
        import torch
        torch.manual_seed(1)
        made = [module.generated_quantities(**inputs, a=torch.tensor(a))]
    else:
        import jax
        from numpyro.handlers import seed
        def draw(a):
            return seed(module.generated_quantities, jax.random.PRNGKey(1))(**inputs, a=a)
        with jax.enable_x64(True):
            made = [draw(np.array(a)), jax.jit(draw)(np.array(a))]
            both = jax.vmap(draw)(np.array([a, a]))
            made += [{n: v[1] for n, v in both.items()}]
    return [{n: np.asarray(v).tolist() for n, v in one.items()} for one in made]
if backend == "pyro":
    import torch
    torch.set_default_dtype(torch.float64)
densities = []
for program in programs:
    module = stanimport.loads(program, backend=backend)
    found = [value_and_gradient(module, {"N": len(w), "w": w}, backend, np.array(a)) for w, a in cases]
    densities.append([[float(value), np.asarray(gradient).tolist()] for value, gradient in found])
print(json.dumps([densities, [drawn(w, a) for w, a in cases]]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_lanes_that_ask_for_no_loop_wait_for_none(backend, request):
    programs = [f"{FUNCTIONS} model {{ for (n in 1:N) {{ {body} }} a ~ normal(0, 1); }}" for body in MODELS.values()]
    quantities = f"{FUNCTIONS} model {{ a ~ normal(0, 1); }} {QUANTITIES}"
    given = json.dumps([backend, programs, quantities, CASES])
    made = subprocess.run([sys.executable, "-c", RUN], input=given, capture_output=True, text=True, timeout=240,
                          cwd=request.path.parent)  # fmt: skip
    assert made.returncode == 0, made.stderr
    densities, drawn = json.loads(made.stdout)
    for program, of_program in zip(programs, densities, strict=True):
        for (w, a), (value, gradient) in zip(CASES, of_program, strict=True):
            reference = stanli.Model(stan_code=program, data={"N": len(w), "w": w})
            wanted, slope = reference.log_prob_grad(np.array(a))
            assert value + len(w) * np.log(2 * np.pi) / 2 == pytest.approx(wanted, rel=1e-12)
            np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-12)
    for (w, a), runs in zip(CASES, drawn, strict=True):
        for made_once in runs:
            for name, asked in ("z", np.array(a) > 0), ("u", np.array(a) > 0), ("v", np.array(w) > 1):
                values = np.array(made_once[name])
                assert ((values > 0) == asked).all() and (values[~asked] == -1).all()


def odd_part(j):
    while j % 2 == 0:
        j //= 2
    return j


def test_draws_that_are_done_wait_for_no_loop(tmp_path):
    """All draws are made at once: an inner loop sees the last state of those whose outer one has ended."""
    made = subprocess.run([sys.executable, "-c", OF_FIT], input=DRAWS, capture_output=True, text=True, timeout=240,
                          cwd=tmp_path, env=compilation.quickly(os.environ))  # fmt: skip
    assert made.returncode == 0, made.stderr
    a, n, s, t, u, z = (np.array(v) for v in json.loads(made.stdout).values())
    wanted = [sum(map(odd_part, range(1, int(k) + 1))) for k in n]
    assert n.max() > 3 and (s == wanted).all() and (t == wanted).all() and (u == wanted).all()
    assert ((z > 0) == (a > 0)).all() and (z[a <= 0] == -1).all()
