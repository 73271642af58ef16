"""Python's names for variables of one Stan name in blocks that follow each other."""
from __future__ import annotations

import math
import sys

import pytest
from densities import module_log_density

import stanimport
from stanimport import pipeline
from stanimport.emit.names import Names
from stanimport.ir import gprob
from stanimport.ir.fresh import Fresh
from stanimport.source import Source

PROGRAM = """
data { int N; }
parameters { real x; }
model {
  for (p in 1:N) {
    { real t = 0; for (e in 1:2) t += x * e; if (x > 3) break; target += 0.3 * t; }
    int t = p;
    target += 0.5 * t;
  }
  { real t = x; if (x > 9) reject(t); }
  { real t = -x; target += t; }
}
"""


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_variable_that_a_branch_reads_is_not_the_one_that_it_declares(backend, x64, torch_double):
    """Behind a possible break the rest of both blocks is one function, which reads the one `t` and has the other."""
    module = stanimport.loads(PROGRAM, backend=backend)
    for x, expected in ((0.5, sum(0.3 * 3 * 0.5 + 0.5 * p for p in (1, 2, 3)) - 0.5), (4.0, -4.0)):
        found = module_log_density(module, module.transformed_data(N=3), {"x": x}, backend)
        assert math.isclose(found, expected, rel_tol=1e-12)


def test_variables_that_follow_each_other_share_a_name():
    code = pipeline.translate(Source("p.stan", PROGRAM), "p", pipeline.Options()).text
    assert "t = -x" in code and "t = x" in code and "t_ = p" in code


def test_the_work_for_names_grows_with_the_text():
    def lines_run(count):
        names, one = Fresh(), gprob.int_const(1, None)
        inner = gprob.For(None, "j", one, one, ())
        loops = [gprob.For(None, names.again("i"), one, one, (inner,)) for _ in range(count)]
        run = 0

        def counted(frame, event, argument):
            nonlocal run
            run += event == "line"
            return counted

        sys.settrace(counted)
        try:
            shared = Names()
            shared.share(loops)
        finally:
            sys.settrace(None)
        assert {shared[s.name] for s in loops} == {"i"}
        return run

    assert lines_run(800) < 2.2 * lines_run(400)
