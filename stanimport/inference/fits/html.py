"""What notebooks show of a fit: its table, what is wrong with it, and small plots of traces and ranks, as SVG."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from . import columns
from .diagnosis import diagnose
from .summary import Table, table

if TYPE_CHECKING:
    from .result import Result

ROWS, PLOTS = 20, 4  # of the table; components with plots
WIDTH, HEIGHT, BINS = 220, 44, 20
_COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def of_fit(fit: Result) -> str:
    """A fit as HTML."""
    is_chain = fit.method in ("sample", "generate") and fit.draws_per_chain > 1
    title = f"{escape(fit.program.name)}: {fit.method}, {fit.chains} &times; {fit.draws_per_chain} draws"
    shown = table(fit)
    parts = [f"<p><b>{title}</b></p>", _table(shown)]
    if fit.method == "sample" and fit.draws_per_chain:
        parts.append(diagnose(fit, shown)._repr_html_())
    if is_chain:
        parts.append(_plots(fit))
    return "\n".join(parts)


def of_predictions(title: str, drawn: Mapping[str, np.ndarray], failures: Mapping[str, str]) -> str:
    """Predictions as HTML: their means, standard deviations and quantiles, and why variables are not among them."""
    names, values = columns.flatten(drawn)
    values = columns.of_all_chains(values)
    head = ["Mean", "StdDev", "5%", "50%", "95%"]
    rows = []
    for name, v in list(zip(names, values.T))[:ROWS]:
        numbers = (np.mean(v), np.std(v, ddof=1) if len(v) > 1 else np.nan, *np.quantile(v, (0.05, 0.5, 0.95)))
        rows.append([name, *(f"{x:.3g}" for x in numbers)])
    failed = "".join(f"<p>{escape(n)} can't be replicated: {escape(why)}</p>" for n, why in failures.items())
    return f"<p><b>{escape(title)}</b></p>\n{_as_table(head, rows, len(names))}{failed}"


def _table(shown: Table) -> str:
    return _as_table(list(shown.columns), shown.cells()[:ROWS], len(shown.names))


def _as_table(heads: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """A table of the first of so many rows."""
    head = "".join(f"<th>{escape(h)}</th>" for h in ("", *heads))
    body = "\n".join("<tr>" + _row(row) + "</tr>" for row in rows)
    more = count - len(rows)
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>{rest}"


def _row(row: Sequence[str]) -> str:
    return f"<th>{escape(row[0])}</th>" + "".join(f"<td>{escape(c)}</td>" for c in row[1:])


def _plots(fit: Result) -> str:
    """Traces and ranks of the first components of the parameters that vary."""
    own = set(fit.program.names("parameters")) or {n.partition(".")[0] for n in fit.variables}
    shown = {n: v for n, v in fit.variables.items() if n.partition(".")[0] in own}
    names, values = columns.flatten(shown, fit.labels)
    varying = [i for i in range(len(names)) if np.ptp(values[..., i]) > 0 and np.isfinite(values[..., i]).all()]
    rows = [f"<tr><th>{escape(names[i])}</th><td>{_traces(values[..., i])}</td><td>{_ranks(values[..., i])}</td></tr>"
            for i in varying[:PLOTS]]  # fmt: skip
    if not rows:
        return ""
    head = "<tr><th></th><th>traces</th><th>ranks</th></tr>"
    return f"<table><thead>{head}</thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table>"


def _traces(draws: np.ndarray) -> str:
    """A line for each chain of draws (chains, draws), of which at most some hundred are shown."""
    step = max(1, draws.shape[1] // WIDTH)
    shown = draws[:, ::step]
    low, high = shown.min(), shown.max()
    y = HEIGHT - 2 - (HEIGHT - 4) * (shown - low) / max(high - low, 1e-300)
    x = np.linspace(0, WIDTH, shown.shape[1])
    return _svg([_line(i, x, row) for i, row in enumerate(y)])


def _ranks(draws: np.ndarray) -> str:
    """The histogram of each chain's ranks among all draws: even where the chains have mixed."""
    ranks = np.argsort(np.argsort(draws, axis=None)).reshape(draws.shape)
    edges = np.linspace(0, draws.size, BINS + 1)
    counts = np.stack([np.histogram(row, edges)[0] for row in ranks])
    lines, band = [], HEIGHT / len(draws)
    for i, row in enumerate(counts):
        y = (i + 1) * band - (band - 1) * row / max(counts.max(), 1)
        x = np.repeat(np.linspace(0, WIDTH, BINS + 1), 2)[1:-1]
        lines.append(_line(i, x, np.repeat(y, 2)))
    return _svg(lines)


def _line(chain: int, x: np.ndarray, y: np.ndarray) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y))
    color = _COLORS[chain % len(_COLORS)]
    return f'<polyline fill="none" stroke-width="0.7" stroke="{color}" points="{points}"/>'


def _svg(lines: Sequence[str]) -> str:
    return f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(lines)}</svg>'
