"""What the draws say of the sampler and of convergence, in CmdStan's terms, with advice.

Source: the thresholds are those of CmdStan's `diagnose` (CmdStan Guide, "Diagnosing Biased Hamiltonian Monte Carlo
Inferences").
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from . import columns, statistics

if TYPE_CHECKING:
    from .result import Result
    from .summary import Table

__all__ = ["Diagnosis"]
LEAST_EBFMI = 0.3
MOST_RHAT = 1.01
BAD_RHAT = 1.05  # from here on draws are not to be used
LEAST_ESS = 100  # for each chain
LEAST_DRAWS = 4  # of each chain, for statistics of its halves


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """The problems of a fit; `str` is the report.

    Attributes:
        transitions, divergent, saturated: how many there are, diverged, reached the maximum tree depth.
        max_treedepth: that depth.
        ebfmi: of each chain.
        high_rhat, low_ess: columns whose R-hat is above 1.01 or not defined, or whose bulk or tail ESS is below 100
            for each chain, with the value.
        problems: one paragraph for each problem, with advice; none if all is well.
    """

    transitions: int = 0
    divergent: int = 0
    saturated: int = 0
    max_treedepth: int = 0
    ebfmi: tuple[float, ...] = ()
    high_rhat: Mapping[str, float] = field(default_factory=dict)
    low_ess: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problems

    def _repr_html_(self) -> str:
        return "\n".join(f"<p>{escape(p)}</p>" for p in self.problems or (str(self),))

    def __repr__(self) -> str:
        return str(self)  # for a prompt

    def __str__(self) -> str:
        if self.ok:
            return "No problems: no divergences, tree depth, E-BFMI, effective sample sizes and R-hat are satisfactory."
        return "\n\n".join(self.problems)


def diagnose(fit: Result, known: Table | None = None) -> Diagnosis:
    """The diagnosis of a fit by `sample`; of another method's fit there is nothing to say.

    Args:
        known: the table of the fit, if it was made already: its effective sample sizes and R-hat are the diagnosis's.

    Raises:
        ValueError: for a fit whose draws are not Markov chains.
    """
    if fit.method != "sample":
        raise ValueError(f"only draws of Markov chains can be diagnosed, not those of {fit.method}")
    divergences, depths, energy = fit.divergences, fit.max_treedepths, fit.stats.get("energy__")
    rhat, ess = _convergence(fit, known)
    found = Diagnosis(
        transitions=fit.num_draws, divergent=0 if divergences is None else int(divergences.sum()),
        saturated=0 if depths is None else int(depths.sum()), max_treedepth=int(fit.settings.get("max_treedepth", 0)),
        ebfmi=() if energy is None or energy.shape[1] < 2 else tuple(statistics.ebfmi(energy).tolist()),
        high_rhat=rhat, low_ess=ess,
    )  # fmt: skip
    return Diagnosis(**{**found.__dict__, "problems": tuple(filter(None, _problems(found, fit)))})


def _convergence(fit: Result, known: Table | None) -> tuple[dict[str, float], dict[str, float]]:
    """Columns with a high R-hat, and columns with a low effective sample size; constant ones are left out."""
    drawn = {n: v for n, v in fit.variables.items() if v.dtype.kind != "b"}
    names, order = columns.head(drawn, fit.labels, fit.axes)
    if not names or fit.draws_per_chain < LEAST_DRAWS:
        return {}, {}
    rows = {} if known is None else {name: i for i, name in enumerate(known.names)}
    if known is not None and len(rows) == len(known.names):  # labels may be given twice
        varies = columns.reduced(drawn, order, _variation)["varies"]
        rhat, bulk, tail = (known.columns[h][[rows[n] for n in names]] for h in ("R_hat", "ESS_bulk", "ESS_tail"))
    else:
        varies, rhat, bulk, tail = columns.reduced(drawn, order, _quality).values()
    ess, enough = np.fmin(bulk, tail), LEAST_ESS * fit.chains
    bad_rhat = varies & ~(rhat <= MOST_RHAT)
    bad_ess = varies & (ess < enough)
    return ({names[i]: float(rhat[i]) for i in np.flatnonzero(bad_rhat)},
            {names[i]: float(ess[i]) for i in np.flatnonzero(bad_ess)})  # fmt: skip


def _variation(values: np.ndarray) -> dict[str, np.ndarray]:
    """Which columns of (chains, draws, columns) are not constant."""
    with np.errstate(invalid="ignore"):  # of infinite values
        return {"varies": np.ptp(values, axis=(0, 1)) != 0}


def _quality(values: np.ndarray) -> dict[str, np.ndarray]:
    """These, and the statistics of convergence of all."""
    rhat, bulk = statistics.rhat_and_ess_bulk(values)
    return {**_variation(values), "rhat": rhat, "bulk": bulk, "tail": statistics.ess_tail(values)}


def _problems(d: Diagnosis, fit: Result) -> list[str]:
    return [
        _few_draws(fit), _divergences(d, fit), _depth(d), _energy(d),
        _columns("Rank-normalized split R-hat is above 1.01 for", d.high_rhat, _mixing(d)),
        _columns(f"The effective sample size is below {LEAST_ESS} per chain for", d.low_ess,
                 "Means and quantiles of these are imprecise: run more iterations, or reparameterize."),
    ]  # fmt: skip


def _few_draws(fit: Result) -> str:
    """That chains are too short for the statistics of convergence, if they are; draws by fixed parameters need none."""
    if fit.draws_per_chain >= LEAST_DRAWS or fit.settings.get("fixed_param") or not fit.program.parameters:
        return ""
    if not fit.draws_per_chain:
        return "There are no draws, so that nothing can be said of them."
    return (
        f"{fit.draws_per_chain} draws of each chain are too few to tell whether the chains have mixed: R-hat and "
        f"effective sample sizes take {LEAST_DRAWS} or more. Run more iterations."
    )


def _mixing(d: Diagnosis) -> str:
    """Advice by how far the chains are from each other; R-hat is NaN where one did not move."""
    if all(v < BAD_RHAT for v in d.high_rhat.values()):
        return "The chains have not quite mixed: run more iterations."
    return (
        "The chains have not mixed: do not use these draws. Run more iterations, reparameterize, or look for several "
        "modes and for parameters that the data do not identify."
    )


def _share(count: int, total: int) -> str:
    return f"{count} of {total} transitions ({100 * count / max(total, 1):.1f}%)"


def _divergences(d: Diagnosis, fit: Result) -> str:
    """What divergent transitions say of the draws, with advice; nothing if there are none."""
    if not d.divergent:
        return ""
    if d.divergent == d.transitions:
        return (
            f"All {d.transitions} transitions diverged: these are no draws from the posterior. The density or its "
            "gradient breaks down where the chains are: check the model's constraints and scales, and try other inits."
        )
    delta = fit.settings.get("adapt_delta", 0.8)
    return (
        f"{_share(d.divergent, d.transitions)} diverged: the sampler could not follow the posterior's curvature, and "
        f"the draws may be biased. Increase adapt_delta (now {delta:g}); if that does not help, reparameterize, for "
        "example with standardized (non-centered) effects."
    )


def _depth(d: Diagnosis) -> str:
    if not d.saturated:
        return ""
    return (
        f"{_share(d.saturated, d.transitions)} reached the maximum tree depth {d.max_treedepth}: trajectories were cut "
        "short, which costs time and not validity. Increase max_treedepth, or rescale the parameters."
    )


def _energy(d: Diagnosis) -> str:
    low = [i + 1 for i, v in enumerate(d.ebfmi) if v < LEAST_EBFMI]
    if not low:
        return ""
    values = ", ".join(f"{d.ebfmi[i - 1]:.2f}" for i in low)
    return (
        f"E-BFMI is below {LEAST_EBFMI} in chain {', '.join(map(str, low))} ({values}): the sampler moves slowly "
        "between levels of energy, and may miss the tails. Reparameterize, above all scales of hierarchies."
    )


def _columns(what: str, found: Mapping[str, float], advice: str) -> str:
    if not found:
        return ""
    shown = ", ".join(f"{n} ({v:.3g})" for n, v in list(found.items())[:10])
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    return f"{what} {shown}{more}. {advice}"
