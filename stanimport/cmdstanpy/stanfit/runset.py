"""The files of a run, as CmdStanPy's results have them in `runset`; nothing is written before they are asked for."""
from __future__ import annotations

import atexit
import contextlib
import copy
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from ...inference.fits import stan_csv
from ...inference.fits.fit import Fit


class Method(Enum):
    """What made the files."""

    SAMPLE = "sample"
    OPTIMIZE = "optimize"
    GENERATE_QUANTITIES = "generate"
    VARIATIONAL = "variational"
    LAPLACE = "laplace"
    PATHFINDER = "pathfinder"

    def __repr__(self) -> str:
        return f"<Method.{self.name}>"


class RunSet:
    """The files of a fit: where `output_dir` asked for them, else in a folder that is gone when Python ends.

    Attributes:
        sig_figs: of numbers in the files; all if None.
    """

    def __init__(
        self, fit: Fit, *, folder: Path | None = None, stamp: str | None = None, sig_figs: int | None = None,
        files: Iterable[Path] = (), profiles: bool = False, mode: RunSet | None = None,
    ):  # fmt: skip
        self._fit, self._folder, self.sig_figs, self._with_profiles = fit, folder, sig_figs, profiles
        self._mode = mode  # that Laplace's approximation is around
        self._stamp = stamp or stan_csv.timestamp()
        self._files: dict[str, list[Path]] = {"csv": list(files)} if files else {}

    def __repr__(self) -> str:
        told = ", ".join(map(str, self._files.get("csv", [])))
        return f"RunSet: {self.model} {self.method} chains={self.chains}, chain_ids={self.chain_ids}, files=[{told}]"

    def __getstate__(self) -> dict[str, Any]:
        """Files of this process are not those of another: they are written anew there."""
        own = {n: [p for p in paths if _session() not in p.parents] for n, paths in self._files.items()}
        kept = {n: paths for n, paths in own.items() if paths}
        folder = None if self._folder is not None and _session() in self._folder.parents else self._folder
        return {**self.__dict__, "_files": kept, "_folder": folder}

    @property
    def model(self) -> str:
        return self._fit.program.name

    @property
    def method(self) -> Method:
        return Method(self._fit.method)

    @property
    def chains(self) -> int:
        return self._fit.chains

    @property
    def chain_ids(self) -> list[int]:
        return self._fit.chain_ids

    @property
    def num_procs(self) -> int:
        """One: chains run in this process."""
        return 1

    @property
    def one_process_per_chain(self) -> bool:
        return False

    @property
    def output_dir(self) -> Path:
        """The folder of the files, which is made if they are in none yet."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=self.model, dir=_session()))
        return self._folder

    @property
    def csv_files(self) -> list[str]:
        """The paths of CmdStan's CSV files, one for each chain."""
        return self._written("csv", self._csv)

    @property
    def stdout_files(self) -> list[str]:
        """The paths of texts with what CmdStan prints first and last: the configuration and the times of each chain."""
        return self._written("stdout", self._transcripts)

    @property
    def diagnostic_files(self) -> list[str]:
        """None: there are no files of the sampler's momenta and gradients."""
        return []

    @property
    def profile_files(self) -> list[str]:
        """The paths of CmdStan's files of `profile` blocks, for a run with `save_profile`."""
        return self._written("profile", self._profiles) if self._with_profiles else []

    def get_err_msgs(self) -> str:
        """Nothing: errors are raised."""
        return ""

    def save_csvfiles(self, dir: str | Path | None = None) -> None:
        """Put the CSV files into a folder, which is made where it is missing.

        Those that no `output_dir` was given for are moved there; they are written then, if they were not before.

        Raises:
            RuntimeError: if nothing can be written there.
            ValueError: for files that are there already, and where those that were written are gone.
        """
        folder = Path.cwd() if dir is None else Path(dir).expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as e:
            raise RuntimeError(f"Cannot save to path: {folder}: {e.strerror}") from None
        if "csv" not in self._files:
            with _refused():
                self._files["csv"] = self._csv(folder)
            return
        moved = [folder / path.name for path in self._files["csv"]]
        for old, path in zip(self._files["csv"], moved):
            if not old.exists():
                raise ValueError(f"Cannot access CSV file {old}")
            if path.exists():
                raise ValueError(f"File exists, not overwriting: {path}")
        for old, new in zip(self._files["csv"], moved):
            (shutil.move if _session() in old.resolve().parents else shutil.copyfile)(old, new)
        self._files["csv"] = moved

    def write(self) -> None:
        """Write the files that were asked for now."""
        _ = self.csv_files, self.profile_files

    def _written(self, kind: str, write: Callable[[Path], list[Path]]) -> list[str]:
        """The paths of the files of a kind; they are written when this is asked first."""
        if kind not in self._files:
            self._files[kind] = write(self.output_dir)
        return [str(p) for p in self._files[kind]]

    def _csv(self, folder: Path) -> list[Path]:
        fit = self._fit
        if self._mode is not None:
            fit = copy.copy(fit)
            fit.settings = {**fit.settings, "mode": os.path.abspath(self._mode.csv_files[0])}
        return stan_csv.save(fit, folder, self._stamp, self.sig_figs)

    def _transcripts(self, folder: Path) -> list[Path]:
        paths = [folder / f"{self.model}-{self._stamp}-stdout_{i}.txt" for i in self.chain_ids]
        for chain, path in enumerate(paths):
            path.write_text("\n".join(stan_csv.transcript(self._fit, chain)) + "\n", encoding="utf-8")
        return paths

    def _profiles(self, folder: Path) -> list[Path]:
        made = []
        for chain, rows in self._fit.profiles().groupby("thread_id"):
            made.append(folder / f"{self.model}-{self._stamp}-profile_{chain}.csv")
            rows.to_csv(made[-1], index=False)
        return made


def written(
    fit: Fit, folder: Path | None, sig_figs: int | None, time_fmt: str, profiles: bool = False,
    mode: RunSet | None = None,
) -> RunSet:  # fmt: skip
    """The files of a new fit; those that a folder is given for are written now."""
    stamp = datetime.now().strftime(time_fmt)
    made = RunSet(fit, folder=folder, sig_figs=sig_figs, stamp=stamp, profiles=profiles, mode=mode)
    if folder is not None:
        made.write()
    return made


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    """Inside, a file that is there is a ValueError, as CmdStanPy raises one."""
    try:
        yield
    except FileExistsError as e:
        raise ValueError(f"File exists, not overwriting: {e.filename}") from None


@cache
def _session() -> Path:
    """The folder for files of this process; it is removed when Python ends."""
    made = tempfile.mkdtemp(prefix="stanimport-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made).resolve()
