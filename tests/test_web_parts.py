"""Parts of the web page; oracles: areas of strokes, scaling laws, free fall, zips read back."""

import io
import time
import zipfile

import numpy as np
import pytest
from PIL import Image

from seed3d.config import ImageConfig, PhysicsConfig
from seed3d.errors import ConfigError, InputError
from seed3d.export import asset_files, write_files
from seed3d.pipeline import with_physics
from seed3d.types import Asset, Atlas, Collision, Estimate, Mesh, PBRMaps
from seed3d.web.downloads import zip_asset
from seed3d.web.masks import edited_mask
from seed3d.web.settings import WebSettings
from seed3d.web.workspace import Workspace, remove_leftovers

SIZE = (0.2, 0.3, 0.1)


@pytest.fixture(scope="module")
def box():
    """A wooden box of known size, mass not told."""
    import trimesh

    from seed3d.physics.body import rigid_body

    body = trimesh.creation.box(SIZE)
    up = np.array([0, 0, SIZE[2] / 2])
    mesh = Mesh(np.array(body.vertices) + up, np.array(body.faces, np.int64))
    material, category = Estimate("wood_hard", "estimate"), Estimate("unknown", "prior")
    found = rigid_body(mesh, material, category, PhysicsConfig())
    maps = [
        np.full((8, 8, 3), v, np.uint8) for v in ((160, 110, 60), (255, 150, 0), (128, 128, 255))
    ]
    count = len(mesh.faces)
    uv = np.tile([[0.1, 0.1], [0.9, 0.1], [0.9, 0.9]], (count, 1))
    atlas = Atlas(mesh.faces.ravel(), np.arange(3 * count).reshape(-1, 3), uv, 0.5)
    return Asset(
        "box", mesh, atlas, PBRMaps(*maps), Collision((mesh,), 1.0), found.body,
        {"size_m": Estimate(0.3, "mesh"), **found.estimates},
    )  # fmt: skip


def test_twice_the_size_has_8_times_the_mass_and_32_times_the_inertia(box):
    large = with_physics(box, PhysicsConfig(length=0.6, mass=8 * box.body.mass_kg))
    assert np.allclose(large.mesh.extents, 2 * np.array(SIZE))
    assert np.allclose(large.body.inertia_kg_m2, 32 * box.body.inertia_kg_m2, rtol=1e-9, atol=1e-12)
    assert np.allclose(large.body.com_m, (0, 0, SIZE[2]), atol=1e-9)
    hull = large.collision.hulls[0]
    assert np.allclose(hull.bounds, large.mesh.bounds)
    assert large.estimates["size_m"].source == large.estimates["mass_kg"].source == "user"
    m, (x, y, z) = large.body.mass_kg, 2 * np.array(SIZE)
    truth = m / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    assert np.allclose(large.body.inertia_kg_m2, truth, rtol=1e-6, atol=1e-9)


def test_other_material_changes_mass_by_density_and_leaves_the_shape(box):
    rubber = with_physics(box, PhysicsConfig(material="rubber"))
    assert rubber.mesh.vertices.tolist() == box.mesh.vertices.tolist()
    old, new = (a.estimates["density_kg_m3"].value for a in (box, rubber))
    assert rubber.body.mass_kg / box.body.mass_kg == pytest.approx(new / old, rel=1e-9)
    assert rubber.body.friction != box.body.friction
    with pytest.raises(ConfigError, match="kilograms"):
        with_physics(box, PhysicsConfig(mass=1e9))


def test_film_falls_as_newton_says_and_ends_on_the_floor(box, tmp_path):
    from seed3d.web.clip import DROP_SHARE, GRAVITY, drop_clip, drop_motion

    write_files(asset_files(box, ("mjcf",)), tmp_path / "box")
    motion = drop_motion(tmp_path / "box" / "box.xml", 0.3, fps=50.0)
    time_s = np.arange(len(motion.position_m)) * motion.frame_s
    until = np.sqrt(2 * DROP_SHARE * 0.3 / GRAVITY)
    free = time_s < 0.9 * until
    fallen = motion.position_m[0, 2] - motion.position_m[free, 2]
    assert free.sum() >= 5
    assert np.allclose(fallen, 0.5 * GRAVITY * time_s[free] ** 2, atol=4e-3)
    assert motion.settled
    last = box.mesh.vertices @ motion.rotation[-1].T + motion.position_m[-1]
    assert abs(last[:, 2].min()) < 1e-3
    short = type(motion)(motion.rotation[::12], motion.position_m[::12], 0.24, True)
    film = Image.open(io.BytesIO(drop_clip(box, short, 64)))
    assert film.size == (64, 64)
    assert film.n_frames == len(short.rotation)
    first = np.asarray(film.convert("RGB")).astype(int)
    film.seek(film.n_frames - 1)
    assert np.abs(first - np.asarray(film.convert("RGB")).astype(int)).max() > 60  # it moved


def test_zips_hold_one_format_each_with_the_same_bytes_every_time(box, tmp_path):
    write_files(asset_files(box), tmp_path / "box")
    glb = zip_asset(tmp_path / "box", "box", "glb")
    assert glb == zip_asset(tmp_path / "box", "box", "glb")
    names = set(zipfile.ZipFile(io.BytesIO(glb)).namelist())
    assert names == {"box/box.glb", "box/report.json"}
    urdf = zipfile.ZipFile(io.BytesIO(zip_asset(tmp_path / "box", "box", "urdf")))
    urdf.extractall(tmp_path / "again")
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(str(tmp_path / "again" / "box" / "box.urdf"))
    assert pybullet.getDynamicsInfo(body, -1)[0] == pytest.approx(box.body.mass_kg, rel=1e-4)
    pybullet.disconnect(client)


def png(array):
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, "PNG")
    return buffer.getvalue()


def cut_out(size=200):
    """A red square of half the side on a transparent ground."""
    pixels = np.zeros((size, size, 4), np.uint8)
    pixels[size // 4 : 3 * size // 4, size // 4 : 3 * size // 4] = (200, 30, 30, 255)
    return png(pixels)


def test_strokes_change_the_mask_by_their_area():
    data, config = cut_out(), ImageConfig()
    assert edited_mask(data, "square", config, []) is None
    erase = {"keep": False, "width": 0.2, "points": [[0.5, 0.5]]}
    mask = edited_mask(data, "square", config, [erase])
    assert (mask > 127).sum() == pytest.approx(100**2 - np.pi * 20**2, rel=0.01)
    keep = {"keep": True, "width": 0.1, "points": [[0.2, 0.1], [0.8, 0.1]]}
    alone = edited_mask(data, "square", config, [{"clear": True}, keep])
    assert (alone > 127).sum() == pytest.approx(120 * 20 + np.pi * 10**2, rel=0.04)
    restored = edited_mask(data, "square", config, [erase, {**erase, "keep": True, "width": 0.25}])
    assert (restored > 127).sum() == 100**2


@pytest.mark.parametrize("stroke", [
    {"keep": True, "width": 0.1}, {"keep": True, "width": "x", "points": [[0, 0]]}, "hello", 3,
    {"keep": True, "width": 0.1, "points": [[0, float("nan")]]},
    {"keep": True, "width": 0.1, "points": [[0, 0]] * 60_000},
])  # fmt: skip
def test_bad_strokes_are_refused_in_words(stroke):
    with pytest.raises(InputError, match="mask strokes"):
        edited_mask(cut_out(), "square", ImageConfig(), [stroke])


def test_workspace_deletes_the_old_and_keeps_the_busy(tmp_path):
    space = Workspace(1.0, tmp_path)
    old, busy, new = space.new_job(), space.new_job(), space.new_job()
    (space.cache / "upload").mkdir()
    space.busy.add(busy)
    later = time.time() + 61
    assert space.sweep(later) == 3  # old, new and the upload
    assert not (space.jobs / old).exists()
    assert space.job(busy).is_dir()
    for token in (old, new, "../../etc", "", "0" * 32, None):
        with pytest.raises(InputError, match="no longer kept"):
            space.job(token)
    space.close()
    assert not list(tmp_path.iterdir())


def test_folders_of_killed_servers_are_removed(tmp_path):
    import subprocess
    import sys

    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f"seed3d-web-{dead.pid}-abc").mkdir()
    (tmp_path / "seed3d-web-notes").mkdir()
    remove_leftovers(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["seed3d-web-notes"]


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match="jobs"):
        WebSettings(jobs=0)
