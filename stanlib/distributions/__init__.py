"""Distributions, one file per distribution of the Stan Functions Reference."""
