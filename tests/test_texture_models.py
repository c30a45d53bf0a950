"""The learned texture stages against renders whose materials are known."""

import dataclasses
from functools import cache

import numpy as np
import pytest
import torch

from seed3d.config import TextureConfig
from seed3d.data.build import canonical_surface, procedural_recipe
from seed3d.data.split import split_of
from seed3d.data.views import random_camera
from seed3d.errors import CheckpointError, MissingDependencyError
from seed3d.render.lighting import Lighting
from seed3d.render.raycast import Caster, gbuffer
from seed3d.texture.models import mv_adapter
from seed3d.texture.models.apply import photo_layers
from seed3d.texture.models.completion import (
    COUNTS,
    CompletionNet,
    Samples,
    complete_colors,
    find_candidates,
)
from seed3d.texture.models.decompose import decompose, decompose_with, guided_upsample
from seed3d.texture.models.multiview import MultiViewDiT, multiview_loss, sample_views
from seed3d.texture.models.pbr import PBRNet, Semantics
from seed3d.texture.models.weights import TEXTURE_MODEL, load_completion
from seed3d.train.multiview_task import base_color_view, geometry_maps, target_cameras
from seed3d.train.texture_data import photo
from seed3d.types import Subject


def cloud(count, seed=0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(count, 3))
    normal = (normal / np.linalg.norm(normal, axis=1, keepdims=True)).astype(np.float32)
    return (0.8 * normal).astype(np.float32), normal


@cache
def rendered(category, seed, size=224):
    """A photo of an object that no model was trained on, and its true albedo."""
    recipe = procedural_recipe(category, seed, 1)
    assert split_of(recipe.group) == "test"
    surface = canonical_surface(recipe.make()[0])
    caster = Caster(surface.mesh)
    rng = np.random.default_rng(seed)
    camera = random_camera(surface.mesh, True, rng)
    buffer = gbuffer(surface, camera, 2 * size, caster)
    shown = photo(surface, camera, buffer, Lighting.random(rng, camera), caster)
    rgb, mask, albedo = (shown[k].astype(np.float32) / 255 for k in ("rgb", "mask", "albedo"))
    return Subject(rgb, mask, "alpha"), albedo


def test_one_colour_everywhere_comes_back_exactly():
    position, normal = cloud(400)
    color = np.tile(np.array([0.25, 0.5, 0.75, 0.125, 1.0], np.float32), (400, 1))
    torch.manual_seed(0)
    query, query_normal = cloud(50, seed=1)
    net = CompletionNet().eval()
    found = complete_colors(net, query, query_normal, Samples(position, normal, color))
    assert np.abs(found - color[:50]).max() < 1e-6


def test_colours_are_mixed_not_invented_and_do_not_depend_on_the_batch():
    position, normal = cloud(400)
    color = np.random.default_rng(2).uniform(size=(400, 3)).astype(np.float32)
    seen = Samples(position, normal, color)
    query, query_normal = cloud(40, seed=1)
    torch.manual_seed(0)
    net = CompletionNet().eval()
    found = complete_colors(net, query, query_normal, seen)
    near = color[find_candidates(query, query_normal, seen).index]
    assert (found >= near.min(axis=1) - 1e-6).all() and (found <= near.max(axis=1) + 1e-6).all()
    alone = complete_colors(net, query[7:8], query_normal[7:8], seen)
    assert np.allclose(alone[0], found[7], atol=1e-6)


def test_the_mirror_image_of_a_seen_point_is_its_first_mirrored_candidate():
    position, normal = cloud(600)
    keep = position[:, 1] > 0.05
    seen = Samples(position[keep], normal[keep], np.zeros((keep.sum(), 3), np.float32))
    flip = np.array([1, -1, 1], np.float32)
    found = find_candidates(seen.position * flip, seen.normal * flip, seen)
    column = COUNTS[0] + COUNTS[1]
    assert (found.index[:, column] == np.arange(keep.sum())).all()


def test_guided_upsampling_puts_a_shadow_edge_where_the_photo_has_it():
    """One colour, half in shadow, the edge inside a coarse pixel: the ratio must undo it."""
    fine = torch.full((1, 3, 128, 128), 0.8)
    fine[..., 66:] = 0.4
    small = torch.nn.functional.avg_pool2d(fine, 4)
    ratio = (0.8 / small).log()
    ones = torch.ones(1, 1, 32, 32)
    gain = guided_upsample(ratio, small, ones, fine)
    plain = torch.nn.functional.interpolate(ratio, (128, 128), mode="bilinear")
    error = (fine * gain.exp() - 0.8).abs()
    assert error.max() < 0.03
    assert (fine * plain.exp() - 0.8).abs().max() > 0.15


def test_an_untrained_network_returns_the_photo():
    torch.manual_seed(0)
    subject, _ = rendered("mug", 5)
    found = decompose_with(PBRNet().eval(), subject.rgb, subject.mask)
    inside = subject.mask > 0.99
    assert np.abs(found.albedo - subject.rgb)[inside].max() < 1e-3


def test_a_photo_is_decomposed_alike_alone_and_in_a_batch():
    torch.manual_seed(0)
    net = PBRNet().eval()
    for layer in (net.albedo_out, net.material_out):
        torch.nn.init.normal_(layer.weight, std=0.05)
    rgb, mask = torch.rand(3, 3, 112, 112), torch.ones(3, 1, 112, 112)
    maps = Semantics(torch.rand(3, 40, 14, 14), torch.rand(3, 112, 7, 7), torch.rand(3, 1280))
    with torch.no_grad():
        all_three = net(rgb, mask, maps).albedo(rgb)
        one = net(rgb[1:2], mask[1:2], Semantics(*(m[1:2] for m in maps))).albedo(rgb[1:2])
    assert torch.allclose(all_three[1:2], one, atol=1e-5)


def test_missing_weights_are_a_recorded_fallback_or_an_error():
    subject, _ = rendered("mug", 5)
    config = TextureConfig(albedo="auto", model="no-such-model")
    layers = photo_layers(subject, config)
    assert layers.lit and layers.values.shape[-1] == 3
    assert "no-such-model" in layers.fallbacks[0].what
    with pytest.raises(CheckpointError, match="no-such-model"):
        photo_layers(subject, dataclasses.replace(config, albedo="model"))


def test_the_multi_view_transformer_learns_its_samples_and_uses_the_photo():
    """Two objects of one shape and two colours: only the photo tells which colour to paint."""
    surface = canonical_surface(procedural_recipe("mug", 4, 1).make()[0])
    caster = Caster(surface.mesh)
    cameras = target_cameras(2)
    shape = np.stack([geometry_maps(surface, c, 16, caster) for c in cameras])
    mask = np.abs(shape).sum(axis=1, keepdims=True) > 0
    assert np.abs(base_color_view(surface, cameras[0], 16, caster) - 1.0)[:, mask[0, 0]].max() > 0.1
    colors = np.array([[0.8, -0.6, -0.6], [-0.6, -0.2, 0.9]], np.float32)
    views = np.where(mask[None], colors[:, None, :, None, None], 1.0).astype(np.float32)
    photos = np.concatenate([views[:, 0], np.where(mask[0], 1.0, -1.0)[None].repeat(2, 0)], axis=1)
    clean, photo_ = torch.from_numpy(views), torch.from_numpy(photos.astype(np.float32))
    geometry = torch.from_numpy(shape.astype(np.float32))[None].repeat(2, 1, 1, 1, 1)
    torch.manual_seed(0)
    model = MultiViewDiT(views=2, size=16, patch=4, width=48, heads=2, layers=2)
    optimizer = torch.optim.AdamW(model.parameters(), 5e-3)
    generator = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(90):
        loss = multiview_loss(model, clean, geometry, photo_, 2.0, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-20:]) < 0.2 * np.mean(losses[:5])
    found = sample_views(model.eval(), geometry, photo_, steps=4, guidance=1.0)
    assert (found - clean).abs().mean() < 0.2
    other = sample_views(model, geometry[:1], photo_[:1], steps=4, guidance=1.0)
    assert torch.allclose(other[0], found[0], atol=1e-4)


def test_mv_adapter_gets_positions_and_normals_and_says_what_is_missing(tmp_path):
    surface = canonical_surface(procedural_recipe("mug", 5, 1).make()[0])
    maps = mv_adapter.control_images(surface, 32)
    assert maps.shape == (6, 6, 32, 32) and maps.min() >= 0.0 and maps.max() <= 1.0
    front, top = maps[0] * 2 - 1, maps[4] * 2 - 1
    inside = np.abs(front[3:]).sum(axis=0) > 0.1
    assert np.median(front[3][inside]) > 0.5  # the front's normals face +x
    assert front[2][inside].max() > front[2][inside].min() + 0.5  # and its heights differ
    assert np.median(top[5][np.abs(top[3:]).sum(axis=0) > 0.1]) > 0.5
    with pytest.raises(CheckpointError, match="stable-diffusion-xl"):
        mv_adapter.load_pipeline(tmp_path, tmp_path)
    (tmp_path / "model_index.json").touch()
    with pytest.raises(CheckpointError, match="mvadapter_ig2mv_sdxl"):
        mv_adapter.load_pipeline(tmp_path, tmp_path)
    (tmp_path / mv_adapter.WEIGHTS).touch()
    with pytest.raises(MissingDependencyError, match="MV-Adapter"):
        mv_adapter.load_pipeline(tmp_path, tmp_path)


def test_the_bundled_networks_load_and_give_the_same_maps_twice():
    subject, _ = rendered("mug", 5)
    load_completion(TEXTURE_MODEL)
    first, again = (decompose(subject, TEXTURE_MODEL) for _ in range(2))
    for name in ("albedo", "roughness", "metallic"):
        value = getattr(first, name)
        assert (value == getattr(again, name)).all()
        assert value.min() >= 0.0 and value.max() <= 1.0
