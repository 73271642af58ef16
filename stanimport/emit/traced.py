"""What can't stand in control flow that a backend traces: sample sites, which must be the same in every run."""
from __future__ import annotations

from ..errors import Diagnostic, StanSemanticError
from ..ir import gprob, traversal


def refuse_samples(s: gprob.If) -> None:
    """A branch on a sampled value can't sample: laws of one family have become one sample before.

    Raises:
        StanSemanticError: naming the first law.
    """
    for node in traversal.walk(s):
        if isinstance(node, gprob.Sample):
            message = f"NumPyro can't sample {node.site} in a branch on sampled values"
            hint = "give it laws of one family, in the same order, on both sides; or translate for Pyro"
            raise StanSemanticError([Diagnostic(message, node.span, hint, code="not-generative")])
