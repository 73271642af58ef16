"""NumPyro's automatic guides, by what `variational` calls them."""
from __future__ import annotations

from typing import Any

GUIDES = {
    "meanfield": "AutoDiagonalNormal", "fullrank": "AutoMultivariateNormal", "lowrank": "AutoLowRankMultivariateNormal",
    "iaf": "AutoIAFNormal", "bnaf": "AutoBNAFNormal",
}  # fmt: skip
FLOWS = ("iaf", "bnaf", "spline")  # the last one is Pyro's alone


def guide_class(algorithm: str) -> Any:
    """The class of an automatic guide."""
    from numpyro.infer import autoguide  # only now: the names alone are asked for often

    return getattr(autoguide, GUIDES[algorithm])
