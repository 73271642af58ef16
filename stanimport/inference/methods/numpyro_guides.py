"""NumPyro's automatic guides, by what `variational` calls them."""
from __future__ import annotations

from numpyro.infer import autoguide

GUIDES = {
    "meanfield": autoguide.AutoDiagonalNormal, "fullrank": autoguide.AutoMultivariateNormal,
    "lowrank": autoguide.AutoLowRankMultivariateNormal, "iaf": autoguide.AutoIAFNormal,
    "bnaf": autoguide.AutoBNAFNormal,
}  # fmt: skip
FLOWS = ("iaf", "bnaf", "spline")  # the last one is Pyro's alone
