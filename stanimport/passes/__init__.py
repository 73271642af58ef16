"""Passes over GProb: functions from program to program, or from body to body; pipeline.py knows their order."""
