"""Programs from the wild: `python -m tests.wild FOLDER [--stanc PATH ...]` tries every Stan program below a folder.

What a stanc accepts must be translated, for both backends, by the mixed and the comprehensive scheme. On the data
beside it, or else on mock data that stanc makes, or on tamer ones where Stan has no density for these, log density
and gradient of each translation must be Stan's at two points, by stanli; where that can't run the program, or
differs, those of the program evaluated statement by statement. Transformed parameters and generated quantities must
be stanli's at one point, but for those that are random. Programs stand alone: one process for each, of limited time.
What falls short is printed, then the counts.

With `--translate` nothing is computed: what isn't translated is printed, and whether all the stancs refuse it too.
"""
from __future__ import annotations

import argparse
import collections
import hashlib
import importlib
import importlib.util
import json
import multiprocessing
import re
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np

import stanimport
from stanimport.inference import read_data, tuples
from stanlib.errors import StanError

from . import wild_data, wild_variables
from .random_programs.referee.containers import Unable
from .random_programs.referee.ours import stan_order
from .wild_referees import Densities, by_stan, is_finite, points_of, statement_by_statement

RELATIVE = 1e-5  # of ill-conditioned covariances and solvers, too
SUFFIXES = (".json", ".data.json", ".data.R", ".Rdump", ".dump.R")
PRELOADED = ("torch", "stanlib.ppl.numpyro", "stanlib.ppl.pyro")  # or every process would for itself
SHOWN = (
    "differs", "accepted", "variables differ", "equal, stanli alone differs", "fails", "crashes", "no answer in time",
    "refused, by stanc too",
)  # fmt: skip
RANDOM_DATA = re.compile(r"^transformed data \{(?:(?!^\}).)*_rng\(", re.MULTILINE | re.DOTALL)  # as stanc prints it
KEYWORD = re.compile(r"\bjacobian\b(?! \+=)")  # since stanc 2.35, which stanli has
DATA = re.compile(r"^data \{.*?^\}", re.MULTILINE | re.DOTALL)
LONE = re.compile(r"^  int(?:<lower=[^<>=,;]*>)? (?=(\w+);$)", re.MULTILINE)  # a whole number, as stanc prints it
INCLUDED = re.compile(r'^\s*#include\s+[<"]?([^\s>"]+)', re.MULTILINE)


def include_paths(program: Path, root: Path) -> list[Path]:
    """The program's folder and those above it in which one of its includes lies."""
    names = INCLUDED.findall(program.read_text(errors="replace"))
    above = [p for p in program.parents if p.is_relative_to(root)]
    folders = [f for p in above for f in (p, p / "include", p / "chunks", p / "functions") if f.is_dir()]
    found = [f for f in folders if any((f / n.lstrip("/")).is_file() for n in names)]
    return found or [program.parent]


def canonical(program: Path, paths: list[Path], stancs: list[str]) -> str | None:
    """The program in today's Stan, without includes, as the first stanc that accepts it prints it: as it stands, or
    else without what Stan has removed since, as our `format` writes it."""
    as_it_stands = _printed(program, paths, stancs)
    if as_it_stands is not None:
        return as_it_stands
    try:
        upgraded = stanimport.format(program, canonicalize=True, include_paths=paths)
    except StanError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "program.stan")
        copy.write_text(upgraded)
        return _printed(copy, paths, stancs)


def _printed(program: Path, paths: list[Path], stancs: list[str]) -> str | None:
    for stanc in stancs:
        command = [stanc, "--print-canonical", f"--include-paths={','.join(map(str, paths))}", str(program)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return KEYWORD.sub("jacobian_", run.stdout)
    return None


def data_for(program: Path, text: str, stanc: str) -> dict | None:
    """Data for which Stan gives a density, if any are found: those beside a program, mock data, or tamed ones."""
    given = [d for d in (_beside(program), _mock(text, stanc), _mock(_even(text), stanc)) if d is not None]
    finite = is_finite(text)
    found = next((d for d in given if finite(d)), None)
    if found is None:
        found = next((d for d in (wild_data.tamed(d, finite) for d in given) if d is not None), None)
    return found or (given[-1] if given else None)


def _beside(program: Path) -> dict | None:
    """The numbers beside a program; R's dumps may hold text, too."""
    path = next((p for p in (program.with_suffix(s) for s in SUFFIXES) if p.is_file()), None)
    read = read_data(path) if path else None
    return read and {n: v for n, v in read.items() if getattr(v, "dtype", np.dtype(float)).kind not in "OSU"}


def _even(text: str) -> str:
    """The program with whole numbers in its data that go together, but for bounded ones: sizes are 4, others 1."""
    data = DATA.search(text)
    if data is None:
        return text

    def one(lone: re.Match[str]) -> str:
        is_size = re.search(rf"\[[^\]]*\b{lone[1]}\b", data[0])
        return f"  int<lower={4 if is_size else 1}, upper={4 if is_size else 1}> "

    return text.replace(data[0], LONE.sub(one, data[0]))


def _mock(text: str, stanc: str) -> dict | None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "program.stan")
        copy.write_text(text)
        run = subprocess.run([stanc, "--debug-generate-data", str(copy)], capture_output=True, text=True, check=False)
    return json.loads(run.stdout or "{}") if run.returncode == 0 else None


def densities(module, backend: str, data: dict, points: list[np.ndarray] | None) -> list[tuple[float, np.ndarray]]:
    """Log density and gradient at Stan's unconstrained points, or at some of ours."""
    if backend == "numpyro":
        from stanimport.inference import LogProb

        density = LogProb(module, data)
        order = stan_order(module.stan.parameters, density.posterior.shapes)
        found = [density.at(p[order]) for p in points or points_of(len(order))]
    else:
        found, order = _on_torch(module, data, points)
    return [(float(f[0]), _back(np.asarray(f[1]), order)) for f in found]


def _back(gradient: np.ndarray, order: np.ndarray) -> np.ndarray:
    out = np.empty(len(order))
    out[order] = gradient
    return out


def _on_torch(module, data: dict, points: list[np.ndarray] | None):
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    torch.set_default_dtype(torch.float64)
    density, found = Density(module, data), []
    leaves = tuples.leaf_names(module.stan.parameters)
    names = [part for n in leaves for part in (n, f"{n}.real", f"{n}.imag") if part in density.shapes]
    density.shapes = {n: density.shapes[n] for n in names}
    order = stan_order(module.stan.parameters, density.shapes)
    for p in points or points_of(len(order)):
        at = torch.tensor(p[order], requires_grad=True)
        value = density(at)
        depends = len(p) and value.requires_grad  # a flat density does not
        found.append((value.item(), torch.autograd.grad(value, at)[0].numpy() if depends else np.zeros(len(p))))
    return found, order


def compared(program: Path, root: Path, stancs: list[str]) -> tuple[str, str]:
    """How a program fares, and why."""
    paths = include_paths(program, root)
    text = canonical(program, paths, stancs)
    if text is None:
        return "refused by stanc", ""
    schemes = [(b, s) for b in ("numpyro", "pyro") for s in ("comprehensive", "mixed")]
    modules = {(b, s): stanimport.load(program, backend=b, scheme=s, include_paths=paths) for b, s in schemes}
    if RANDOM_DATA.search(text):
        return "translated, its transformed data are random", ""
    data = data_for(program, text, stancs[0])
    if data is None:
        return "translated, no data", ""
    try:
        points, stans = by_stan(text, data)
    except (RuntimeError, Unable) as e:
        try:
            points, stans = statement_by_statement(text, data)
        except (Unable, StanError, RecursionError, ValueError) as other:  # the last of data of other sizes
            return refused_too(modules, data, f"{e} | {other}")
    ours = {f"{b}, {s}": densities(m, b, data, points) for (b, s), m in modules.items()}
    found = difference(ours, stans)
    if found:  # stanli has faults of its own
        try:
            _, others = statement_by_statement(text, data)
        except (Unable, StanError, RecursionError):
            return "differs", found
        return ("differs", found) if difference(ours, others) else ("equal, stanli alone differs", found)
    others = wild_variables.difference(text, data, points[0])
    return ("variables differ", others) if others else ("equal", "")


def refused_too(modules: dict, data: dict, why: str) -> tuple[str, str]:
    """How a program fares that the others reject for its data: no number may come out, and no error but ours."""
    for (backend, scheme), module in modules.items():
        try:
            found = densities(module, backend, data, None)
        except StanError:
            continue
        if any(np.isfinite(value) for value, _ in found):
            return "accepted", f"{backend}, {scheme}: {[value for value, _ in found]}, where {why}"
    return "rejected by all", why


def difference(ours: dict[str, list[tuple[float, np.ndarray]]], stans: Densities) -> str:
    """How densities and gradients differ, nothing if they don't."""
    along = stans[0][2]
    for backend, given in ours.items():
        known = [(a, b) for a, b in zip(given, stans) if np.isfinite(a[0]) or np.isfinite(b[0])]  # else both refuse
        if not known:
            continue
        rises = [np.subtract(x[-1][0], x[0][0]) for x in zip(*known)]  # Stan's value lacks constants
        finite = [(a, b) for a, b in known if np.isfinite(b[0])]
        slopes = [(along @ a[1], b[1], np.abs(a[1]).max(initial=0.0)) for a, b in finite]
        pairs = [(rises[0], rises[1], abs(known[0][1][0])), *(s for s in slopes if np.isfinite(s[1]).all())]
        for a, b, scale in pairs:
            most = max(scale, np.abs(b).max(initial=1e-3))
            near = np.abs(np.subtract(a, b)) <= RELATIVE * most
            if not (near | np.equal(a, b) | (np.isnan(a) & np.isnan(b))).all():
                return f"{backend}: {np.ravel(a)[:3]} for {np.ravel(b)[:3]}"
    return ""


def translated(program: Path, root: Path, stancs: list[str]) -> tuple[str, str]:
    """Whether a program is translated by both schemes, for both backends, and why not."""
    paths = include_paths(program, root)
    try:
        for backend in ("numpyro", "pyro"):
            for scheme in ("comprehensive", "mixed"):
                stanimport.load(program, backend=backend, scheme=scheme, include_paths=paths)
    except StanError as e:
        reason = str(e).partition("\n")[0]
        return ("fails" if canonical(program, paths, stancs) is not None else "refused, by stanc too"), reason
    return "translated", ""


def _alone(send, what, program: Path, root: Path, stancs: list[str]) -> None:
    warnings.simplefilter("ignore")
    try:
        send.send(what(program, root, stancs))
    except Exception as e:
        send.send(("fails", f"{type(e).__name__}: {e}".partition("\n")[0]))


def outcome(what, program: Path, root: Path, stancs: list[str], limit: float) -> tuple[str, str]:
    receive, send = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=_alone, args=(send, what, program, root, stancs))
    process.start()
    send.close()
    try:
        return receive.recv() if receive.poll(limit) else ("no answer in time", "")
    except EOFError:
        return "crashes", ""
    finally:
        process.kill()
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stanc", action="append", default=[], help="a stanc, the newest first")
    parser.add_argument("--limit", type=float, default=90, help="seconds for one program")
    parser.add_argument("--translate", action="store_true", help="translate only")
    parser.add_argument("--all", action="store_true", help="print how every program fares")
    options = parser.parse_args()
    programs = sorted(options.folder.rglob("*.stan"))
    if not programs or importlib.util.find_spec("stanli") is None:
        raise SystemExit(f"skipped: no programs in {options.folder}, or no stanli")
    httpstan = importlib.util.find_spec("httpstan")
    stancs = options.stanc or [str(Path(s.origin).with_name("stanc")) for s in [httpstan] if s is not None]
    if not stancs:
        raise SystemExit("skipped: no stanc; install httpstan, or give one by --stanc")
    for name in PRELOADED:
        importlib.import_module(name)
    counts, seen = collections.Counter(), set()
    for program in programs:
        digest = hashlib.sha256(program.read_bytes()).digest()
        if digest in seen:
            continue
        seen.add(digest)
        what = translated if options.translate else compared
        status, why = outcome(what, program, options.folder, stancs, options.limit)
        counts[status] += 1
        if options.all or status in SHOWN:
            print(f"{program.relative_to(options.folder)}: {status}: {why}", flush=True)
    print(f"{len(seen)} programs: " + ", ".join(f"{n} {s}" for s, n in counts.most_common()))


if __name__ == "__main__":
    main()
