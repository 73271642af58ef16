"""torch.func's transforms of a log density on Pyro, which hand the model tensors whose numbers are not in sight."""
from __future__ import annotations

import pytest

import stanimport

DEPENDENT = """
    data { real y; }
    parameters { real<lower=0> a; real<lower=a, upper=a + 3> b; vector<offset=a, multiplier=b>[2] t; }
    model { a ~ exponential(1); t ~ normal(a, b); y ~ normal(b + sum(t), 1); }
"""
REJECTING = "data { real y; } parameters { real a; real s; } model { a ~ normal(0, s); y ~ normal(a, 1); }"
DECIDING = {
    "branch": "if (a > 0) b ~ normal(1, 1); else b ~ normal(-1, 2);",
    "loop": "real x = a; while (x < 3) x += 1; b ~ normal(x, 1);",
    "rejection": 'if (a > 9) reject("large");',
}


def density(source, scheme, torch, sizes):
    from pyro import poutine

    module = stanimport.loads(source, backend="pyro", scheme=scheme)
    data = module.transformed_data(y=0.5)

    def log_density(x):
        values = {name: x[i] if n == 1 else x[i : i + n] for name, (i, n) in sizes.items()}
        trace = poutine.trace(poutine.condition(module.model, data=values)).get_trace(**data)
        return sum(s["fn"].log_prob(s["value"]).sum() for s in trace.nodes.values() if s["type"] == "sample")

    return log_density


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
@pytest.mark.parametrize("source, sizes, points", [
    (DEPENDENT, {"a": (0, 1), "b": (1, 1), "t": (2, 2)}, [[1.0, 2.0, 0.5, 0.6], [0.3, 3.1, 0.1, -2.0]]),
    (REJECTING, {"a": (0, 1), "s": (1, 1)}, [[0.4, 1.5], [0.4, -1.5]]),
])  # fmt: skip
def test_values_and_gradients(source, sizes, points, scheme, torch_double):
    torch = torch_double
    f, x = density(source, scheme, torch, sizes), torch.tensor(points)
    in_turn = torch.stack([torch.as_tensor(f(p)) for p in x])
    torch.testing.assert_close(torch.func.vmap(f)(x), in_turn, rtol=1e-12, atol=0)
    leaf = x[0].clone().requires_grad_()
    f(leaf).backward()
    torch.testing.assert_close(torch.func.grad(f)(x[0]), leaf.grad, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(torch.func.jacfwd(f)(x[0]), leaf.grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("statement", DECIDING)
def test_what_parameters_decide_is_not_that_of_all(statement, torch_double):
    torch = torch_double
    source = f"data {{ real y; }} parameters {{ real a; real b; }} model {{ {DECIDING[statement]} y ~ normal(a, 1); }}"
    f, x = density(source, "mixed", torch, {"a": (0, 1), "b": (1, 1)}), torch.tensor([[0.5, 1.0], [-0.5, 1.0]])
    with pytest.raises(stanimport.StanError, match=r"parameters decide.*torch\.func\.vmap.*line 1"):
        torch.func.vmap(f)(x)
    assert torch.func.grad(f)(x[0]).isfinite().all()
