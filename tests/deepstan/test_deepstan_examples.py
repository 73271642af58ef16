"""The examples in models/ beside the same models written by hand in Pyro."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import stanimport

ROOT = Path(__file__).parents[2]
BATCH, TOTAL, SIDE = 6, 60, 8


@pytest.fixture(autouse=True)
def examples_on_the_path(monkeypatch, torch_double):
    import pyro

    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with pyro.get_param_store().scope():
        yield


def images(seed=0):
    return np.random.default_rng(seed).uniform(size=(BATCH, SIDE, SIDE))


def log_density(model, values, *args, **inputs):
    import torch
    from pyro import poutine

    conditioned = poutine.condition(model, {k: torch.as_tensor(v) for k, v in values.items()})
    return float(poutine.trace(conditioned).get_trace(*args, **inputs).log_prob_sum().detach())


def test_the_auto_encoder_has_the_density_of_its_twin():
    import torch
    import twins

    from models import networks

    encoder, decoder = networks.Encoder().double(), networks.Decoder().double()
    pixels = torch.as_tensor((images() > 0.5).reshape(BATCH, -1).astype(int))
    twin, module = twins.VAE(encoder, decoder, TOTAL), stanimport.load("models.vae", backend="pyro", scheme="mixed")
    inputs = dict(N=BATCH, latent=5, pixels=SIDE**2, images=pixels, encoder=encoder, decoder=decoder)
    z = {"z": np.random.default_rng(1).normal(size=(BATCH, 5))}
    for name in ("model", "guide"):
        compiled = log_density(getattr(module, name).minibatch(N=TOTAL), z, **inputs)
        np.testing.assert_allclose(compiled, log_density(getattr(twin, name), z, pixels), rtol=1e-10)


def test_the_bayesian_network_has_the_density_of_its_twin():
    import pyro
    import torch
    import twins

    from models import networks

    net = networks.MLP(SIDE**2, networks.HIDDEN).double()
    twin, module = twins.MLP(net, TOTAL, 1.5), stanimport.load("models.mlp", backend="pyro", scheme="mixed")
    x, labels = torch.as_tensor(images()), torch.arange(1, BATCH + 1)
    inputs = dict(N=BATCH, side=SIDE, hidden=networks.HIDDEN, classes=10, prior_sd=1.5, images=x, labels=labels)
    inputs["mlp"] = net
    rng = np.random.default_rng(2)
    values = {f"mlp.{n}": rng.normal(size=s) / 4 for n, s in twin.shapes.items()}
    for name in ("model", "guide"):
        found = []
        for f, given in ((getattr(module, name).minibatch(N=TOTAL), inputs), (getattr(twin, name), None)):
            pyro.set_rng_seed(0)
            with pyro.get_param_store().scope():
                found.append(log_density(f, values, **given) if given else log_density(f, values, x, labels))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-10)


@pytest.mark.slow
def test_the_auto_encoder_clusters_digits_as_well_as_its_twin():
    import compare

    _, ((_, compiled, *_), (_, by_hand, *_)) = compare.compare_vae(compare.digits.load(), 20)
    assert abs(compiled - by_hand) < 0.03 and by_hand > 0.3


@pytest.mark.slow
def test_the_bayesian_network_is_as_accurate_as_its_twin():
    import compare

    _, ((_, _, compiled, agreement, _), (_, _, by_hand, _, _)) = compare.compare_mlp(compare.digits.load(), 60, 1.0)
    assert abs(compiled - by_hand) < 0.02 and agreement > 0.95 and by_hand > 0.8


def test_mnist_is_read_from_its_files(tmp_path):
    import gzip
    import struct

    from models import digits

    rng, made = np.random.default_rng(0), {}
    for name, count in (("train", 3), ("t10k", 2)):
        made[name] = rng.integers(0, 256, (count, 28, 28)).astype(np.uint8), rng.integers(0, 10, count).astype(np.uint8)
        for kind, array in zip(("images-idx3", "labels-idx1"), made[name]):
            header = struct.pack(f">4B{array.ndim}i", 0, 0, 8, array.ndim, *array.shape)
            (tmp_path / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(header + array.tobytes()))
    for found, (pixels, labels) in zip(digits.load_mnist(tmp_path), made.values()):
        np.testing.assert_allclose(found.images, pixels / 255)
        np.testing.assert_array_equal(found.labels, labels + 1)


def test_a_script_prints_what_the_guide_finds(capsys, monkeypatch):
    from models import run_multimodal

    drawn = {"NUTS": np.full(10, 20.0), "explicit guide": np.array([20.0, 0.0])}
    monkeypatch.setattr(run_multimodal, "numpyro_draws", lambda steps: drawn)
    monkeypatch.setattr(sys, "argv", ["run_multimodal.py"])
    run_multimodal.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("NUTS") and " 1.000 around  20.00" in lines[0]
    assert " 0.500 around  20.00 |  0.500 around   0.00" in lines[1]
