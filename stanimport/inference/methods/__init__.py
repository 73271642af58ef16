"""The methods of inference, each a function that returns a fit."""
