"""Variables around nested loops that only the inner ones write: each iteration has its own, and the last value stays.

An inner loop that is empty writes in no iteration, so that what the variable held before stays.
"""
import numpy as np
import pytest
from beside_stan import compare
from loop_programs import translated

import stanimport
from stanimport import pipeline
from stanimport.passes import loops
from stanimport.source import Source

# the body of a loop over i, of which x, v and k keep what the last write gave them
BODIES = {
    "scalar": "for (j in 1:J) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "twice": "for (j in 1:J) for (l in 1:L) { x = w[j] * a[i] + l; target += normal_lpdf(y[i] | x, 1); }",
    "index": "for (j in 1:J) { k = (i + j) % 2 + 1; v[k] += 0; x = a[k]; target += normal_lpdf(y[i] | x, 1); }",
    "vector": "for (j in 1:J) { v = a * w[j]; target += normal_lpdf(y[i] | v[1], 1); }",
    "elements": "for (j in 1:J) { for (m in 1:2) v[m] = a[m] * w[j] + i; target += normal_lpdf(y[i] | v[2], 1); }",
    "part": "for (j in 1:J) { v[1] = a[i] * w[j]; target += normal_lpdf(y[i] | sum(v), 1); }",
    "ragged": "for (j in 1:n[i]) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "inner ragged": "for (j in 1:J) for (l in 1:n[j]) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, l); }",
    "outside too": "if (y[i] > 0) x = a[i]; for (j in 1:J) { x = w[j]; target += normal_lpdf(y[i] | x, 1); }",
    "sometimes": "for (j in 1:J) if (w[j] > 0) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "read before": "target += x; for (j in 1:J) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "read behind": "for (j in 1:J) { x = w[j] * a[i]; } target += normal_lpdf(y[i] | x, 1);",
    "triangle": "for (j in i:J) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "bounds change": "for (j in 1:(J - i + 1)) { x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "break": "for (j in 1:J) { if (j > L) break; x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "stops": "for (j in 1:J) { if (w[j] > a[1]) break; x = w[j] * a[i]; target += normal_lpdf(y[i] | x, 1); }",
    "parameter": "for (j in 1:J) { if (a[i] > 0) x = w[j] * a[i]; else x = a[1]; target += normal_lpdf(y[i] | x, 1); }",
}
PROGRAM = """
    data {{ int J; int L; array[2] real y; vector[J] w; array[2] int n; }}
    parameters {{ vector[2] a; }}
    {place} {{
        real x = 5; vector[2] v = [1, 2]'; int k = 1;
        for (i in 1:2) {{ {body} }}
        {end}
    }}
"""
MODEL = "model { a ~ normal(0, 1); }"
SIZES = [(0, 0, (0, 0)), (1, 1, (1, 0)), (2, 0, (0, 1)), (2, 2, (2, 1))]


def data_of(J, L, n):
    return {"J": J, "L": L, "y": [0.5, -1.0], "w": [1.5, -0.5][:J], "n": list(n)}


CASES = [pytest.param(name, data_of(*sizes), id=f"{name}-{sizes[0]}-{sizes[1]}") for name in BODIES for sizes in SIZES]


@pytest.mark.parametrize(("name", "data"), CASES)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_the_density_reads_the_last_value_as_stan_does(name, data, backend):
    end = "target += 2 * x + v[1] * 3 + v[2] * 5 + k; a ~ normal(0, 1);"
    compare(PROGRAM.format(place="model", body=BODIES[name], end=end), data, backend)


@pytest.mark.parametrize(("name", "data"), CASES)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_generated_quantities_keep_the_last_value(name, data, backend, x64, torch_double):
    """They are all recorded; and equal what the program makes whose loops are those of the text."""
    program = PROGRAM.format(place="generated quantities", body=BODIES[name].replace("target +=", "lp +="), end="")
    program = program.replace("int k = 1;", "int k = 1; real lp = 0;").replace("generated", MODEL + "generated")
    modules = [translated(program, backend, without) for without in ((), loops.PASSES)]
    made, plain = (m.generated_quantities(**m.transformed_data(**data), a=np.array([0.7, -0.3])) for m in modules)
    for variable in ("x", "v", "k", "lp"):
        np.testing.assert_allclose(np.asarray(made[variable]), np.asarray(plain[variable]), rtol=1e-12)


def test_a_loop_with_random_functions_runs_as_lanes(x64):
    """The number of iterations is a variable of the program's own, set in the inner loop."""
    program = """
        functions {
            real positive_rng(real m) {
                real x = normal_rng(m, 1);
                while (x < 0) x = normal_rng(m, 1);
                return x;
            }
        }
        data { int I; int J; array[I, J] int n; vector[6] y; }
        parameters { vector[I] a; }
        model { a ~ normal(0, 1); }
        generated quantities {
            int count;
            vector[I] total;
            array[I, J, 6] real drawn;
            for (i in 1:I) {
                total[i] = 0;
                for (j in 1:J) {
                    count = n[i, j];
                    total[i] += normal_lpdf(y[1:count] | a[i], 1);
                    for (t in 1:6) drawn[i, j, t] = 0;
                    for (t in 1:count) drawn[i, j, t] = positive_rng(a[i]);
                }
            }
        }
    """
    n = np.array([[2, 0, 6], [1, 3, 5]])
    data, a = {"I": 2, "J": 3, "n": n, "y": np.linspace(-1, 1, 6)}, np.array([0.5, -0.2])
    quantities = pipeline.translate(Source("m.stan", program), "m", pipeline.Options()).text.split("def generated")[-1]
    assert "in range" not in quantities and "for_loop" not in quantities
    module = stanimport.loads(program)
    made = module.generated_quantities(**module.transformed_data(**data), a=a)
    assert made["count"] == 5
    drawn = np.asarray(made["drawn"])
    assert ((drawn > 0) == (np.arange(6) < n[..., None])).all() and len(np.unique(drawn[drawn > 0])) == n.sum()
    wanted = [sum(-0.5 * ((data["y"][:c] - a[i]) ** 2).sum() - c * np.log(2 * np.pi) / 2 for c in n[i]) for i in (0, 1)]
    np.testing.assert_allclose(np.asarray(made["total"]), wanted, rtol=1e-12)
