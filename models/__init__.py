"""Stan programs with small data sets: `from models import eight_schools`, once stanimport is imported.

README.md lists them, simulate.py makes the data that are simulated.
"""
