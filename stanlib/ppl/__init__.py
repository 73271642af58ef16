"""The probabilistic languages: sample sites, factors, control flow, for NumPyro and for Pyro.

Generated code imports one of the backends' modules as `ppl`; both offer the same names.
"""
