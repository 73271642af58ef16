"""What commands of the shell load only when it is used."""
import subprocess
import sys

import pytest
from scipy.fft import next_fast_len
from scipy.special import ndtri

SCRIPT = """
import sys, types
from stanimport import deferred
deferred.begin()
import numpyro
print(*(n for n in sorted(deferred.NAMES) if type(sys.modules.get(n)) is types.ModuleType))
import scipy.fft
from scipy.special import ndtri
print(scipy.fft.next_fast_len(7919), ndtri(0.975))
print(*(n for n in sorted(deferred.NAMES) if type(sys.modules.get(n)) is types.ModuleType))
"""


def test_parts_of_scipy_are_loaded_when_they_are_used():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before, values, after = done.stdout.split("\n")[:3]
    length, quantile = values.split()
    assert not before and {"scipy.fft", "scipy.special"} <= set(after.split())
    assert int(length) == next_fast_len(7919) and float(quantile) == pytest.approx(ndtri(0.975), rel=1e-15)
