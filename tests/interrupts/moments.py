"""Interrupts at random moments of runs in processes of their own, and what became of them.

    python -m tests.interrupts --count 100 --seed 1

A run translates a program, compiles, warms up, samples and saves. Wherever Ctrl-C comes, KeyboardInterrupt has to be
raised soon, or a fit of the draws so far returned that says that it is interrupted; nothing else may come of it.
"""
from __future__ import annotations

import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).parent.parent.parent
PROGRAM = """\
data { int N; vector[N] x; vector[N] y; }
parameters { real a; vector[3] b; real<lower=0> sigma; }
model {
  a ~ normal(0, 5); b ~ normal(0, 2); sigma ~ exponential(1);
  for (n in 1:N) y[n] ~ student_t(4, a + b[1] * x[n] + b[2] * square(x[n]) + b[3] * sin(x[n]), sigma);
}
generated quantities { vector[N] again; for (n in 1:N) again[n] = student_t_rng(4, a, sigma); }
"""
RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
import numpy as np
import stanimport
def run():
    print("translating", flush=True)
    module = stanimport.load(sys.argv[1])
    print("sampling", flush=True)
    x = np.linspace(-2, 2, 20)
    fit = stanimport.sample(module, {"N": 20, "x": x, "y": np.sin(x)}, chains=2, seed=1, iter_warmup=int(sys.argv[2]),
                            iter_sampling=int(sys.argv[2]), show_progress=False)
    if fit.interrupted:
        raise KeyboardInterrupt
    print("saving", flush=True)
    fit.save(sys.argv[1] + ".nc")
    print("done", flush=True)
try:
    run()
except KeyboardInterrupt:
    print("caught", flush=True)
    raise
"""
PHASES = ("translating", "sampling", "saving", "done")
SOON = 10.0  # seconds, on a machine that does other things
PATIENCE = 120.0


@dataclass(frozen=True)
class Outcome:
    """What came of an interrupt `after` so many seconds: its phase, the seconds until it was raised, what is wrong."""

    after: float
    phase: str
    seconds: float
    wrong: str = ""


class Run:
    """A run in a process, whose phases are told as they begin."""

    def __init__(self, folder: pathlib.Path, iterations: int):
        program = folder / "curve.stan"
        program.write_text(PROGRAM)
        environment = os.environ | {"PYTHONPATH": str(ROOT), "STANIMPORT_CACHE_DIR": str(folder / "cache")}
        environment |= {"STANIMPORT_JIT_CACHE": "on"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, str(program), str(iterations)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.lines: queue.Queue[str] = queue.Queue()
        self.said: list[str] = []
        readers = ThreadPoolExecutor(2)
        readers.submit(self._read)
        self.errors = readers.submit(lambda: self.process.stderr.read() if self.process.stderr else "")
        readers.shutdown(wait=False)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.strip())

    def wait_for(self, phase: str) -> None:
        while phase not in self.said:
            self.said.append(self.lines.get(timeout=PATIENCE))

    def ended(self) -> tuple[float, str]:
        """The seconds until the run says that it has caught an interrupt, or is done, and its standard error."""
        begin = time.monotonic()
        while not {"caught", "done"} & set(self.said) and (self.process.poll() is None or not self.lines.empty()):
            self.collect(0.02)
            if time.monotonic() - begin > PATIENCE:
                self.process.kill()
        seconds = time.monotonic() - begin
        errors = self.errors.result(PATIENCE)
        self.process.wait(PATIENCE)
        self.collect()
        return seconds, errors

    def collect(self, patience: float = 0.0) -> None:
        """Take the lines that are there, or come."""
        try:
            while True:
                self.said.append(self.lines.get(timeout=patience) if patience else self.lines.get_nowait())
        except queue.Empty:
            pass


def duration(iterations: int) -> float:
    """The seconds of an undisturbed run, from the translation on."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(pathlib.Path(folder), iterations)
        run.wait_for("translating")
        begin = time.monotonic()
        run.wait_for("done")
        seconds = time.monotonic() - begin
        run.ended()
        return seconds


def interrupted(after: float, iterations: int, first: str = "translating") -> Outcome:
    """The outcome of an interrupt some seconds after a phase has begun."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(pathlib.Path(folder), iterations)
        run.wait_for(first)
        time.sleep(after)
        run.collect()
        phase = next(p for p in reversed(PHASES) if p in run.said)
        run.process.send_signal(signal.SIGINT)
        seconds, errors = run.ended()
        return Outcome(after, phase, seconds, _wrong(run, phase, seconds, errors))


def _wrong(run: Run, phase: str, seconds: float, errors: str) -> str:
    """What should not have been; "" for an interrupt as it should be, and for one that came when all was done."""
    last = errors.strip().rpartition("\n")[2]
    if phase == "done":
        return ""
    if "done" in run.said and "caught" not in run.said:
        return f"swallowed: {errors[-500:]}"
    if run.process.returncode not in (-signal.SIGINT, 130, 1) or not last.startswith("KeyboardInterrupt"):
        return f"ended by {run.process.returncode}: {errors[-1500:]}"
    if "Exception ignored" in errors or "Fatal" in errors:
        return errors[-1500:]
    return f"took {seconds:.1f} s" if seconds > SOON else ""


def at_random(count: int, seed: int, iterations: int) -> Iterator[Outcome]:
    """The outcomes of interrupts at random moments."""
    whole, random_numbers = duration(iterations), random.Random(seed)
    for _ in range(count):
        yield interrupted(random_numbers.uniform(0, whole), iterations)
