"""Compiled DeepStan models beside hand-written Pyro: quality and training time, as tables.

    python tests/deepstan/compare.py [vae] [mlp] [--epochs N] [--folder MNIST]

For the auto-encoder the pairwise F1 of k-means clusters of the test images' latent means; for the Bayesian network the
accuracy of the vote of an ensemble of 100 networks, and how often both ensembles vote alike, with priors normal(0, 1)
and normal(0, 10). Both train on the same batches and random numbers in turn, one epoch each, so that both meet the same
load: what differs is the compilation. Times are of the processor.
"""
from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import pyro
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import pair_confusion_matrix
from torch.utils.data import DataLoader, TensorDataset

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
import twins  # noqa: E402

import stanimport  # noqa: E402
from models import digits, networks  # noqa: E402

BATCH, ENSEMBLE, SEED = 128, 100, 1


@dataclass
class Trainer:
    """One of two models that train in turn, with parameters of its own in Pyro's store."""

    model: Callable[..., None]
    guide: Callable[..., None]
    rate: float
    inputs: Callable[..., dict]  # the keyword arguments of a batch, given its tensors
    seconds: float = 0.0
    parameters: dict = field(default_factory=lambda: {"params": {}, "constraints": {}})

    def __post_init__(self):
        self.svi = SVI(self.model, self.guide, pyro.optim.Adam({"lr": self.rate}), Trace_ELBO())

    def epoch(self, batches, seed):
        pyro.set_rng_seed(seed)
        with pyro.get_param_store().scope(self.parameters) as self.parameters:
            start = time.process_time()
            for batch in batches:
                self.svi.step(**self.inputs(*batch))
            self.seconds += time.process_time() - start

    def draws(self, batch, count):
        """Draws of the guide after training."""
        with pyro.get_param_store().scope(self.parameters):
            return Predictive(self.guide, num_samples=count)(**self.inputs(*batch))


def train(trainers, tensors, epochs):
    """Epochs in turn, the batches of each epoch the same for all."""
    for epoch in range(epochs):
        torch.manual_seed(SEED + epoch)
        batches = list(DataLoader(TensorDataset(*tensors), BATCH, shuffle=True))
        for t in trainers[:: 1 if epoch % 2 else -1]:
            t.epoch(batches, SEED + epoch)


# --- the auto-encoder ------------------------------------------------------------------------------------------------


def compare_vae(data, epochs):
    """Rows of a table: F1, precision, recall and seconds of the compiled model and of its twin."""
    training, test = (torch.as_tensor(d.black_and_white) for d in data)
    total, pixels = training.shape
    vae = stanimport.load("models.vae", backend="pyro", scheme="mixed")
    hand_written = twins.VAE(*_vae_networks(pixels), total, networks.LATENT)
    encoder, decoder = _vae_networks(pixels)

    def inputs(images):
        sizes = dict(N=len(images), latent=networks.LATENT, pixels=pixels)
        return sizes | dict(images=images, encoder=encoder, decoder=decoder)

    compiled = Trainer(vae.model.minibatch(N=total), vae.guide.minibatch(N=total), 0.003, inputs)
    twin = Trainer(hand_written.model, hand_written.guide, 0.003, lambda images: dict(images=images))
    train([compiled, twin], [training], epochs)
    rows = []
    for name, t, net in (("compiled", compiled, encoder), ("by hand", twin, hand_written.encoder)):
        with torch.no_grad():
            centres = net(test)[0].numpy()
        rows.append([name, *pairwise(data[1].labels, centres), t.seconds])
    return ["", "F1", "precision", "recall", "seconds"], rows


def _vae_networks(pixels):
    torch.manual_seed(SEED)
    return networks.Encoder(pixels=pixels), networks.Decoder(pixels=pixels)


def pairwise(labels, points, clusters=10):
    """F1, precision and recall of the pairs of points that k-means puts in one cluster, as pairs of one label."""
    found = KMeans(clusters, n_init=10, random_state=0).fit_predict(points)
    (_, wrong), (missed, right) = pair_confusion_matrix(labels, found)
    precision, recall = right / (right + wrong), right / (right + missed)
    return 2 * precision * recall / (precision + recall), precision, recall


# --- the Bayesian network --------------------------------------------------------------------------------------------


def compare_mlp(data, epochs, prior_sd):
    """Rows of a table: accuracy, agreement and seconds of the compiled model and of its twin."""
    kind = torch.get_default_dtype()
    training, test = ([torch.as_tensor(d.images, dtype=kind), torch.as_tensor(d.labels)] for d in data)
    total, side, _ = training[0].shape
    mlp = stanimport.load("models.mlp", backend="pyro", scheme="mixed")
    torch.manual_seed(SEED)
    hand_written = twins.MLP(networks.MLP(side * side), total, prior_sd)
    network = networks.MLP(side * side)

    def inputs(images, labels):
        sizes = dict(N=len(images), side=side, hidden=networks.HIDDEN, classes=networks.CLASSES)
        return sizes | dict(prior_sd=np.float64(prior_sd), images=images, labels=labels, mlp=network)

    compiled = Trainer(mlp.model.minibatch(N=total), mlp.guide.minibatch(N=total), 0.05, inputs)
    twin = Trainer(hand_written.model, hand_written.guide, 0.05, lambda *batch: dict(zip(("images", "labels"), batch)))
    train([compiled, twin], training, epochs)
    votes = []
    for t in (compiled, twin):
        pyro.set_rng_seed(SEED)
        votes.append(vote(t.draws(test, ENSEMBLE), test[0]))
    agreement = float(np.mean(votes[0] == votes[1]))
    rows = [
        [name, prior_sd, float(np.mean(v == data[1].labels)), agreement, t.seconds]
        for name, v, t in (("compiled", votes[0], compiled), ("by hand", votes[1], twin))
    ]
    return ["", "prior sd", "accuracy", "agreement", "seconds"], rows


def vote(draws, images):
    """The labels that most networks of the ensemble give to images."""
    weights = {n: draws[f"mlp.{n}"].reshape(ENSEMBLE, *draws[f"mlp.{n}"].shape[-d:]) for n, d in DIMS.items()}
    flat = images.flatten(1)
    hidden = torch.relu(flat @ weights["l1.weight"].mT + weights["l1.bias"][:, None])
    log_odds = hidden @ weights["l2.weight"].mT + weights["l2.bias"][:, None]
    return 1 + torch.mode(log_odds.argmax(-1), 0).values.numpy()


DIMS = {"l1.weight": 2, "l1.bias": 1, "l2.weight": 2, "l2.bias": 1}


# --- the command -----------------------------------------------------------------------------------------------------


def table(header, rows):
    """A Markdown table."""
    text = [[f"{x:.3f}" if isinstance(x, float) else str(x) for x in row] for row in rows]
    return "\n".join("| " + " | ".join(r) + " |" for r in [header, ["---"] * len(header), *text])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["vae", "mlp"])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--folder", help="where MNIST's files lie; else scikit-learn's digits")
    given = parser.parse_args()
    data = digits.load_mnist(given.folder) if given.folder else digits.load()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    pyro.set_rng_seed(SEED)
    if "vae" in given.models:
        print(table(*compare_vae(data, given.epochs)), end="\n\n")
    if "mlp" in given.models:
        results = [compare_mlp(data, given.epochs, sd) for sd in (1.0, 10.0)]
        print(table(results[0][0], list(chain(*(rows for _, rows in results)))))


if __name__ == "__main__":
    main()
