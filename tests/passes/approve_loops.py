"""Write the expected texts of the loop tests from what the passes do now: `python tests/passes/approve_loops.py`."""
from __future__ import annotations

import loop_programs as programs

if __name__ == "__main__":
    for name in programs.NAMES:
        (programs.FOLDER / f"{name}.txt").write_text(programs.shown(name))
