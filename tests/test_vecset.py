"""VecSet models against the published architecture: same names, same function."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from seed3d.geometry.vecset import VecSetVAE
from seed3d.geometry.vecset_dit import VecSetDiT
from seed3d.geometry.vecset_flow import sample

DATA = Path(__file__).parent / "data" / "triposg"
CONFIGS = json.loads((DATA / "small_configs.json").read_text())
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def vae():
    model = VecSetVAE(**CONFIGS["vae"])
    model.load_state_dict(load_file(DATA / "vae_small.safetensors"), strict=True)
    return model.eval()


@pytest.fixture(scope="module")
def dit():
    model = VecSetDiT(**CONFIGS["transformer"])
    model.load_state_dict(load_file(DATA / "dit_small.safetensors"), strict=True)
    return model.eval()


def close(a, b):
    assert a.shape == b.shape
    assert float((a - b).abs().max()) < TOLERANCE


@torch.no_grad()
def test_vae_computes_the_published_function(vae):
    io = load_file(DATA / "vae_small_io.safetensors")
    found = vae.encode(io["surface"], 32, queries=io["surface"][:, :32])
    close(found.mean, io["latent_mean"])
    close(found.logvar, io["latent_logvar"])
    close(vae.decode(io["latent_mean"], io["query"])[..., None], io["decoded"])
    field = vae.field(io["latent_mean"], chunk=33)
    close(field(io["query"])[..., None], -io["decoded"])


@torch.no_grad()
def test_dit_computes_the_published_function(dit):
    io = load_file(DATA / "dit_small_io.safetensors")
    close(dit(io["latent"], io["timestep"], io["condition"]), io["velocity"])


@torch.no_grad()
def test_sampler_computes_the_published_function(dit):
    io = load_file(DATA / "sampler_small_io.safetensors")
    asked = []

    def model(x, t, condition):
        asked.append(float(t[0]))
        return dit(x, t, condition)

    close(sample(model, io["noise"], io["condition"], 5, 7.0), io["latent"])
    assert asked == pytest.approx(io["timesteps"].tolist())


@pytest.mark.parametrize(("part", "kind"), [("vae", VecSetVAE), ("transformer", VecSetDiT)])
def test_full_size_takes_every_published_name(part, kind):
    shapes = json.loads((DATA / "full_size_keys.json").read_text())[part]
    with torch.device("meta"):
        state = {name: torch.empty(shape) for name, shape in shapes.items()}
        model = kind()
    model.load_state_dict(state, strict=True, assign=True)
    assert {k: list(v.shape) for k, v in model.state_dict().items()} == shapes
