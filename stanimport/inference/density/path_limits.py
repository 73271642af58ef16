"""When a path of L-BFGS ends, and how it begins."""
from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """When a path ends, as in CmdStan, and how it begins.

    Attributes:
        iterations: at most.
        history: how many steps tell of the curvature.
        tol_obj, tol_grad, tol_param: changes of the log density, norms of the gradient and of a step at which to stop.
        tol_rel_obj, tol_rel_grad: relative ones, in units of the machine epsilon.
        init_alpha: the first step in units of the gradient; a step of length 1, or a shorter gradient, if None.
    """

    iterations: int = 1000
    history: int = 5
    tol_obj: float = 1e-12
    tol_rel_obj: float = 1e4
    tol_grad: float = 1e-8
    tol_rel_grad: float = 1e7
    tol_param: float = 1e-8
    init_alpha: float | None = None
