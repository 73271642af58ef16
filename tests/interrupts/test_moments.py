"""A few moments of those that `python -m tests.interrupts` tries at random."""
import pytest

from .moments import interrupted


@pytest.mark.sampled(2)
@pytest.mark.parametrize("phase, after", [("translating", 0.02), ("sampling", 0.7)])
def test_an_interrupt_ends_a_run(phase, after):
    outcome = interrupted(after, 300, first=phase)
    assert not outcome.wrong
