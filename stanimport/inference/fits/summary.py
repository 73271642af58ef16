"""The table of a fit: one row per column of the draws, in CmdStan's terms."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stanlib.dataclass import dataclass
from stanlib.extras import require

from .. import options
from . import columns, statistics

if TYPE_CHECKING:
    from .result import Result


@dataclass(frozen=True)
class Table:
    """Rows of numbers with names.

    Attributes:
        names: of the rows.
        columns: the numbers of each column, by its heading.
    """

    names: list[str]
    columns: dict[str, np.ndarray]

    def frame(self, sig_figs: int | None = None) -> Any:
        """As a pandas DataFrame."""
        require("pandas", extra="inference")
        import pandas

        rounded = {k: v if sig_figs is None else _significant(v, sig_figs) for k, v in self.columns.items()}
        return pandas.DataFrame(rounded, index=self.names)

    def cells(self) -> list[list[str]]:
        """The rows as texts, their names first."""
        return [[name, *(_cell(h, v[i]) for h, v in self.columns.items())] for i, name in enumerate(self.names)]

    def text(self, limit: int | None = None) -> str:
        """As lines for a terminal; rows beyond the limit are counted."""
        cells = self.cells()
        shown = cells if limit is None else cells[:limit]
        rows = [["", *self.columns], *shown]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip()
            for row in rows
        ]
        if len(shown) < len(cells):
            lines.append(f"... and {len(cells) - len(shown)} more")
        return "\n".join(lines)


def table(
    fit: Result, percentiles: Sequence[float] = (5, 50, 95), vars: Sequence[str] | str | None = None
) -> Table:  # fmt: skip
    """Mean, standard error, deviations, quantiles, effective sample sizes and R-hat of lp__ and all variables.

    The effective sample size per second is that for the time of all chains after warm-up, where it is known. Rows are
    called by the coordinates of dimensions that have names. What comes from independent draws (Pathfinder, Laplace, a
    guide) has no effective sample sizes and R-hat. `vars` chooses rows, as for `draws_pd`.
    """
    percentiles = np.ravel(percentiles).tolist()
    if not all(isinstance(p, (int, float)) and 0 <= p <= 100 for p in percentiles):
        raise options.OptionError(f"percentiles must be numbers from 0 to 100, not {percentiles}")
    stats = {n: v for n, v in fit.stats.items() if n == "lp__"}
    wanted = [vars] if isinstance(vars, str) else vars
    roots = None if wanted is None else {columns.root(name) for name in wanted}
    values = {n: v for n, v in {**stats, **fit.variables}.items() if roots is None or columns.root(n) in roots}
    names, order = columns.head(values, fit.labels, fit.axes)
    is_chain = fit.method in ("sample", "generate")
    seconds = 0.0 if fit.method != "sample" or fit.times is None else float(np.sum(fit.times[:, 1]))
    made = Table(names, columns.reduced(values, order, lambda part: numbers(part, percentiles, is_chain, seconds)))
    if wanted is None:
        return made
    rows = columns.belonging(wanted, names, [*stats, *fit.variables])
    return Table([names[i] for i in rows], {heading: v[rows] for heading, v in made.columns.items()})


def numbers(
    values: np.ndarray, percentiles: Sequence[float], is_chain: bool = True, seconds: float = 0.0
) -> dict[str, np.ndarray]:
    """The columns of the table for draws (chains, draws, columns), which took so many seconds, if that is known."""
    if not values.size:
        return {}
    if values.shape[0] * values.shape[1] == 1:
        return {"Value": values[0, 0]}
    flat = values.reshape(-1, values.shape[-1])
    with np.errstate(all="ignore"):
        middle = np.median(flat, axis=0)
        head = {"Mean": flat.mean(axis=0)}
        spread = {"StdDev": flat.std(axis=0, ddof=1), "MAD": 1.4826 * np.median(np.abs(flat - middle), axis=0)}
        found = np.quantile(flat, np.divide(percentiles, 100), axis=0)
        quantiles = {f"{p:g}%": q for p, q in zip(percentiles, found)}
        if not is_chain:
            return {**head, **spread, **quantiles}
        rhat, bulk = statistics.rhat_and_ess_bulk(values)
        quality = {"ESS_bulk": bulk, "ESS_tail": statistics.ess_tail(values)}
        quality |= {"ESS_bulk/s": bulk / seconds} if seconds > 0 else {}
        quality["R_hat"] = rhat
        return {**head, "MCSE": statistics.mcse_mean(values), **spread, **quantiles, **quality}


def _significant(values: np.ndarray, digits: int) -> np.ndarray:
    return np.asarray([float(f"{v:.{digits}g}") for v in values])


def _cell(heading: str, value: float) -> str:
    if not np.isfinite(value):
        return str(value)
    if heading.startswith("ESS"):
        return f"{value:.0f}"
    if heading == "R_hat":
        return f"{value:.3f}"
    return f"{value:.3g}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"
