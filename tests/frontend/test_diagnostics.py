"""What the front end says of wrong programs, word for word: `python -m tests.frontend.approve` accepts new messages."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from approve import FOLDER, messages

PROGRAMS = sorted(FOLDER.glob("*.stan"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_messages(path):
    assert messages(path) == path.with_suffix(".expected").read_text()
