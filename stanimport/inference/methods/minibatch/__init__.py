"""Variational inference from minibatches: data of which a batch at a time is in memory."""
