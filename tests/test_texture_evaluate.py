"""Measures of textures against cases with a known answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from seed3d.config import Config, TextureConfig, to_dict
from seed3d.conventions import linear_to_srgb, srgb_to_linear
from seed3d.evaluate.perceptual import perceptual_distance
from seed3d.evaluate.texture import evaluate_texture, summarise_texture
from seed3d.evaluate.texture_baselines import baseline_maps
from seed3d.evaluate.texture_scores import _beside, bad_texels, psnr, seam_jump_ratio, ssim
from seed3d.render.cameras import framed_camera
from seed3d.render.lighting import Lighting
from seed3d.render.shade import render
from seed3d.texture.charts import connected
from seed3d.texture.level import level_seams
from seed3d.texture.paint import paint_from_photo
from seed3d.texture.texels import Texels, chart_texels, color_map, with_rim
from seed3d.texture.unwrap import unwrap_by_projection
from seed3d.types import Atlas, Camera, Mesh, Subject, Surface, SurfaceMaterial

CONFIG = TextureConfig(size=128, padding=3, albedo="photo")
RED, BLUE = (0.8, 0.15, 0.1), (0.15, 0.25, 0.8)


@pytest.fixture(scope="module")
def ball() -> tuple[Mesh, Atlas, Texels]:
    import trimesh

    mesh = Mesh.from_trimesh(trimesh.creation.icosphere(3, 0.95))
    atlas = unwrap_by_projection(mesh, CONFIG)
    return mesh, atlas, chart_texels(mesh, atlas, CONFIG.size)


@pytest.fixture(scope="module")
def two_coloured(ball) -> tuple[Camera, np.ndarray, np.ndarray]:
    """Left half red, right half blue, seen from the front: camera, sRGB and coverage."""
    mesh = ball[0]
    right = (mesh.vertices[mesh.faces].mean(axis=1)[:, 1] < 0).astype(np.int64)
    looks = tuple(SurfaceMaterial(c, 0.0, 0.9) for c in (RED, BLUE))
    surface = Surface(mesh, np.zeros((len(mesh.faces), 3, 2)), right, looks)
    camera = framed_camera(mesh.vertices, 0.0, 0.2, 4.0)
    picture = render(surface, camera, 128, Lighting.ambient(0.75), 2)
    return camera, picture.rgb.astype(np.float32), picture.alpha


def pattern(size: int = 64) -> np.ndarray:
    """Blobs and stripes in colour."""
    y, x = np.mgrid[0:size, 0:size] / size
    channels = [
        np.sin(25 * x + 4 * y),
        np.sin(18 * y * (1 + x)),
        np.cos(30 * (x - 0.4) * (y + 0.2)),
    ]
    return (0.5 + 0.35 * np.stack(channels, axis=-1)).astype(np.float32)


def test_signal_to_noise_of_a_constant_offset_and_of_object_pixels_only():
    true = np.full((20, 20, 3), 0.5)
    assert psnr(true + 0.1, true) == pytest.approx(20.0)
    assert psnr(true, true) == 60.0
    half = true.copy()
    half[:10] += 0.1
    weight = np.zeros((20, 20))
    weight[:10] = 1.0
    assert psnr(half, true) == pytest.approx(20.0 + 10 * np.log10(2))
    assert psnr(half, true, weight) == pytest.approx(20.0)


def test_structural_similarity_sees_structure_not_brightness():
    image = pattern()
    assert ssim(image, image) == pytest.approx(1.0)
    mixed = np.random.default_rng(0).permutation(image.reshape(-1, 3)).reshape(image.shape)
    assert ssim(np.clip(image * 0.9, 0, 1), image) > 0.9 > 0.2 > ssim(mixed, image)


def test_perceptual_distance_orders_distortions():
    from scipy.ndimage import gaussian_filter

    image = pattern()
    noise = np.random.default_rng(0).normal(size=image.shape).astype(np.float32)

    def distance(*others: np.ndarray) -> np.ndarray:
        return perceptual_distance(np.stack(others), np.stack([image] * len(others)))

    def blur(sigma: float) -> np.ndarray:
        return gaussian_filter(image, (sigma, sigma, 0))

    noisy = [np.clip(image + s * noise, 0, 1) for s in (0.03, 0.1, 0.3)]
    same, *rest = distance(
        image, blur(1), blur(2), blur(4), *noisy, np.roll(image, 1, axis=1), image * 0.93,
        np.rot90(image).copy(),
    )  # fmt: skip
    assert same == pytest.approx(0.0, abs=1e-6)
    blurs, noises, (shifted, darker, other) = rest[:3], rest[3:6], rest[6:]
    assert 0 < blurs[0] < blurs[1] < blurs[2] < 2
    assert 0 < noises[0] < noises[1] < noises[2]
    # A blur that destroys the pattern is worse than a faint change of brightness or a shift,
    # though the squared error of the shift is large.
    assert darker < blurs[1] and shifted < blurs[2] and shifted < other
    swapped = perceptual_distance(image[None], blur(2)[None])
    assert swapped == pytest.approx(perceptual_distance(blur(2)[None], image[None]), rel=1e-4)
    with pytest.raises(ValueError, match="wanted"):
        perceptual_distance(image[None], image[None, :-1])


def test_bad_texels_are_black_or_white_ones_that_should_not_be():
    found = np.array(
        [[0, 0, 0], [255, 255, 255], [0, 0, 0], [255, 255, 255], [0, 255, 0]], np.uint8
    )
    true = np.array([[80, 9, 9], [90, 90, 90], [9, 9, 9], [250, 250, 250], [0, 0, 0]], np.uint8)
    assert bad_texels(found, true).tolist() == [True, True, False, False, False]


def test_colours_are_looked_up_square_to_an_edge_even_in_slivers():
    rng = np.random.default_rng(0)
    corners = np.concatenate([rng.normal(size=(40, 3, 3)), rng.normal(size=(40, 3, 3)) * 1e-2])
    corners[40:, 1, 0] += 5.0  # long and thin
    count = len(corners)
    mesh = Mesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    vertex = np.arange(3 * count)
    atlas = Atlas(vertex, mesh.faces, rng.random((3 * count, 2)), 1.0)
    tail, head, share = mesh.faces[:, 0], mesh.faces[:, 1], rng.random((count, 1))
    face, step = np.arange(count), 1e-3
    found = _beside(mesh, atlas, face, tail, head, share, step)

    uv = atlas.uv.reshape(-1, 3, 2)
    base = np.stack([uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]], axis=2)
    weight = np.linalg.solve(base, (found - uv[:, 0])[:, :, None])[:, :, 0]
    assert (weight > 0).all() and (weight.sum(axis=1) < 1).all()  # within the face
    a, b, c = corners.transpose(1, 0, 2)
    place = a + weight[:, :1] * (b - a) + weight[:, 1:] * (c - a)
    away = place - (a + share * (b - a))
    along = np.abs(np.einsum("nc,nc->n", away, b - a)) / np.linalg.norm(b - a, axis=1)
    assert along.max() < 1e-9
    assert np.linalg.norm(away, axis=1).max() <= step * (1 + 1e-9)
    assert np.median(np.linalg.norm(away, axis=1)) == pytest.approx(step)


def test_seams_of_a_smooth_field_can_not_be_told_and_tinted_charts_can(ball):
    mesh, atlas, texels = ball
    texels, inner = with_rim(texels, mesh, atlas)
    assert inner.sum() == len(ball[2].face) and (texels.position[inner] == ball[2].position).all()
    # The rim goes on along its face: a texel's width away from the sphere at the most.
    assert np.linalg.norm(texels.position[~inner], axis=1) == pytest.approx(0.97, abs=0.05)
    field = 0.5 + 0.3 * texels.position
    smooth = color_map(field, texels.covered)
    assert seam_jump_ratio(mesh, atlas, smooth) == pytest.approx(1.0, abs=0.15)
    edges = np.concatenate([atlas.faces[:, [0, 1]], atlas.faces[:, [1, 2]]])
    chart = connected(edges, len(atlas.vertex))[atlas.faces[:, 0]]
    tint = np.linspace(0.8, 1.2, chart.max() + 1)[chart[texels.face]]
    tinted = color_map(field * tint[:, None], texels.covered)
    assert seam_jump_ratio(mesh, atlas, tinted) > 3.0
    # Edges where the true colours jump don't count: here all seams do.
    assert seam_jump_ratio(mesh, atlas, tinted, tinted) is None or seam_jump_ratio(
        mesh, atlas, tinted, tinted
    ) < seam_jump_ratio(mesh, atlas, tinted)
    assert seam_jump_ratio(mesh, atlas, smooth, fewest=10**6) is None
    # Of one colour, or off it by less than a screen can show: seams can't be told.
    flat = np.full_like(smooth, 90)
    assert seam_jump_ratio(mesh, atlas, flat) == seam_jump_ratio(mesh, atlas, flat, flat) == 1.0
    assert seam_jump_ratio(mesh, atlas, flat + np.eye(3, dtype=np.uint8)[0]) == 1.0


def test_edges_beside_a_border_of_two_materials_do_not_count(ball):
    """A band of red whose border runs beside seams, misplaced by a texel as photos show it."""
    mesh, atlas, texels = ball
    texels, _ = with_rim(texels, mesh, atlas)

    def banded(shift: float) -> np.ndarray:
        axis = np.abs(texels.position).max(axis=1) - np.sort(np.abs(texels.position), axis=1)[:, 1]
        return color_map(np.where((axis < shift)[:, None], RED, BLUE), texels.covered)

    true, found = banded(0.02), banded(0.03)
    assert seam_jump_ratio(mesh, atlas, found) > 1.3
    ratio = seam_jump_ratio(mesh, atlas, found, true, ball[2])
    assert ratio is None or ratio <= 1.1


def test_baselines_do_what_their_names_say(ball, two_coloured):
    mesh, atlas, texels = ball
    camera, rgb, alpha = two_coloured
    subject = Subject(rgb * alpha[..., None] + 1 - alpha[..., None], alpha, "alpha")
    prior = SurfaceMaterial(metallic=0.25, roughness=0.75)
    maps, lit, seen = baseline_maps(mesh, atlas, texels, subject, camera, prior, CONFIG)
    flat = maps["flat_mean"].base_color[texels.covered]
    assert (flat == flat[0]).all()
    nearest = maps["nearest"].base_color[texels.covered].astype(int)
    assert (np.unique(nearest[~seen], axis=0)[:, None] == nearest[seen]).all(-1).any(1).all()
    clear = np.abs(texels.position[:, 1]) > 0.2
    red = nearest[:, 0] > nearest[:, 2]
    assert (red == (texels.position[:, 1] > 0))[clear].mean() > 0.95
    assert (lit.base_color == maps["nearest"].base_color).all()  # the light was left in
    assert (maps["nearest"].metallic_roughness[texels.covered] == [255, 191, 64]).all()
    share = ((texels.position * camera.position).sum(1) > 0.95**2).mean()
    assert 0.55 * share < seen.mean() <= share


def test_no_texel_takes_anything_from_the_background(ball, two_coloured):
    """The same photo on white and on magenta gives the same map, byte for byte."""
    mesh, atlas, texels = ball
    camera, rgb, alpha = two_coloured
    cover = alpha[..., None]
    maps = []
    for background in ((1.0, 1.0, 1.0), (1.0, 0.0, 1.0)):
        on = (rgb * cover + np.array(background, np.float32) * (1 - cover)).astype(np.float32)
        subject = Subject(on, alpha, "alpha")
        told: list[tuple[str, float]] = []
        maps.append(
            paint_from_photo(
                mesh,
                atlas,
                subject,
                camera,
                SurfaceMaterial(),
                CONFIG,
                lambda what, done, told=told: told.append((what, done)),
            )
        )
        assert [t[1] for t in told] == sorted(t[1] for t in told) and len(told) == 5
    gap = np.abs(maps[0].base_color.astype(int) - maps[1].base_color)
    assert gap.max() <= 1  # pixels at the rim of full coverage hold up to 5 % of it, out of trust
    inside = maps[0].base_color[texels.covered]
    assert not bad_texels(inside, np.full_like(inside, 128)).any()
    assert seam_jump_ratio(mesh, atlas, maps[0].base_color) <= 1.1


def test_colours_agree_along_seams_where_the_surface_is_completed(ball):
    from seed3d.texture.paint import _carried

    mesh, atlas, texels = ball
    texels, _ = with_rim(texels, mesh, atlas)
    coarse = chart_texels(mesh, atlas, 64)
    everywhere = np.arange(len(texels.face))
    carried = _carried(0.5 + 0.3 * coarse.position, coarse, texels, everywhere)
    assert np.abs(carried - (0.5 + 0.3 * texels.position)).max() < 0.03
    rough = seam_jump_ratio(mesh, atlas, color_map(carried, texels.covered))
    unseen = np.zeros(len(carried), np.float32)
    srgb = level_seams(linear_to_srgb(carried), unseen, texels, mesh, atlas)
    level = seam_jump_ratio(mesh, atlas, color_map(srgb_to_linear(srgb), texels.covered))
    assert level < rough < 1.35 and level < 1.25  # of a map two times coarser, one level inside


def chart_of_texels(atlas: Atlas, texels: Texels) -> np.ndarray:
    edges = np.concatenate([atlas.faces[:, [0, 1]], atlas.faces[:, [1, 2]]])
    return connected(edges, len(atlas.vertex))[atlas.faces[texels.face, 0]]


def test_levelled_charts_meet_and_keep_what_lies_inside_them(ball):
    mesh, atlas, texels = ball
    texels, _ = with_rim(texels, mesh, atlas)
    field = (0.5 + 0.3 * texels.position).astype(np.float32)
    chart = chart_of_texels(atlas, texels)
    nothing = np.zeros(len(field), np.float32)

    def level(color: np.ndarray, trust: np.ndarray) -> np.ndarray:
        return level_seams(color.astype(np.float32), trust, texels, mesh, atlas)

    def ratio(srgb: np.ndarray) -> float | None:
        image = color_map(srgb_to_linear(np.clip(srgb, 0, 1)), texels.covered)
        return seam_jump_ratio(mesh, atlas, image)

    # What meets already stays: only bilinear look-ups of a sloped field are evened out.
    assert np.abs(level(field, nothing) - field).max() < 0.01
    offset = np.linspace(-0.05, 0.05, chart.max() + 1)[chart][:, None]
    assert ratio(field + offset) > 3.0
    for trust in (nothing, nothing + 1.0):
        found = level(field + offset, trust)
        assert ratio(found) <= 1.1
    # Where the photo shows one chart only, that one keeps its colour and the others follow.
    shown = (chart == 0).astype(np.float32)
    gap = np.abs(level(field + offset, shown) - field - offset).mean(axis=1)
    assert gap[chart == 0].max() < 0.5 * gap[chart != 0].max()


def test_seams_between_two_materials_that_the_photo_shows_stay_sharp(ball):
    mesh, atlas, texels = ball
    texels, _ = with_rim(texels, mesh, atlas)
    chart = chart_of_texels(atlas, texels)
    color = np.where((chart == 0)[:, None], RED, BLUE).astype(np.float32)
    seen = np.ones(len(color), np.float32)
    assert (level_seams(color, seen, texels, mesh, atlas) == color).all()
    unseen = level_seams(color, 0 * seen, texels, mesh, atlas)
    assert np.abs(unseen - color).max() > 0.2  # invented colours needn't be kept


def test_stretch_of_known_maps():
    from seed3d.texture.stretch import atlas_stretch

    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    mesh = Mesh(square, np.array([[0, 1, 2], [0, 2, 3]]))

    def stretch(*scale: float) -> float:
        uv = square[:, :2] * np.array(scale)
        return atlas_stretch(mesh, Atlas(np.arange(4), mesh.faces, uv, 1.0))

    assert stretch(0.3, 0.3) == pytest.approx(1.0)
    # Twice as wide: singular values 1/2 and 1, areas 2 to 1.
    assert stretch(1.0, 0.5) == pytest.approx(np.sqrt((0.25 + 1) / 2 * 2))


def row(key: str, value: float) -> dict:
    scores = {w: {"psnr_db": value, "ssim": 0.9, "perceptual": 0.1} for w in ("front", "unseen")}
    methods = dict.fromkeys(("seed3d", "nearest", "mirror_nearest", "flat_mean"), scores)
    return {
        "key": key, "geometry": "true", "seconds": value, "bad_texel_share": 0.0,
        "shares": {"seen": 0.3, "generated": 0.0, "completed": 0.7}, "albedo_error": 0.05,
        "photo_as_albedo_error": 0.1, "seam_jump_ratio": None, **methods,
    }  # fmt: skip


def test_a_run_goes_on_where_it_stopped_and_its_table_has_the_agreed_keys(tmp_path):
    def unwanted() -> None:
        raise AssertionError("measured again")

    kept = tmp_path / "rows.jsonl"
    config = Config()
    setting = json.dumps(to_dict(config), sort_keys=True, default=str)
    lines = [setting, json.dumps(row("a", 30.0)), json.dumps(row("b", 20.0)), '{"cut o']
    kept.write_text("\n".join(lines))
    rows = list(evaluate_texture([("a", unwanted), ("b", unwanted)], config, ("true",), kept))
    table = summarise_texture(rows)
    assert table["count"] == 2
    assert table["front"]["psnr_db_mean"] == table["seconds_median"] == 25.0
    assert set(table["unseen"]) == {"psnr_db_mean", "ssim_mean", "perceptual_mean"}
    assert set(table["baselines"]) == {"nearest", "mirror_nearest", "flat_mean"}
    assert table["baselines"]["nearest"]["unseen"]["psnr_db_mean"] == 25.0
    assert table["albedo_error_mean"] == 0.05 and table["photo_as_albedo_error_mean"] == 0.1
    assert table["bad_texel_share"] == 0.0 and table["seam_jump_ratio_mean"] is None
    with pytest.raises(AssertionError, match="measured again"):
        next(evaluate_texture([("c", unwanted)], config, ("true",), kept))
    other = Config(texture=TextureConfig(size=64))
    with pytest.raises(AssertionError, match="measured again"):
        next(evaluate_texture([("a", unwanted)], other, ("true",), kept))


def test_colours_of_a_dark_photo_stay_within_what_surfaces_reflect(ball, two_coloured):
    from seed3d.texture.paint import ALBEDO

    mesh, atlas, _ = ball
    camera, rgb, alpha = two_coloured
    for scale, bound in ((0.0, ALBEDO[0]), (5.0, ALBEDO[1])):
        dark = np.clip(scale * rgb + (scale > 1), 0, 1) * alpha[..., None] + 1 - alpha[..., None]
        subject = Subject(dark.astype(np.float32), alpha, "alpha")
        maps = paint_from_photo(mesh, atlas, subject, camera, SurfaceMaterial(), CONFIG)
        expected = round(float(linear_to_srgb(np.array(bound))) * 255)
        assert np.abs(maps.base_color.astype(int) - expected).max() <= 1
