"""Handwritten digits for vae.stan and mlp.stan: scikit-learn's, which need no download, or MNIST from its files."""
from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TEST = 360  # of scikit-learn's 1797 digits, chosen at random


@dataclass(frozen=True)
class Digits:
    """Images (count, side, side) with intensities from 0 to 1, and their labels from 1 (the digit 0) to 10."""

    images: np.ndarray
    labels: np.ndarray

    @property
    def black_and_white(self) -> np.ndarray:
        """The images as rows of pixels that are 0 or 1."""
        return (self.images.reshape(len(self.images), -1) > 0.5).astype(int)


def load() -> tuple[Digits, Digits]:
    """The 8 x 8 digits of scikit-learn: for training, for testing."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images, labels = data.images[order] / 16.0, data.target[order] + 1
    return Digits(images[:-TEST], labels[:-TEST]), Digits(images[-TEST:], labels[-TEST:])


def load_mnist(folder: str | Path) -> tuple[Digits, Digits]:
    """The 28 x 28 digits of MNIST: for training, for testing.

    `folder` holds the four files of the data set: train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz,
    t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz.
    """
    root = Path(folder)
    sets = []
    for name in ("train", "t10k"):
        images = _idx(root / f"{name}-images-idx3-ubyte.gz") / 255.0
        sets.append(Digits(images, _idx(root / f"{name}-labels-idx1-ubyte.gz").astype(int) + 1))
    return sets[0], sets[1]


def _idx(path: Path) -> np.ndarray:
    """An array in the IDX format: its number of dimensions in the fourth byte, then sizes, then unsigned bytes."""
    content = gzip.decompress(path.read_bytes())
    dims = content[3]
    shape = np.frombuffer(content, ">i4", dims, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dims).reshape(shape)
