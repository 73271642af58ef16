"""From GProb to a Python module for one backend, as an `ast.Module` with Stan's positions."""
