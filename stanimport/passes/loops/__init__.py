"""Loops to array code: passes over one body."""

PASSES = ("inlining", "widening", "unfolding", "branching", "sinking", "lanes")  # as pipeline.py has them
