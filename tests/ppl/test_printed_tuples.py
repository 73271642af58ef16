"""Tuples in messages: in parentheses, whether their items are known when a model is traced or not."""
import numpy as np
import pytest

import stanimport
from stanimport import inference

PROGRAM = """
transformed data {
  tuple(int, vector[2]) t = (1, [2, 3]');
  print("t is ", t, ".");
}
parameters { real<lower=0> x; }
model {
  x ~ exponential(1);
  tuple(real, tuple(int, real)) u = (x, (4, -1.5));
  print("u is ", u, ".");
  if (t.1 > 1) reject("t is ", t);
}
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_items_stand_in_parentheses(backend, capsys):
    if backend == "pyro":
        pytest.importorskip("pyro")
    module = stanimport.loads(PROGRAM, backend=backend)
    inputs = module.transformed_data()
    assert capsys.readouterr().out.replace(".0", "") == "t is (1,[2,3]).\n"
    if backend == "numpyro":
        inference.LogProb(module, {}).at(np.zeros(1))
    else:
        module.model(**inputs)
    shown = capsys.readouterr().out.splitlines()
    line = next(s for s in shown if s.startswith("u is "))
    first, *rest = line.removeprefix("u is (").split(",")
    assert float(first) > 0 and rest == ["(4", "-1.5))."]


def test_a_rejection_tells_them():
    module = stanimport.loads("transformed data { tuple(int, real) t = (1, 2.5); reject(\"t is \", t); }")
    with pytest.raises(stanimport.StanError, match=r"t is \(1,2\.5\)"):
        module.transformed_data()
