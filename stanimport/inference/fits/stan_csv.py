"""CmdStan's CSV files: what `stansummary`, `posterior`, `shinystan` and ArviZ's `from_cmdstan` read, and we read too.

Source: CmdStan Guide, "Stan CSV File Format".
"""
from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from stanlib.dataclass import dataclass
from stanlib.errors import StanDataError
from stanlib.program import Program, Variable

from ...files import as_paths, read_bytes
from ..io.files import atomically
from ..samplers.packed import written_out
from . import columns, integers
from .result import Result
from .stan_configuration import configuration

Array = np.ndarray
_TOGETHER = 2**18  # numbers of the draws that are put side by side at once
_WHOLE = {"treedepth__": np.int64, "n_leapfrog__": np.int64, "divergent__": np.bool_, "path__": np.int64,
          "converged__": np.int64}  # fmt: skip
# By method, CmdStan's columns in front of the variables, in its order, and what they are called here. Readers of files
# of Laplace's method, such as cmdstanr, make `lp__` of `log_p__`: another column of that name is an error.
COLUMNS = {
    "pathfinder": {"lp_approx__": "log_q__", "lp__": "lp__", "path__": "path__"},
    "variational": {"lp__": "lp__", "log_p__": "log_p__", "log_g__": "log_q__"},
    "laplace": {"log_p__": "log_p__", "log_q__": "log_q__"},
}
_OPTIONS = {  # of `sample`: the key in the file
    "iter_sampling": "num_samples", "iter_warmup": "num_warmup", "thin": "thin", "adapt_delta": "delta",
    "max_treedepth": "max_depth", "adapt_engaged": "engaged", "save_warmup": "save_warmup",
}  # fmt: skip


# --- writing -----------------------------------------------------------------------------------------------------


def save(fit: Result, folder: Path, stamp: str, sig_figs: int | None) -> list[Path]:
    """Write one file for each chain of a fit; none is overwritten.

    Raises:
        OSError: for files that are there, or can't be written.
    """
    paths = [folder / f"{fit.program.name}-{stamp}_{i}.csv" for i in fit.chain_ids]
    for path in paths:
        if path.exists():
            raise FileExistsError(17, "the file is there already", str(path))
    folder.mkdir(parents=True, exist_ok=True)
    for chain, path in enumerate(paths):
        lines = _lines(fit, chain, path, sig_figs)
        atomically(path, partial(_write, lines))
    return paths


def _write(lines: Iterator[str], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _lines(fit: Result, chain: int, path: Path, sig_figs: int | None) -> Iterator[str]:
    """The lines of a chain's file: configuration, header, warm-up, adaptation, draws, times, as far as known."""
    yield from _comments(configuration(fit, chain) | {"output": {"file": path.name}})
    now = _written(fit, fit.stats, fit.variables, chain)
    names, order = columns.head(now, axes=fit.axes)
    statistics = [i for i, n in enumerate(names) if n in _WHOLE]
    ints = integers.columns_of(fit.variables, fit.axes)
    whole = [*statistics, *(i for i, n in enumerate(names) if n in ints)]
    yield ",".join(map(name_in_file, names))
    if fit.warmup is not None:
        variables, stats = ({n: part[n] for n in now} for part, now in zip(fit.warmup, (fit.variables, fit.stats)))
        yield from _rows(_written(fit, stats, variables, chain), order, whole, sig_figs)
    is_adapted = fit.method == "sample" and not fit.settings.get("fixed_param")
    if is_adapted and fit.metric is not None and fit.step_size is not None:
        yield from _adaptation(float(fit.step_size[chain]), written_out(fit.metric[chain]))
    if fit.method == "variational":
        yield from ("# Stepsize adaptation complete.", f"# eta = {fit.settings.get('eta', 1)}")
        center = {n: np.asarray(v)[None, None] for n, v in fit.info.get("center", {}).items()}
        if center:
            zeros = {n: np.zeros((1, 1)) for n in fit.stats}
            means = _written(fit, zeros, {n: center[n] for n in fit.variables}, 0)
            yield from _rows(means, order, statistics, sig_figs)
    yield from _rows(now, order, whole, sig_figs)
    yield from _elapsed(fit, chain)


def transcript(fit: Result, chain: int) -> Iterator[str]:
    """What CmdStan prints of a chain before and after it runs: the configuration, and how long it took."""
    for line in (*_comments(configuration(fit, chain)), *_elapsed(fit, chain)):
        yield line.removeprefix("# ")


def _elapsed(fit: Result, chain: int) -> Iterator[str]:
    if fit.times is not None:
        warmup, sampling = (float(t) for t in fit.times[chain])
        yield from ("# ", f"#  Elapsed Time: {warmup:.6g} seconds (Warm-up)",
                    f"#                {sampling:.6g} seconds (Sampling)",
                    f"#                {warmup + sampling:.6g} seconds (Total)", "# ")  # fmt: skip


def _written(
    fit: Result, stats: Mapping[str, Array], variables: Mapping[str, Array], chain: int
) -> dict[str, Array]:  # fmt: skip
    """What a chain's file has columns of, (1, draws, ...), with CmdStan's names of the statistics."""
    wanted = COLUMNS.get(fit.method) or {n: n for n in ([] if fit.method == "generate" else stats)}
    renamed = {new: stats[old] for new, old in wanted.items() if old in stats}
    return {n: v[chain : chain + 1] for n, v in {**renamed, **_with_columns(fit, variables)}.items()}


def _with_columns(fit: Result, variables: Mapping[str, Array]) -> Mapping[str, Array]:
    """The variables that have columns: of generated quantities these alone, as the parameters have a file already."""
    made = {n: v for n, v in variables.items() if n.partition(".")[0] in fit.program.names("generated_quantities")}
    return made if made and fit.method == "generate" else variables


def name_in_file(name: str) -> str:
    """CmdStan's name of a column: `theta.1.2` of `theta[1,2]`."""
    return name.replace("[", ".").replace("]", "").replace(",", ".")


def _rows(
    values: Mapping[str, Array], order: columns.Order, whole: Sequence[int], sig_figs: int | None
) -> Iterator[str]:  # fmt: skip
    """The lines of draws, (1, draws, ...), which has integers in the columns `whole`."""
    count = len(next(iter(values.values()))[0]) if values else 0
    together = max(1, _TOGETHER // max(sum(v[0, :1].size for v in values.values()), 1))
    shown: Callable[[float], str] = repr if sig_figs is None else f"{{:.{sig_figs}g}}".format
    for start in range(0, count, together):
        for row in columns.table({n: v[:, start : start + together] for n, v in values.items()}, order)[0]:
            texts = [*map(shown, row.tolist())]
            for at in whole:
                texts[at] = str(int(row[at]))
            yield ",".join(texts)


def _adaptation(step_size: float, metric: Array) -> Iterator[str]:
    kind = "Diagonal elements of inverse mass matrix:" if metric.ndim == 1 else "Elements of inverse mass matrix:"
    if not metric.size:  # readers take the line behind the other ones for numbers
        kind = "No free parameters"
    yield from ("# Adaptation terminated", f"# Step size = {step_size!r}", f"# {kind}")
    for row in np.atleast_2d(metric) if metric.size else ():
        yield "# " + ", ".join(map(repr, row.tolist()))


def _comments(entries: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    """A nested configuration as CmdStan writes it: a tuple is a choice and what belongs to it."""
    for key, value in entries.items():
        head = "# " + "  " * depth
        if isinstance(value, tuple):
            yield f"{head}{key} = {value[0]}"
            yield f"{head}  {value[0]}"
            yield from _comments(value[1], depth + 2)
        elif isinstance(value, Mapping):
            yield f"{head}{key}"
            yield from _comments(value, depth + 1)
        else:
            yield f"{head}{key} = {str(value).lower() if isinstance(value, bool) else value}"


# --- reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class File:
    """One file: its configuration, header, rows, those in front of the comments on adaptation, and these comments."""

    path: Path
    config: dict[str, str]
    names: list[str]
    values: Array
    comments: list[str]


def read(paths: object, program: Program | None, data: Mapping[str, object]) -> Result:
    """The fit in the files of its chains.

    Args:
        paths: a path, a folder, a pattern, or a list of paths.
        program: whose variables they are; if None, the header tells their names and shapes.
        data: data and transformed data.

    Raises:
        StanDataError: for files that can't be read, or do not belong together.
    """
    files = [_file(p) for p in found(paths)]
    first = files[0]
    for file in files:
        if file.names != first.names or file.config.get("method") != first.config.get("method"):
            raise StanDataError(f"{file.path}: is not of the same model and method as {first.path}")
    method = {"generate_quantities": "generate"}.get(first.config["method"], first.config["method"])
    saved = _saved(first) if method == "sample" else int(method == "variational")
    if method == "optimize":
        saved = len(first.values) - 1  # the steps to the mode
    counts = {len(f.values) for f in files}
    if len(counts) > 1 or method == "sample" and counts != {saved + _expected(first)}:
        raise StanDataError(f"{first.path}: the numbers of draws are not those of the configuration: {sorted(counts)}")
    parts = [_split(first.names, np.stack([f.values[a:b] for f in files]), method, program)
             for a, b in ((0, saved), (saved, None))]  # fmt: skip
    (before, before_stats), (variables, stats) = parts
    chosen = program or _program(first, variables)
    settings, info = _settings(files, method), _info(files, method)
    if method == "variational":
        info["center"] = {n: v[0, 0] for n, v in before.items()}
        if "eta" in first.config:  # what was adapted stands behind the configuration
            settings["eta"] = float(first.config["eta"])
    warmup = (before, before_stats) if method in ("sample", "optimize") and saved else None
    return Result(chosen, method, variables, stats, data, settings, info, warmup=warmup)


def found(paths: Any) -> list[Path]:
    """The files meant, in the order of their chains where a folder or pattern is given."""
    paths = as_paths(paths)
    if isinstance(paths, (list, tuple)):
        found = [Path(p) for p in paths]
    elif os.path.isdir(paths):
        found = sorted(Path(paths).glob("*.csv"), key=_number)
    elif "*" in os.fspath(paths):
        found = sorted(map(Path, glob.glob(os.fspath(paths))), key=_number)
    else:
        found = [Path(paths)]
    if not found:
        raise StanDataError(f"{paths}: there are no CSV files")
    places = [p.resolve() for p in found]
    for path, place in zip(found, places):
        if places.count(place) > 1:
            raise StanDataError(f"{path}: is given twice: each file is one chain")
    return found


def _number(path: Path) -> tuple[str, int]:
    head, _, tail = path.stem.replace("-", "_").rpartition("_")
    return head, int(tail) if tail.isdigit() else 0


def _file(path: Path) -> File:
    """One file, taken apart.

    Raises:
        StanDataError: for a file that can't be read, or is none of CmdStan's.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise StanDataError(f"{path}: can't be read: {e}") from None
    lines = text.splitlines()
    if text and not text.endswith(("\n", "\r")) and not lines[-1].startswith("#"):  # a number may lack digits
        raise StanDataError(f"{path}: ends in the middle of a line: it was cut, or is being written still")
    comments = [line[1:].strip() for line in lines if line.startswith("#")]
    rows = [line for line in lines if line and not line.startswith("#")]
    config = dict(_entries(comments))
    if "method" not in config or not rows:
        raise StanDataError(f"{path}: is no CSV file of CmdStan's: it has no configuration, or no header")
    names = rows[0].split(",")
    try:
        values = np.array([[float(v) for v in row.split(",")] for row in rows[1:]]).reshape(-1, len(names))
        if any(row.count(",") != len(names) - 1 for row in rows[1:]):
            raise ValueError("its rows differ in length")
    except ValueError as e:
        raise StanDataError(f"{path}: is no readable CSV file of CmdStan's: {e}") from None
    return File(path, config, names, values, comments)


def _entries(comments: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in comments:
        key, is_entry, value = line.partition("=")
        if is_entry:
            yield key.strip(), value.replace("(Default)", "").strip()


def _flag(text: str) -> bool:
    return text in ("1", "true")


def _saved(file: File) -> int:
    thin = int(file.config.get("thin", 1))
    return -(-int(file.config["num_warmup"]) // thin) if _flag(file.config.get("save_warmup", "0")) else 0


def _expected(file: File) -> int:
    return -(-int(file.config["num_samples"]) // int(file.config.get("thin", 1)))


def _split(
    names: Sequence[str], values: Array, method: str, program: Program | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Variables and statistics, from values (chains, draws, columns)."""
    renamed = COLUMNS.get(method, {})
    stats: dict[str, Array] = {}
    for i, name in enumerate(names):
        if name.endswith("__"):
            stats[renamed.get(name, name)] = values[:, :, i].astype(_WHOLE.get(name, float))
    own = [(n, i) for i, n in enumerate(names) if not n.endswith("__")]
    variables = columns.arrays_of([n for n, _ in own], values[:, :, [i for _, i in own]])
    return variables if program is None else integers.declared(program, variables), _completed(stats, method)


def _completed(stats: dict[str, Array], method: str) -> dict[str, Array]:
    """The statistics as fits have them, where files have the log density under one of its two names alone."""
    if method not in COLUMNS or not {"lp__", "log_p__"} & stats.keys():
        return stats
    density = stats["log_p__" if "log_p__" in stats else "lp__"]
    return {"lp__": density, "log_p__": density, **stats}


def _program(file: File, variables: Mapping[str, Array]) -> Program:
    """What the header tells of the program: names and shapes of variables."""
    roots: dict[str, list[str]] = {}
    for name in variables:
        roots.setdefault(name.partition(".")[0], []).append(name)
    axes = columns.axes_of(file.names)
    made = tuple(_variable(root, leaves, variables, axes) for root, leaves in roots.items())
    name = file.config.get("model", file.path.stem).removesuffix("_model")
    return Program(name, str(file.path), "numpyro", "mixed", parameters=made)


def _variable(
    name: str, leaves: Sequence[str], variables: Mapping[str, Array], axes: Mapping[str, int], path: str = ""
) -> Variable:  # fmt: skip
    path = path or name
    if path in leaves:
        return Variable(name, "", tuple(map(str, variables[path].shape[2:])))
    numbers = dict.fromkeys(leaf[len(path) + 1 :].partition(".")[0] for leaf in leaves if leaf.startswith(f"{path}."))
    items = tuple(_variable(n, leaves, variables, axes, f"{path}.{n}") for n in numbers)
    return Variable(name, f"array[{',' * (axes[path] - 1)}] tuple" if axes[path] else "tuple", items=items)


def _settings(files: Sequence[File], method: str) -> dict[str, Any]:
    """The seed and the method's options, as the first file's configuration tells them, and the numbers of chains."""
    config = files[0].config
    seed = config.get("seed", "0").split()
    settings: dict[str, Any] = {"seed": int(seed[0]) if seed and seed[0].isdigit() else 0}
    if method == "optimize":
        settings["jacobian"] = _flag(config.get("jacobian", "0"))
    if method == "pathfinder":
        is_resampled = all(_flag(config.get(n, "1")) for n in ("psis_resample", "calculate_lp"))
        settings |= {"num_paths": int(config.get("num_paths", 4)), "psis_resample": is_resampled}
    if method != "sample":
        return settings
    numbers = [int(f.config.get("id", "0")) for f in files]
    are_told = 0 not in numbers and len(set(numbers)) == len(files)
    settings["chain_ids"] = numbers if are_told else [*range(1, len(files) + 1)]
    if "metric" in config:
        settings["metric"] = config["metric"]
    for name, key in _OPTIONS.items():
        text = config.get(key)
        if text is not None:
            is_flag = name in ("adapt_engaged", "save_warmup")
            settings[name] = _flag(text) if is_flag else float(text) if "delta" in name else int(text)
    return settings | {"chains": len(files), "fixed_param": "fixed_param" in config.get("algorithm", "")}


def _info(files: Sequence[File], method: str) -> dict[str, Any]:
    """Step sizes, metrics and times, where the comments tell them."""
    if method == "optimize":
        told = [f.values[-1, f.names.index("converged__")] for f in files if "converged__" in f.names]  # since 2.39
        return {"converged": all(map(bool, told))}
    if method != "sample":
        return {}
    found: dict[str, list[Any]] = {"step_size": [], "metric": [], "times": []}
    for file in files:
        for name, value in _results(file.comments):
            found[name].append(value)
    return {n: np.stack(v) for n, v in found.items() if len(v) == len(files)}


def _results(comments: Sequence[str]) -> Iterator[tuple[str, object]]:
    """What comments tell of a chain, by name: step size, metric, (size,) or (size, size), and seconds, (2,)."""
    seconds = []
    for i, line in enumerate(comments):
        if line.startswith("Step size ="):
            yield "step_size", float(line.partition("=")[2])
        elif "inverse mass matrix" in line:
            rows = []
            for after in comments[i + 1 :]:
                if not after or "Elapsed" in after:
                    break
                rows.append([float(v) for v in after.split(",")])
            if rows:  # none where there are no parameters
                yield "metric", np.asarray(rows[0] if line.startswith("Diagonal") else rows)
        elif "seconds (" in line:
            seconds.append(float(line.partition(":")[2].split()[0] if ":" in line else line.split()[0]))
    if len(seconds) >= 2:
        yield "times", np.asarray(seconds[:2])


def timestamp() -> str:
    """The time now, as names of files tell it."""
    return time.strftime("%Y%m%d%H%M%S")
