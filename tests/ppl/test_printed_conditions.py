"""What is printed under conditions on parameters is printed where they hold, compiled or not, on both backends."""
from __future__ import annotations

import jax
import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import condition

PROGRAM = """parameters { vector[3] v; }
model {
  for (n in 1:3) if (v[n] > 0) { print("pos ", n); if (v[n] > 1) print("large: ", v[n]); }
  if (v[1] > 0) print("first is positive"); else print("first is not");
  target += -dot_self(v);
}"""
POINTS = {
    (2.0, -1.0, 0.5): ["first is positive", "large: 2.0", "pos 1", "pos 3"], (-1.0, -1.0, -1.0): ["first is not"],
    (0.5, 0.5, 1.5): ["first is positive", "large: 1.5", "pos 1", "pos 2", "pos 3"],
}  # fmt: skip


def lines(capsys):
    jax.effects_barrier()
    return sorted(capsys.readouterr().out.splitlines())


def test_compiled_and_mapped(capsys, x64):
    density = condition(stanimport.loads(PROGRAM), {}, 1).log_density
    compiled, mapped = jax.jit(density), jax.jit(jax.vmap(density))
    compiled(np.zeros(3)), mapped(np.zeros((3, 3)))
    lines(capsys)
    for point, said in POINTS.items():
        compiled(np.array(point))
        assert lines(capsys) == said
    mapped(np.array(list(POINTS)))
    assert lines(capsys) == sorted(line for said in POINTS.values() for line in said)


def test_on_pyro(capsys):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    from stanimport.inference.methods.pyro_methods import Density

    density = Density(stanimport.loads(PROGRAM, backend="pyro"), {})
    lines(capsys)
    for point, said in POINTS.items():
        density(torch_of(point))
        assert lines(capsys) == said


def torch_of(point):
    import torch

    return torch.tensor(point)
