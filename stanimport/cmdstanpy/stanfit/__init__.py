"""CmdStanPy's results, each around a `Fit`, which is its attribute `fit`."""
from __future__ import annotations

from ...inference.fits import stan_csv
from ...inference.fits.fit import Fit
from ..folders import ready
from .approximations import CmdStanLaplace, CmdStanMLE, CmdStanPathfinder, CmdStanVB
from .base import CmdStanFit, InferenceMetadata, Shape  # noqa: F401
from .chains import CmdStanGQ, CmdStanMCMC

KINDS: dict[str, type[CmdStanFit]] = {
    "sample": CmdStanMCMC, "optimize": CmdStanMLE, "variational": CmdStanVB, "laplace": CmdStanLaplace,
    "pathfinder": CmdStanPathfinder, "generate": CmdStanGQ,
}  # fmt: skip


def saved(fit: Fit, folder: object, sig_figs: int | None, profiles: bool = False) -> None:
    """Write the files of a fit where `output_dir` asks for them, with the times of its `profile` blocks."""
    if (folder := ready(folder)) is not None:
        stamp = stan_csv.timestamp()
        stan_csv.save(fit, folder, stamp, sig_figs)
        if profiles:
            for chain, rows in fit.profiles().groupby("thread_id"):
                rows.to_csv(folder / f"{fit.program.name}-{stamp}-profile_{chain}.csv", index=False)
