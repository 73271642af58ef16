"""What becomes of programs that XLA is compiling when Python ends: compilations here take as long as the tests say."""
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
BEGIN = """
import atexit, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which jobs in the background ignore
atexit.register(print, "registered before", flush=True)
import stanimport
from stanimport.inference import programs
seconds, compile_it = float(sys.argv[1]), programs._compile
begun, interrupted = threading.Event(), []
def slowly(*arguments):
    begun.set()
    time.sleep(seconds)
    made = compile_it(*arguments)
    print("compiled", flush=True)
    return made
programs._compile = slowly
def interrupt():
    begun.wait()
    interrupted.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def run(**options):
    return stanimport.sample(module, chains=1, iter_warmup=5, iter_sampling=5, seed=1, show_progress=False, **options)
module = stanimport.loads("parameters { real x; } model { x ~ normal(0, 1); }")
threading.Thread(target=interrupt).start()
log = open("log.txt", "w")
log.write("not flushed")
"""


def ended(tmp_path, seconds, then, *flags):
    """The process that ran a script, and how many seconds that took after its begin."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "STANIMPORT_JIT_CACHE": "off"}
    begin = time.monotonic()
    done = subprocess.run([sys.executable, *flags, "-c", BEGIN + textwrap.dedent(then), str(seconds)], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip
    return done, time.monotonic() - begin


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes end by signals on POSIX")
def test_an_interrupt_that_nobody_handles_ends_the_program_as_python_does(tmp_path):
    done, seconds = ended(tmp_path, 120, "run()\nprint('not reached')")
    assert seconds < 60 and done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().splitlines()[-1].startswith("KeyboardInterrupt")
    assert done.stdout.split("\n")[:-1] == ["registered before"]
    assert (tmp_path / "log.txt").read_text() == "not flushed"


@pytest.mark.parametrize("then, code", [
    pytest.param("try:\n    run()\nexcept KeyboardInterrupt:\n    sys.exit(3)", 3, id="handled"),
    *(pytest.param(*case, id=name, marks=pytest.mark.slow) for name, case in {
        "another error": ("try:\n    run()\nexcept KeyboardInterrupt:\n    raise RuntimeError from None", 1),
        "at a prompt": ("sys.ps1 = '>>> '\nrun()", -signal.SIGINT),
        "a function of atexit behind": (
            "try:\n    run()\nexcept KeyboardInterrupt:\n    atexit.register(print, flush=True)\n    raise",
            -signal.SIGINT,
        ),
    }.items()),
])  # fmt: skip
def test_programs_that_end_otherwise_wait_for_what_is_compiled(tmp_path, then, code):
    done, _ = ended(tmp_path, 3, then)
    assert done.returncode == code, done.stderr
    assert "compiled" in done.stdout and "registered before" in done.stdout
    assert (tmp_path / "log.txt").read_text() == "not flushed"


@pytest.mark.slow
def test_after_an_interrupt_what_was_compiled_is_used(tmp_path):
    """As in a notebook: KeyboardInterrupt comes at once, and the next cell finds what was begun."""
    done, _ = ended(tmp_path, 20, """
        try:
            run()
        except KeyboardInterrupt:
            raised = time.monotonic()
        assert raised - interrupted[0] < 10
        seconds = 0
        assert run().num_draws == 5 and time.monotonic() - raised > 5
    """)
    assert done.returncode == 0, done.stderr
