"""Atlases against exact overlap tests, paint against objects whose colours are known."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from seed3d.config import ExportConfig, TextureConfig
from seed3d.conventions import linear_to_srgb, srgb_to_linear
from seed3d.errors import StageError
from seed3d.pictures import preview_files
from seed3d.render.cameras import framed_camera, orbit_camera
from seed3d.render.lighting import DirectionalLight, Lighting
from seed3d.render.normals import corner_normals
from seed3d.render.raycast import Caster
from seed3d.render.shade import render
from seed3d.texture import unwrap as unwrap_module
from seed3d.texture.charts import box_charts, conflict_free, corner_uv, overlapping_pairs
from seed3d.texture.light import SHEEN, fit_shading
from seed3d.texture.pack import pack_boxes
from seed3d.texture.paint import paint_from_photo
from seed3d.texture.preview import canonical_pose, draw, hull_color, preview
from seed3d.texture.surface import asset_surface
from seed3d.texture.texels import chart_texels
from seed3d.texture.transfer import paint_from_surface
from seed3d.texture.unwrap import unwrap, unwrap_by_projection
from seed3d.types import (
    Asset,
    Atlas,
    Collision,
    Mesh,
    Pictures,
    RigidBody,
    Subject,
    Surface,
    SurfaceMaterial,
)

CONFIG = TextureConfig(size=256, padding=3)
RED, GREEN, BLUE = (0.8, 0.15, 0.1), (0.1, 0.7, 0.2), (0.15, 0.25, 0.8)


def to_mesh(shape: object) -> Mesh:
    return Mesh.from_trimesh(shape)


def box(extents: tuple[float, float, float] = (1.9, 1.9, 1.9), cuts: int = 2) -> Mesh:
    import trimesh

    shape = trimesh.creation.box(extents)
    for _ in range(cuts):
        shape = shape.subdivide()
    return to_mesh(shape)


def sphere(subdivisions: int = 3, radius: float = 0.95) -> Mesh:
    import trimesh

    return to_mesh(trimesh.creation.icosphere(subdivisions, radius))


def torus() -> Mesh:
    import trimesh

    return to_mesh(trimesh.creation.torus(0.65, 0.28, major_sections=48, minor_sections=24))


def colored(mesh: Mesh, face_material: np.ndarray, *colors: tuple[float, float, float]) -> Surface:
    materials = tuple(SurfaceMaterial(c, 0.0, 0.8) for c in colors)
    return Surface(mesh, np.zeros((len(mesh.faces), 3, 2)), face_material, materials)


def by_side(mesh: Mesh, axis: int) -> np.ndarray:
    """1 for faces on the positive side of an axis, else 0."""
    return (mesh.vertices[mesh.faces].mean(axis=1)[:, axis] > 0).astype(np.int64)


def photo(surface: Surface, camera: object, lighting: Lighting, size: int = 256) -> Subject:
    picture = render(surface, camera, size, lighting, 2)
    return Subject(picture.over().astype(np.float32), picture.alpha, "alpha")


def rasterise(atlas: Atlas, size: int) -> np.ndarray:
    """Count for each texel centre the faces that hold it strictly: an oracle of its own."""
    count = np.zeros((size, size), np.int64)
    uv = atlas.uv[atlas.faces] * size
    for a, b, c in uv:
        low = np.floor(np.minimum(np.minimum(a, b), c)).astype(int)
        high = np.ceil(np.maximum(np.maximum(a, b), c)).astype(int)
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        sides = [
            (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])
            for p, q in ((a, b), (b, c), (c, a))
        ]
        eps = 1e-6 * size
        inside = np.all([s > eps for s in sides], axis=0) | np.all(
            [s < -eps for s in sides], axis=0
        )
        count[low[1] : high[1], low[0] : high[0]] += inside
    return count


@pytest.fixture(scope="module")
def torus_atlas() -> tuple[Mesh, Atlas]:
    mesh = torus()
    return mesh, unwrap(mesh, CONFIG)


def test_xatlas_keeps_the_faces_and_never_covers_a_texel_twice(torus_atlas):
    mesh, atlas = torus_atlas
    assert atlas.fallbacks == ()
    assert (atlas.vertex[atlas.faces] == mesh.faces).all()
    assert atlas.uv.min() >= 0 and atlas.uv.max() <= 1
    count = rasterise(atlas, 400)
    assert count.max() == 1
    assert atlas.utilisation == pytest.approx(count.mean(), rel=0.02)
    assert atlas.utilisation > 0.25


@pytest.mark.parametrize("make", [box, sphere, torus])
def test_own_charts_keep_the_faces_and_never_overlap(make):
    mesh = make()
    atlas = unwrap_by_projection(mesh, CONFIG)
    assert (atlas.vertex[atlas.faces] == mesh.faces).all()
    uv = atlas.uv[atlas.faces]
    assert len(overlapping_pairs(uv, np.zeros(len(uv), np.int64))) == 0
    count = rasterise(atlas, 400)
    assert count.max() == 1
    assert atlas.utilisation == pytest.approx(count.mean(), rel=0.02)
    assert atlas.utilisation > 0.4


def test_charts_lie_apart_by_the_padding():
    from scipy.ndimage import distance_transform_edt, label

    atlas = unwrap_by_projection(sphere(), CONFIG)
    covered = rasterise(atlas, CONFIG.size) > 0
    pieces, count = label(covered)
    assert count == 6
    for piece in range(1, count + 1):
        others = covered & (pieces != piece)
        gap = distance_transform_edt(~others)[pieces == piece].min()
        assert gap >= CONFIG.padding


def spiral_stair() -> Mesh:
    """A ramp that turns twice: its projection along z covers itself."""
    angle = np.linspace(0, 4 * np.pi, 81)
    rim = np.column_stack([np.cos(angle), np.sin(angle), angle / 8])
    inner = rim * np.array([0.4, 0.4, 1.0])
    vertices = np.concatenate([rim, inner])
    i = np.arange(80)
    faces = np.concatenate(
        [np.column_stack([i, i + 1, i + 81]), np.column_stack([i + 1, i + 82, i + 81])]
    )
    return Mesh(vertices, faces)


def test_a_chart_that_covers_itself_is_split():
    mesh = spiral_stair()
    chart, axis = box_charts(mesh)
    flat = corner_uv(mesh, axis)
    assert len(overlapping_pairs(flat, chart)) > 50
    split = conflict_free(mesh, chart, flat)
    assert len(overlapping_pairs(flat, split)) == 0
    assert split.max() + 1 <= 4  # two turns: layers, not shreds
    assert rasterise(unwrap_by_projection(mesh, CONFIG), 300).max() == 1


def test_a_crash_of_xatlas_falls_back_and_says_so():
    """81,920-face icosphere: xatlas 0.0.11 ends its process with a segmentation fault."""
    mesh = sphere(6)
    atlas = unwrap(mesh, TextureConfig(unwrap_timeout_s=30.0))
    assert (atlas.vertex[atlas.faces] == mesh.faces).all()
    assert atlas.utilisation > 0.4
    uv = atlas.uv[atlas.faces]
    chart = box_charts(mesh)[0]
    assert len(overlapping_pairs(uv, chart)) == 0
    if atlas.fallbacks:  # a mended xatlas may succeed
        assert "xatlas ended with code" in atlas.fallbacks[0].what


def test_a_slow_or_broken_xatlas_is_recorded(monkeypatch, tmp_path):
    worker = tmp_path / "worker.py"
    worker.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(unwrap_module, "WORKER", worker)
    start = time.monotonic()
    atlas = unwrap(box(), TextureConfig(size=128, unwrap_timeout_s=0.5))
    assert time.monotonic() - start < 20
    assert "took longer than 5 s by the clock" in atlas.fallbacks[0].what
    worker.write_text("import os; os.abort()")
    atlas = unwrap(box(), TextureConfig(size=128))
    assert "ended with code -6" in atlas.fallbacks[0].what
    worker.write_text("raise RuntimeError('no atlas today')")
    atlas = unwrap(box(), TextureConfig(size=128))
    assert "no atlas today" in atlas.fallbacks[0].what


def test_unwrap_gives_the_same_atlas_twice(torus_atlas):
    mesh, first = torus_atlas
    second = unwrap(mesh, CONFIG)
    assert first.uv.tobytes() == second.uv.tobytes()
    assert first.faces.tobytes() == second.faces.tobytes()


def test_a_mesh_without_faces_is_refused():
    with pytest.raises(StageError, match="0 faces"):
        unwrap(Mesh(np.zeros((3, 3)), np.zeros((0, 3), np.int64)), CONFIG)


def test_more_charts_than_texels_is_an_error_that_names_the_way_out():
    uv = np.tile(np.array([[0.0, 0], [1, 0], [0, 1]]), (500, 1, 1))
    with pytest.raises(StageError, match=r"500 charts.*texture\.size"):
        pack_boxes(uv, np.arange(500), 32, 4)


def test_corner_normals_of_a_cube_are_its_face_normals_and_of_a_sphere_radial():
    cube = box(cuts=1)
    middle = cube.vertices[cube.faces].mean(axis=1)
    axis = np.abs(middle).argmax(axis=1)
    expected = np.eye(3)[axis] * np.sign(middle[np.arange(len(axis)), axis])[:, None]
    assert corner_normals(cube) == pytest.approx(np.repeat(expected[:, None], 3, axis=1))
    ball = sphere()
    radial = ball.vertices[ball.faces] / 0.95
    assert np.abs(corner_normals(ball) - radial).max() < 0.02


def test_texels_lie_where_their_face_says(torus_atlas):
    mesh, atlas = torus_atlas
    texels = chart_texels(mesh, atlas, 128)
    ring = np.hypot(texels.position[:, 0], texels.position[:, 1]) - 0.65
    assert np.hypot(ring, texels.position[:, 2]) == pytest.approx(0.28, abs=5e-3)
    assert texels.covered.mean() == pytest.approx(atlas.utilisation, rel=0.03)
    assert (texels.covered == (rasterise(atlas, 128)[::-1] > 0)).mean() > 0.995


def test_transfer_bakes_a_known_colour_field(torus_atlas):
    """Vertex colours that are linear in position come back at every texel."""
    mesh, atlas = torus_atlas

    def field(p: np.ndarray) -> np.ndarray:
        return 0.5 + 0.4 * p

    shade = (linear_to_srgb(field(mesh.vertices)) * 255 + 0.5).astype(np.uint8)
    source = Surface(
        mesh,
        np.zeros((len(mesh.faces), 3, 2)),
        np.zeros(len(mesh.faces), np.int64),
        (SurfaceMaterial((1, 1, 1), 0.25, 0.75),),
        vertex_color=shade,
    )
    maps = paint_from_surface(mesh, atlas, source, CONFIG)
    texels = chart_texels(mesh, atlas, CONFIG.size)
    got = srgb_to_linear(maps.base_color[texels.covered] / 255.0)
    assert np.abs(got - field(texels.position)).max() < 0.02
    assert (maps.metallic_roughness.reshape(-1, 3) == [255, 191, 64]).all()
    assert (maps.normal.reshape(-1, 3) == [128, 128, 255]).all()
    assert maps.seen_share == 1.0


def test_transfer_tells_the_two_sides_of_a_sheet_apart():
    """Two faces in one place, red above and blue below, baked onto a thin plate."""
    corners = np.array([[-0.9, -0.9, 0], [0.9, -0.9, 0], [0.9, 0.9, 0], [-0.9, 0.9, 0]])
    up = np.array([[0, 1, 2], [0, 2, 3]])
    sheet = Mesh(corners, np.concatenate([up, up[:, ::-1]]))
    source = colored(sheet, np.array([0, 0, 1, 1]), RED, BLUE)
    plate = box((1.8, 1.8, 0.02), 1)
    atlas = unwrap_by_projection(plate, CONFIG)
    maps = paint_from_surface(plate, atlas, source, CONFIG)
    texels = chart_texels(plate, atlas, CONFIG.size)
    color = maps.base_color[texels.covered]
    up_facing, down_facing = texels.flat_normal[:, 2] > 0.9, texels.flat_normal[:, 2] < -0.9
    assert np.abs(color[up_facing] - np.array(RED) * 255).max() <= 1
    assert np.abs(color[down_facing] - np.array(BLUE) * 255).max() <= 1


def test_photo_colours_what_it_sees_and_completes_the_rest_without_background():
    """Left half green, right half blue, under even light, seen from the front."""
    mesh = sphere(4)
    truth = colored(mesh, by_side(mesh, 1), BLUE, GREEN)
    camera = framed_camera(mesh.vertices, 0.0, 0.2, 4.0)
    subject = photo(truth, camera, Lighting.ambient(0.75))
    atlas = unwrap_by_projection(mesh, CONFIG)
    prior = SurfaceMaterial((0.5, 0.5, 0.5), 0.0, 0.8)
    maps = paint_from_photo(mesh, atlas, subject, camera, prior, CONFIG)
    texels = chart_texels(mesh, atlas, CONFIG.size)
    color = maps.base_color[texels.covered].astype(int)
    green = texels.position[:, 1] > 0
    clear = np.abs(texels.position[:, 1]) > 0.12
    # Hue is right everywhere, seen or not: every texel is nearer to its own colour.
    to_green = np.abs(color - np.array(GREEN) * 255).sum(axis=1)
    to_blue = np.abs(color - np.array(BLUE) * 255).sum(axis=1)
    front = texels.position[:, 0] > 0.3
    assert ((to_green < to_blue) == green)[clear & front].mean() > 0.999
    assert ((to_green < to_blue) == green)[clear].mean() > 0.9
    # No texel of the whole map is the white background, or black.
    flat = maps.base_color.reshape(-1, 3)
    assert flat.min(axis=1).max() < 120
    assert flat.max(axis=1).min() > 100
    # Half trust is half way up the ramp of the viewing angle.
    towards = camera.position - texels.position
    cosine = (towards * texels.normal).sum(axis=1) / np.linalg.norm(towards, axis=1)
    assert maps.seen_share == pytest.approx((cosine > 0.26).mean(), abs=0.02)
    # All of the light is even, so the albedo keeps its ratios.
    seen = clear & front & green
    assert np.abs(color[seen].mean(axis=0) - np.array(GREEN) * 255).max() < 26


def test_the_unseen_side_of_a_symmetric_box_mirrors_the_seen_one():
    mesh = box((1.9, 1.2, 0.8), 3)
    stripe = (np.abs(mesh.vertices[mesh.faces].mean(axis=1)[:, 0]) < 0.4).astype(np.int64)
    truth = colored(mesh, stripe, RED, BLUE)
    camera = framed_camera(mesh.vertices, 0.9, 0.5, 5.0)  # sees front, left and top
    subject = photo(truth, camera, Lighting.ambient(0.75))
    atlas = unwrap_by_projection(mesh, CONFIG)
    maps = paint_from_photo(mesh, atlas, subject, camera, SurfaceMaterial(), CONFIG)
    texels = chart_texels(mesh, atlas, CONFIG.size)
    color = maps.base_color[texels.covered].astype(int)
    right = texels.flat_normal[:, 1] < -0.9
    x = np.abs(texels.position[:, 0])
    edge = (np.abs(x - 0.36) < 0.16) | (x > 0.85)  # the stripe's triangles are jagged
    blue = color[:, 2] > color[:, 0]
    assert (blue == (x < 0.4))[right & ~edge].mean() > 0.97
    again = paint_from_photo(mesh, atlas, subject, camera, SurfaceMaterial(), CONFIG)
    assert again.base_color.tobytes() == maps.base_color.tobytes()


def test_a_photo_of_something_else_is_reported_not_invented():
    mesh = sphere(3)
    camera = orbit_camera(0.0, 0.2)
    empty = Subject(np.ones((64, 64, 3), np.float32), np.zeros((64, 64), np.float32), "model")
    atlas = unwrap_by_projection(mesh, CONFIG)
    prior = SurfaceMaterial(GREEN, 0.0, 0.5)
    maps = paint_from_photo(mesh, atlas, empty, camera, prior, CONFIG)
    assert "shows no part" in maps.fallbacks[0].what
    assert maps.seen_share == 0.0
    assert np.abs(maps.base_color - np.array(GREEN) * 255).max() <= 1
    assert (maps.metallic_roughness.reshape(-1, 3) == [255, 128, 0]).all()


def test_light_of_a_known_shading_is_found_and_removed():
    """Two albedos under log-linear shading: the fit returns its coefficients."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(4000, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    slope = np.array([0.3, -0.2, 0.5])
    kind = (normal[:, 0] + rng.normal(size=4000) > 0)[:, None]
    albedo = np.where(kind, srgb_to_linear(np.array(RED)), srgb_to_linear(np.array(GREEN)))
    lit = albedo * np.exp(normal @ slope)[:, None] + SHEEN
    shading = fit_shading(lit, normal, np.ones(4000))
    assert shading.coefficients == pytest.approx(slope, abs=0.03)
    ratio = shading.remove(lit, normal) / albedo
    assert ratio.std() / ratio.mean() < 0.05


def test_removing_light_brings_a_lit_photo_closer_to_its_albedo():
    mesh = sphere(4)
    truth = colored(mesh, by_side(mesh, 2), BLUE, RED)
    light = Lighting((DirectionalLight(1.0, 0.6, (0.7,) * 3),), (0.25,) * 3, (0.15,) * 3)
    camera = framed_camera(mesh.vertices, 0.2, 0.3, 4.0)
    from seed3d.texture.photo import observe, register

    texels = chart_texels(mesh, unwrap_by_projection(mesh, CONFIG), 64)
    view = register(mesh, Caster(mesh), photo(truth, camera, light), camera)
    color, trust = observe(view, texels.position, texels.normal, 0.006)
    seen = (trust > 0.5) & (np.abs(texels.position[:, 2]) > 0.1)
    albedo = np.where(
        texels.position[:, 2:] > 0, srgb_to_linear(np.array(RED)), srgb_to_linear(np.array(BLUE))
    )
    removed = fit_shading(color, texels.normal, trust).remove(color, texels.normal)

    def uneven(estimate: np.ndarray) -> float:
        strong = np.where(texels.position[:, 2] > 0, 0, 2)[seen]
        ratio = np.log((estimate / albedo)[seen][np.arange(seen.sum()), strong])
        return float(ratio.std())

    assert uneven(removed) < 0.6 * uneven(color)


def test_colours_that_break_left_and_right_are_not_mirrored():
    from seed3d.texture.light import Shading
    from seed3d.texture.paint import FRONT_BACK, HALF_TURN, LEFT_RIGHT, _agreeing
    from seed3d.texture.photo import register

    mesh = sphere(4)
    camera = framed_camera(mesh.vertices, 0.0, 0.2, 4.0)
    texels = chart_texels(mesh, unwrap_by_projection(mesh, CONFIG), 64)
    asked = (HALF_TURN, LEFT_RIGHT, FRONT_BACK)
    for axis, kept in ((1, (FRONT_BACK,)), (2, asked)):
        truth = colored(mesh, by_side(mesh, axis), BLUE, GREEN)
        view = register(mesh, Caster(mesh), photo(truth, camera, Lighting.ambient(0.7)), camera)
        assert _agreeing(view, Shading(np.zeros(3), 0.0), texels, asked) == kept


def test_hidden_points_and_silhouette_pixels_are_not_trusted():
    from seed3d.texture.photo import observe, register

    mesh = sphere(4)
    camera = framed_camera(mesh.vertices, 0.0, 0.0, 4.0)
    subject = photo(colored(mesh, by_side(mesh, 1), RED, RED), camera, Lighting.ambient(0.7))
    view = register(mesh, Caster(mesh), subject, camera)
    angle = np.linspace(0, np.pi, 181)
    normal = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]).astype(np.float32)
    _, trust = observe(view, 0.95 * normal, normal, 0.006)
    limb = np.arccos(0.95 / 4.0)
    assert (trust[angle > limb - 0.05] == 0).all()
    assert (trust[angle < 0.9] > 0.95).all()


@pytest.fixture(scope="module")
def asset() -> Asset:
    """A red-fronted, blue-backed box of 0.4 x 0.3 x 0.2 m in the link frame, with a photo."""
    canonical = box((1.9, 1.425, 0.95), 1)
    truth = colored(canonical, by_side(canonical, 0), BLUE, RED)
    atlas = unwrap_by_projection(canonical, CONFIG)
    maps = paint_from_surface(canonical, atlas, truth, CONFIG)
    camera = framed_camera(canonical.vertices, 0.4, 0.3, 4.0)
    mesh = canonical.moved(0.4 / 1.9, np.array([0.0, 0.0, 0.1]))
    left, right = (
        box((0.4, 0.15, 0.2), 0).moved(1.0, np.array([0, y, 0.1])) for y in (0.075, -0.075)
    )
    body = RigidBody(1.0, np.zeros(3), np.eye(3), 0.5, 0.0, 0.0, 0.1)
    return Asset(
        "box",
        mesh,
        atlas,
        maps,
        Collision((left, right), 1.0),
        body,
        camera=camera,
        subject=photo(truth, camera, Lighting.studio(), 128),
    )


def test_finished_surface_shows_the_colours_it_was_painted_with(asset):
    mesh, _, _ = canonical_pose(asset.mesh)
    assert mesh.bounds == pytest.approx(np.array([[-0.95, -0.7125, -0.475], [0.95, 0.7125, 0.475]]))
    surface = asset_surface(mesh, asset.atlas, asset.maps)
    for azimuth, color in ((0.0, RED), (np.pi, BLUE)):
        picture = render(surface, orbit_camera(azimuth, 0.0), 64, Lighting.ambient(0.7))
        middle = srgb_to_linear(picture.rgb[32, 32])
        assert middle == pytest.approx(0.7 * srgb_to_linear(np.array(color)), abs=0.035)


def pictures(asset: Asset, size: int, frames: int = 0) -> Pictures:
    begun = Pictures(size, frames)
    return draw(begun, asset.mesh, asset.atlas, asset.maps, asset.camera, asset.subject)


def strip_of(asset: Asset, size: int) -> np.ndarray:
    return preview(pictures(asset, size), asset.mesh, asset.collision.hulls)


def test_preview_is_a_strip_of_panels_in_the_stated_order(asset):
    strip = strip_of(asset, 96)
    assert strip.shape == (96, 5 * 96, 3) and strip.dtype == np.uint8
    image, grey, front, back, hulls = np.split(strip.astype(int), 5, axis=1)

    def spread(p: np.ndarray) -> np.ndarray:
        return p.max(axis=-1) - p.min(axis=-1)

    assert spread(grey).max() <= 6 and grey[48, 48].max() < 240
    photo_mean = asset.subject.rgb.mean(axis=(0, 1)) * 255
    assert image.mean(axis=(0, 1)) == pytest.approx(photo_mean, abs=2)
    assert front[48, 48, 0] > front[48, 48, 2] + 30  # red front
    assert back[48, 48, 2] > back[48, 48, 0] + 30  # blue back
    colors = {tuple(np.rint(c * 10)) for c in hulls[spread(hulls) > 40] / 255.0}
    assert len(colors) >= 2
    assert strip_of(asset, 96).tobytes() == strip.tobytes()
    without = Asset(**{**asset.__dict__, "subject": None, "camera": None})
    assert strip_of(without, 64).shape == (64, 4 * 64, 3)


def test_turntable_goes_once_round(asset):
    frames = pictures(asset, 128, 8).frames
    assert len(frames) == 8 and frames[0].shape == (64, 64, 3)
    red = [int(f[32, 32, 0]) - int(f[32, 32, 2]) for f in frames]
    assert red[0] > 30 and red[4] < -30
    assert len({f.tobytes() for f in frames}) == 8
    assert pictures(asset, 128).frames == ()


def test_pictures_may_be_drawn_in_two_goes(asset):
    def begun(go: list[bool], turn: int = 4) -> Asset:
        parts = asset.mesh, asset.atlas, asset.maps, asset.camera, asset.subject
        early = draw(Pictures(128, turn), *parts, stop=lambda: go.pop(0))
        return replace(asset, pictures=early)

    config = ExportConfig(preview_size=128, turntable_frames=4)
    files = preview_files(asset, config)
    for go, drawn in (([True], (0, 0)), ([False, False, True], (4, 2)), ([False] * 9, (4, 4))):
        half = begun(go)
        assert (len(half.pictures.panels), len(half.pictures.frames)) == drawn
        assert preview_files(half, config) == files
    assert preview_files(begun([False] * 9, turn=3), config) == files  # another size was drawn


def test_hull_colours_are_distinct():
    colors = np.array([hull_color(i) for i in range(32)])
    gap = np.linalg.norm(colors[:, None] - colors[None], axis=-1) + np.eye(32)
    assert gap.min() > 0.04
