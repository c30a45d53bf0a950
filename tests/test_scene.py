"""Scenes: relations against closed form, both engines at rest, files against each other."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import seed3d
from seed3d.errors import ConfigError, InputError, StageError
from seed3d.scene import Scene
from seed3d.scene.files import scene_files
from seed3d.scene.parts import Pose
from seed3d.scene.photo_layout import Seen, estimate_layout, focal_from_fov
from seed3d.scene.segment import alpha_parts, load_segmenter, object_masks
from seed3d.scene.shapes import scaled
from seed3d.types import Collision, Mesh


@pytest.fixture(scope="session")
def brick(tmp_path_factory):
    """A box of 10 x 6 x 4 cm."""
    path = tmp_path_factory.mktemp("scene") / "brick.stl"
    trimesh.creation.box((0.1, 0.06, 0.04)).export(path)
    return seed3d.simready(path, seed3d.load_preset("smoke"))


@pytest.fixture(scope="session")
def tray(brick):
    """An open box of 30 x 20 x 12 cm, walls 1 cm, as five exact hulls."""
    boards = [
        ((0.3, 0.2, 0.01), (0, 0, 0.005)),
        ((0.01, 0.2, 0.11), (0.145, 0, 0.065)),
        ((0.01, 0.2, 0.11), (-0.145, 0, 0.065)),
        ((0.28, 0.01, 0.11), (0, 0.095, 0.065)),
        ((0.28, 0.01, 0.11), (0, -0.095, 0.065)),
    ]
    hulls = []
    for size, at in boards:
        box = trimesh.creation.box(size)
        box.apply_translation(at)
        hulls.append(Mesh.from_trimesh(box))
    mesh = replace(brick.mesh, vertices=brick.mesh.vertices * [3.0, 10 / 3, 3.0])
    return replace(brick, name="tray", mesh=mesh, collision=Collision(tuple(hulls), 1.0))


def test_on_stands_on_the_surface(brick):
    scene = Scene("desk", seed=3)
    scene.add_block("table", (0.8, 0.6, 0.04), (0.0, 0.0, 0.7))
    name = scene.add(brick, on="table", at=(0.1, -0.05), yaw_deg=30)
    x, y, z = scene.items[name].pose.position
    assert (x, y) == pytest.approx((0.1, -0.05), abs=1e-6)
    assert z == pytest.approx(0.72, abs=3e-4)
    assert scene.items[name].pose.yaw_rad == pytest.approx(math.radians(30), abs=1e-6)
    on_top = scene.add(brick, on=name, at=(0, 0), yaw_deg=30)
    assert scene.items[on_top].pose.position[2] == pytest.approx(0.76, abs=6e-4)
    with pytest.raises(StageError, match="no free spot on"):
        scene.add(brick, on="table", at=(0.44, 0.0), yaw_deg=0)
    assert len(scene.items) == 2  # a failed call leaves the scene as it was


def test_levels_of_a_shelf(brick):
    scene = Scene()
    scene.ground = None
    boards = [(0.2, 0.3), (0.6, 0.3)]
    hulls = [Mesh.from_trimesh(trimesh.creation.box((w, 0.4, 0.02))) for _, w in boards]
    hulls = [h.moved(1.0, np.array([0, 0, z])) for h, (z, _) in zip(hulls, boards, strict=True)]
    shelf = replace(brick, name="shelf", collision=Collision(tuple(hulls), 1.0))
    scene.add(shelf, fixed=True)
    low = scene.add(brick, on="shelf", level=0)
    high = scene.add(brick, on="shelf")
    assert scene.items[low].pose.position[2] == pytest.approx(0.21, abs=5e-4)
    assert scene.items[high].pose.position[2] == pytest.approx(0.61, abs=5e-4)


def test_inside_beside_against(brick, tray):
    scene = Scene(seed=1)
    scene.add(tray)
    inner = scene.add(brick, inside="tray")
    assert scene.items[inner].pose.position[2] == pytest.approx(0.01, abs=5e-4)
    assert np.abs(scene.items[inner].pose.position[:2]).max() < 0.1
    beside = scene.add(brick, beside="tray", side="left", gap=0.05)
    assert scene.items[beside].pose.position[1] == pytest.approx(0.1 + 0.05 + 0.03, abs=5e-4)
    scene.add_walls(3.0, 3.0, 1.0)
    leaning = scene.add(brick, against="wall_back", at=(0.0, 1.0))
    x, y, _ = scene.items[leaning].pose.position
    assert (x, y) == pytest.approx((-1.5 + 0.05, 1.0), abs=1e-3)  # its back to the wall
    with pytest.raises(InputError, match="Did you mean 'wall_back'"):
        scene.add(brick, against="wall_bak")


def test_settles_and_holds_in_both_engines(brick, tray, tmp_path):
    scene = Scene("heap", seed=2)
    scene.add(tray, fixed=True)
    scene.drop([brick], 2, into="tray", upright=True)
    assert len(scene.assets) == 2  # instances share their asset
    result = scene.settle("mujoco", 4.0)
    assert result["at_rest"] and result["penetration_mm"] < 1.0
    assert min(result["lowest_mm"].values()) > 9.0  # inside, on the tray's floor
    found = scene.check(seconds=0.3)
    assert found["passed"], found
    assert all(found["engines"]["pybullet"]["supports"].values())
    sunk = scene.items["brick"].pose.position
    scene.move("brick", (sunk[0], sunk[1], sunk[2] - 0.004))
    bad = scene.check(("mujoco",), 0.1)["engines"]["mujoco"]
    assert not bad["passed"] and bad["penetration_start_mm"] > 3.0


def test_saved_scene_gives_the_same_bytes(brick, tmp_path):
    import mujoco
    from pxr import Usd, UsdGeom

    def build() -> Scene:
        scene = Scene("pair", seed=5)
        scene.add_block("table", (0.8, 0.6, 0.1), (0.0, 0.0, 0.5))
        scene.add_camera("front", (2, 0, 1), (0, 0, 0.5))
        scene.drop([brick], 2, into="table")
        return scene

    scene = build()
    files = scene_files(scene, overview_size=64)
    assert files == scene_files(build(), overview_size=64)
    folder = scene.save(tmp_path / "pair", overview_size=64)
    again = Scene.load(folder)
    loaded_files = scene_files(again, overview_size=64)
    assert [p for p in files if files[p] != loaded_files[p]] == []
    again.save(folder, overview_size=0)  # replaces the older one
    model = mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
    assert model.nbody == 3 and model.nmesh <= 2  # shared by both instances
    for item in scene.items.values():
        assert model.body(item.name).pos == pytest.approx(item.pose.position, abs=1e-9)
        mass = float(model.body(item.name).mass[0])
        assert mass == pytest.approx(brick.body.mass_kg, rel=1e-6)
    stage = Usd.Stage.Open(str(folder / "scene.usda"))
    cache = UsdGeom.XformCache()
    for item in scene.items.values():
        prim = stage.GetPrimAtPath(f"/World/{item.name}")
        assert prim.IsInstance()
        moved = cache.GetLocalToWorldTransform(prim).ExtractTranslation()
        assert tuple(moved) == pytest.approx(item.pose.position, abs=1e-6)
    loaded = trimesh.load_scene(folder / "scene.glb")
    assert len(loaded.geometry) == 2  # brick once, table once
    low, high = loaded.bounds  # glTF: Y up
    tops = [i.pose.apply(brick.mesh.vertices)[:, 2].max() for i in scene.items.values()]
    assert high[1] == pytest.approx(max(tops), abs=1e-5) and low[1] == pytest.approx(0.45, abs=1e-6)


def test_layout_files(brick, tmp_path):
    from seed3d.export import asset_files, write_files

    write_files(asset_files(brick), tmp_path / "brick")
    text = """
name: desk
seed: 4
assets: {brick: brick, big: {folder: brick, scale: 2}}
blocks: {table: {size: [1, 1, 0.1], position: [0, 0, 0.7]}}
objects:
  - {asset: brick, on: table, at: [0.1, 0.2], yaw: 0}
  - {asset: big, name: base, on: table, at: [-0.2, 0]}
"""
    (tmp_path / "desk.yaml").write_text(text)
    scene = Scene.load(tmp_path / "desk.yaml")
    assert scene.items["brick"].pose.position[2] == pytest.approx(0.75, abs=3e-4)
    assert scene.assets[scene.items["base"].asset].body.mass_kg == pytest.approx(
        8 * brick.body.mass_kg, rel=1e-6
    )
    (tmp_path / "bad.yaml").write_text(text.replace("on: table", "onn: table", 1))
    with pytest.raises(InputError, match=r"objects\[0\]: unknown key 'onn'. Did you mean 'on'"):
        Scene.load(tmp_path / "bad.yaml")
    (tmp_path / "bad.yaml").write_text(text.replace("asset: big", "asset: bigg"))
    with pytest.raises(InputError, match="Did you mean 'big'"):
        Scene.load(tmp_path / "bad.yaml")


def test_editing(brick, tray):
    scene = Scene()
    name = scene.add(brick, position=(1, 2, 0))
    assert scene.add(brick) == "brick_2" and len(scene.assets) == 1
    scene.move(name, by=(0, 0, 0.5), yaw_deg=90)
    assert scene.items[name].pose.position == pytest.approx((1, 2, 0.5))
    scene.replace(name, tray)
    assert scene.items[name].pose.position == pytest.approx((1, 2, 0.5))
    scene.remove("brick_2")
    assert list(scene.assets) == ["tray"]
    with pytest.raises(InputError, match=r"no object 'brik' in the scene. Did you mean 'brick'"):
        scene.remove("brik")
    with pytest.raises(ConfigError, match="Did you mean 'mujoco'"):
        scene.settle("mujco")


def test_scaled_asset(brick):
    big = scaled(brick, 2.0)
    assert big.mesh.extents == pytest.approx(2 * brick.mesh.extents)
    assert big.body.mass_kg == pytest.approx(8 * brick.body.mass_kg)
    assert big.body.inertia_kg_m2 == pytest.approx(32 * brick.body.inertia_kg_m2)


def test_layout_of_a_photo_is_recovered():
    """Boxes that a known camera sees give back where things stand and how large they are."""
    from seed3d.conventions import camera_rotation

    focal, pitch, size = focal_from_fov(45, 640, 480), math.radians(30), (640, 480)
    rotation = camera_rotation(0.0, pitch)
    shapes = [(0.1, 0.06, 0.04), (0.05, 0.05, 0.2), (0.12, 0.1, 0.1), (0.08, 0.2, 0.05)]
    truth = [
        (-1.5, -0.4, 1.0, 0.3),
        (-1.2, 0.0, 1.6, 0.0),
        (-1.9, 0.3, 2.0, 1.0),
        (-1.4, 0.5, 0.8, 2.0),
    ]
    seen = []
    for extent, (x, y, scale, yaw) in zip(shapes, truth, strict=True):
        mesh = trimesh.creation.box(extent)
        mesh.apply_translation((0, 0, extent[2] / 2))
        points = np.array(mesh.vertices)
        world = Pose.upright(x, y, -1.0, yaw).apply(scale * points)
        cam = world @ rotation.T
        uv = focal * cam[:, :2] / cam[:, 2:] + np.array(size) / 2
        azimuth = math.atan2(-y, -x) - yaw
        box = (*uv.min(axis=0), *uv.max(axis=0))
        elevation = math.atan2(1 - scale * extent[2] / 2, math.hypot(x, y))
        seen.append(Seen(points, azimuth, elevation, tuple(float(v) for v in box)))
    layout = estimate_layout(seen, size, focal)
    assert layout.pitch_rad == pytest.approx(pitch, abs=math.radians(0.5))
    for found, (x, y, scale, _) in zip(layout.objects, truth, strict=True):
        assert (found.x, found.y) == pytest.approx((x, y), abs=0.03)
        assert found.scale == pytest.approx(scale, rel=0.03)
    with pytest.raises(StageError, match="above the horizon"):
        estimate_layout([replace(seen[0], box=(10, 5, 60, 20))], size, focal, math.radians(2))


def test_objects_of_a_photo():
    from seed3d.image.load import Photo

    alpha = np.zeros((60, 90), np.uint8)
    alpha[10:40, 5:30] = 255
    alpha[15:50, 50:85] = 255
    rgb = np.full((60, 90, 3), 200, np.uint8)
    masks = object_masks(Photo(rgb, alpha))
    assert [int((m > 0).sum()) for m in masks] == [30 * 25, 35 * 35]
    assert len(alpha_parts(alpha)) == 2
    given = object_masks(Photo(rgb, None), segmenter=lambda image: [image[..., 0] > 0])
    assert given[0].all()
    with pytest.raises(InputError, match="--masks, --boxes, a PNG with transparent background"):
        object_masks(Photo(rgb, None))
    with pytest.raises(seed3d.errors.MissingDependencyError, match="module:function"):
        load_segmenter("no_such_module:segment")


def test_command_line(brick, tmp_path):
    from click.testing import CliRunner

    from seed3d.cli import main
    from seed3d.export import asset_files, write_files

    write_files(asset_files(brick), tmp_path / "assets" / "brick")
    arguments = ["scene", "--clutter", str(tmp_path / "assets"), "--count", "2", "-o"]
    done = CliRunner().invoke(main, [*arguments, str(tmp_path / "out"), "--seconds", "3"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["settled"]["at_rest"] and report["checks"]["passed"]
    assert CliRunner().invoke(main, ["scene", "-o", str(tmp_path / "x")]).exit_code == 2
