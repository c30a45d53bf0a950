"""Every size builds and steps; the VAE learns shapes whose inside is known."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from seed3d.geometry.points import cloud, farthest_points, salient_cloud
from seed3d.geometry.vecset import VecSetVAE
from seed3d.geometry.vecset_flow import length_shift, sample
from seed3d.train.loop import TrainConfig, train
from seed3d.train.vecset import DiTTask, Photos, Shapes, VAETask, build, bundled_tokens
from seed3d.types import Mesh

TRAIN = Path(__file__).parent.parent / "configs" / "train"
SIZES = {"small": 0.041e9, "medium": 0.24e9, "large": 0.71e9, "base": 1.54e9}


@pytest.fixture(scope="module")
def shapes():
    import trimesh

    meshes = [
        trimesh.creation.box((1.6, 0.8, 0.6)), trimesh.creation.icosphere(3, 0.7),
        trimesh.creation.cylinder(0.5, 1.6), trimesh.creation.torus(0.6, 0.25),
    ]  # fmt: skip
    clouds = [
        cloud(Mesh.from_trimesh(m), 256, 128, 2048, np.random.default_rng(i))
        for i, m in enumerate(meshes)
    ]
    stacked = {
        name: torch.from_numpy(np.stack([getattr(c, name) for c in clouds]))
        for name in ("surface", "salient", "points", "distance")
    }
    return Shapes(**stacked)


def shrunken(config):
    """The same kinds of layers, as few and narrow as they go."""
    vae = {**config["vae"], "num_attention_heads": 2, "width_encoder": 32, "width_decoder": 32,
           "num_layers_encoder": 1, "num_layers_decoder": 1, "latent_channels": 8}  # fmt: skip
    dit = {**config["dit"], "channels": 8, "condition_channels": 12, "width": 32, "heads": 2,
           "double_blocks": 1, "single_blocks": 1}  # fmt: skip
    return {**config, "vae": vae, "dit": dit}


def rows(folder):
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", SIZES)
def test_every_size_builds_and_steps(name, shapes, tmp_path):
    config = yaml.safe_load((TRAIN / f"{name}.yaml").read_text())
    with torch.device("meta"):
        _, dit = build(config)
    assert sum(p.numel() for p in dit.parameters()) == pytest.approx(SIZES[name], rel=0.05)
    assert dit.config.channels == config["vae"]["latent_channels"]
    for part in ("vae", "dit"):
        TrainConfig(**config[f"train_{part}"])

    torch.manual_seed(0)
    vae, dit = build(shrunken(config))
    once = TrainConfig(steps=2, batch=2, warmup=1, evaluate_every=2)
    train(VAETask(vae, shapes, shapes, (8, 16), 64), once, tmp_path / "vae")
    photos = Photos(torch.randn(6, 5, 12), torch.tensor([0, 0, 1, 2, 3, 3]))
    before = dit.proj_out.weight.detach().clone()
    task = DiTTask(dit, vae, shapes, photos, (shapes, photos), (8, 16))
    train(task, once, tmp_path / "dit")
    assert not torch.equal(dit.proj_out.weight, before)
    for part in ("vae", "dit"):
        last = rows(tmp_path / part)
        assert all(math.isfinite(row["loss"]) for row in last if "loss" in row)
        assert any("eval" in row for row in last)
    noise = torch.randn(1, 24, 8)
    assert sample(dit, noise, photos.tokens[:1], 2, 2.0, length_shift(24)).shape == (1, 24, 8)


def test_vae_learns_a_handful_of_shapes(shapes, tmp_path):
    torch.manual_seed(0)
    vae = VecSetVAE(
        latent_channels=8, num_attention_heads=2, width_encoder=48, width_decoder=48,
        num_layers_encoder=1, num_layers_decoder=2, embed_frequency=4, salient=True, truncation=0.25,
    )  # fmt: skip
    config = TrainConfig(
        steps=60, batch=4, learning_rate=3e-3, warmup=10, ema=0.9, evaluate_every=60
    )
    task = VAETask(vae, shapes, shapes, (16, 24), 256)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        start = task.loss(4, generator)[1]["l1"]
    train(task, config, tmp_path)
    with torch.no_grad():
        end = task.loss(4, torch.Generator().manual_seed(5))[1]["l1"]
    assert end < 0.5 * start


def test_clouds_lie_on_the_surface_its_edges_and_know_their_distance(shapes):
    half = torch.tensor([0.8, 0.4, 0.3])
    box, edge = shapes.surface[0], shapes.salient[0]
    on = ((box[:, :3].abs() - half).abs() < 1e-5).sum(1)
    assert (on >= 1).all()
    assert (((edge[:, :3].abs() - half).abs() < 1e-5).sum(1) >= 2).all()
    assert torch.allclose(box[:, 3:].norm(dim=1), torch.ones(len(box)), atol=1e-5)
    q = shapes.points[0].abs() - half
    truth = q.clamp(min=0).norm(dim=1) + q.amax(1).clamp(max=0)
    assert torch.allclose(shapes.distance[0], truth, atol=1e-4)
    smooth = shapes.salient[1, :, :3].norm(dim=1)  # a ball has no sharp edge: its sharpest ones
    assert (smooth - 0.7).abs().max() < 0.02
    import trimesh

    flat = Mesh.from_trimesh(trimesh.creation.box((1, 1, 1)).subdivide())
    points = salient_cloud(flat, 50, np.random.default_rng(0))[:, :3]
    assert ((np.abs(np.abs(points) - 0.5) < 1e-6).sum(1) >= 2).all()  # never a flat face's diagonal


def test_farthest_points_cover_a_line_evenly():
    line = torch.linspace(0, 1, 101)[None, :, None] * torch.tensor([1.0, 0, 0])
    index = farthest_points(line, 5)[0]
    assert sorted(index.tolist()) == [0, 25, 50, 75, 100]
    with pytest.raises(ValueError, match="only 101 points"):
        farthest_points(line, 102)


def test_latents_do_not_depend_on_the_order_of_tokens(shapes):
    torch.manual_seed(0)
    vae = VecSetVAE(
        latent_channels=4, num_attention_heads=2, width_encoder=16, width_decoder=16,
        num_layers_encoder=1, num_layers_decoder=1, salient=True,
    ).eval()  # fmt: skip
    with torch.no_grad():
        latents = vae.encode(shapes.surface[:1], 12, shapes.salient[:1]).mean
        mixed = latents[:, torch.randperm(12)]
        points = shapes.points[:1, :50]
        assert torch.allclose(vae.decode(latents, points), vae.decode(mixed, points), atol=1e-5)
    with pytest.raises(ValueError, match="reads points on edges"):
        vae.encode(shapes.surface[:1], 12)


def test_bundled_photo_tokens_keep_their_place():
    from seed3d.geometry.photo import PhotoFeatures

    mid = torch.zeros(1, 112, 14, 14)
    mid[0, 3, 2, 5] = 1.0
    rest = torch.zeros(1, 320, 7, 7), torch.zeros(1, 1280), torch.zeros(1, 4, 56, 56)
    tokens = bundled_tokens(PhotoFeatures(mid, *rest))
    assert tokens.shape == (1, 196, 436) and tokens[0, 2 * 14 + 5, 3] == 1 and tokens.sum() == 1
