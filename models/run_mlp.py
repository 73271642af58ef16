"""A Bayesian neural network in Stan, trained on handwritten digits with Pyro.

    python models/run_mlp.py [--prior-sd 1] [--epochs 60] [--folder MNIST]

Prints the training loss, the accuracy of the vote of 100 networks drawn from the posterior on the test images, and the
accuracy on those images about which the networks agree.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pyro
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO
from torch.func import functional_call
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).parents[1]))
import stanimport
from models import digits, networks

BATCH, ENSEMBLE = 128, 100


def train(data: digits.Digits, prior_sd: float, epochs: int) -> tuple[object, dict[str, object]]:
    """The trained guide, and the sizes that it takes."""
    mlp = stanimport.load(Path(__file__).with_name("mlp.stan"), backend="pyro", scheme="mixed")
    total, side, _ = data.images.shape
    svi = SVI(
        mlp.model.minibatch(N=total), mlp.guide.minibatch(N=total), pyro.optim.Adam({"lr": 0.05}), Trace_ELBO()
    )
    sizes = {"side": side, "hidden": networks.HIDDEN, "classes": networks.CLASSES, "prior_sd": np.float64(prior_sd)}
    sizes["mlp"] = networks.MLP(side * side)
    images = torch.as_tensor(data.images, dtype=torch.get_default_dtype())
    loader = DataLoader(TensorDataset(images, torch.as_tensor(data.labels)), BATCH, shuffle=True)
    for epoch in range(epochs):
        loss = sum(svi.step(N=len(y), images=x, labels=y, **sizes) for x, y in loader) / len(loader)
        if epoch % 10 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:3}: loss {loss / total:.2f} per image")
    return mlp.guide, sizes


def votes(guide: object, sizes: dict[str, object], data: digits.Digits) -> np.ndarray:
    """The labels that each network of an ensemble gives to the images."""
    images = torch.as_tensor(data.images, dtype=torch.get_default_dtype())
    inputs = {"N": len(images), "images": images, "labels": torch.as_tensor(data.labels), **sizes}
    draws = Predictive(guide, num_samples=ENSEMBLE)(**inputs)
    module = sizes["mlp"]
    shapes = {name: p.shape for name, p in module.named_parameters()}
    labels = []
    for k in range(ENSEMBLE):
        weights = {name: draws[f"mlp.{name}"][k].reshape(shape) for name, shape in shapes.items()}
        labels.append(1 + functional_call(module, weights, (images,)).argmax(-1).numpy())
    return np.array(labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prior-sd", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--folder", help="where MNIST's files lie; else scikit-learn's digits")
    given = parser.parse_args()
    training, test = digits.load_mnist(given.folder) if given.folder else digits.load()
    pyro.set_rng_seed(1)
    found = votes(*train(training, given.prior_sd, given.epochs), test)
    counts = np.stack([(found == label).sum(0) for label in range(1, networks.CLASSES + 1)])
    vote, share = 1 + counts.argmax(0), counts.max(0) / ENSEMBLE
    sure = share > 0.9
    print(f"accuracy of the vote: {np.mean(vote == test.labels):.3f}")
    print(f"of the {np.mean(sure):.0%} with a vote of more than 90 %: {np.mean((vote == test.labels)[sure]):.3f}")


if __name__ == "__main__":
    main()
