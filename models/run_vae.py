"""A variational auto-encoder in Stan, trained on handwritten digits with Pyro.

    python models/run_vae.py [--epochs 60] [--folder MNIST] [--picture vae.png]

Prints the training loss, and how well k-means finds the digits in the latent means of the test images: the pairwise F1.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pyro
import torch
from pyro.infer import SVI, Trace_ELBO
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import pair_confusion_matrix
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).parents[1]))
import stanimport
from models import digits, networks

BATCH = 128


def train(images: torch.Tensor, encoder: torch.nn.Module, decoder: torch.nn.Module, epochs: int) -> None:
    """Train both networks on batches of rows of pixels; each step scales a batch to all images."""
    total, pixels = images.shape
    vae = stanimport.load(Path(__file__).with_name("vae.stan"), backend="pyro", scheme="mixed")
    svi = SVI(
        vae.model.minibatch(N=total), vae.guide.minibatch(N=total), pyro.optim.Adam({"lr": 0.003}), Trace_ELBO()
    )
    sizes = {"latent": networks.LATENT, "pixels": pixels, "encoder": encoder, "decoder": decoder}
    loader = DataLoader(images, BATCH, shuffle=True)
    for epoch in range(epochs):
        loss = sum(svi.step(N=len(batch), images=batch, **sizes) for batch in loader) / len(loader)
        if epoch % 10 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:3}: loss {loss / total:.2f} per image")


def pairwise_f1(labels: object, points: object) -> float:
    """F1 of the pairs of points in one cluster of k-means, as pairs of one label."""
    clusters = KMeans(10, n_init=10, random_state=0).fit_predict(points)
    (_, wrong), (missed, right) = pair_confusion_matrix(labels, clusters)
    return float(2 * right / (2 * right + wrong + missed))


def draw(decoder: torch.nn.Module, path: str) -> None:
    """Images of the prior."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with torch.no_grad():
        made = torch.sigmoid(decoder(torch.randn(32, networks.LATENT)))
    side = round(made.shape[1] ** 0.5)
    figure, axes = plt.subplots(4, 8, figsize=(6, 3), layout="constrained")
    for ax, image in zip(axes.flat, made):
        ax.imshow(image.reshape(side, side), cmap="gray_r")
        ax.axis("off")
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--folder", help="where MNIST's files lie; else scikit-learn's digits")
    parser.add_argument("--picture", help="where to write images drawn from the model")
    given = parser.parse_args()
    training, test = digits.load_mnist(given.folder) if given.folder else digits.load()
    pyro.set_rng_seed(1)
    images, held_out = (torch.as_tensor(d.black_and_white) for d in (training, test))
    encoder, decoder = networks.Encoder(pixels=images.shape[1]), networks.Decoder(pixels=images.shape[1])
    train(images, encoder, decoder, given.epochs)
    with torch.no_grad():
        means = encoder(held_out)[0]
    print(f"pairwise F1 of the test images: {pairwise_f1(test.labels, means.numpy()):.3f}")
    if given.picture:
        draw(decoder, given.picture)


if __name__ == "__main__":
    main()
