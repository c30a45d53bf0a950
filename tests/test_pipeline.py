"""End to end through the command line; oracles: the two engines, simcheck, simready-validate."""

import hashlib
import json
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from seed3d.cli import main

EXAMPLES = Path(__file__).parent.parent / "examples"
PHOTO = EXAMPLES / "mug.png"


def seed3d(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def digests(folder):
    """Every file but timings.json, which differs between runs on purpose."""
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "timings.json"
    }


def textured_box(path, size=(0.2, 0.3, 0.1)):
    """A red GLB box with its front face green, Y up as glTF wants."""
    import trimesh
    from PIL import Image

    from seed3d.conventions import R_GLTF_WORLD

    box = trimesh.creation.box(size)
    box.unmerge_vertices()
    front = np.repeat(box.face_normals[:, 0] > 0.9, 3)
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[:, 0], pixels[:, 1] = (200, 30, 30), (30, 180, 30)
    uv = np.where(front[:, None], (0.75, 0.5), (0.25, 0.5))
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=Image.fromarray(pixels).resize((64, 64), 0), metallicFactor=0.0
    )
    box.visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    matrix = np.eye(4)
    matrix[:3, :3] = R_GLTF_WORLD
    box.apply_transform(matrix)
    box.export(path)


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """One asset from a photo and one from a mesh, by the command line."""
    out = tmp_path_factory.mktemp("out")
    model = out / "two tone box.glb"
    textured_box(model)
    photo = seed3d("generate", PHOTO, "-o", out, "--preset", "smoke", "--height", "0.1")
    mesh = seed3d("simready", model, "-o", out, "--preset", "smoke", "--material", "wood_hard")
    return {"out": out, "photo": photo, "mesh": mesh}


def test_photo_ends_as_a_verified_asset(made):
    assert made["photo"].exit_code == 0, made["photo"].output
    report = json.loads((made["out"] / "mug" / "report.json").read_text())
    assert report["verdict"]["passed"]
    engines = {check["engine"] for check in report["verdict"]["checks"]}
    assert {"pybullet", "mujoco"} <= engines
    assert report["estimates"]["height_m"]["value"] == pytest.approx(0.1)
    assert report["estimates"]["size_m"]["source"] == "user"
    for estimate in report["estimates"].values():
        assert estimate["source"] in ("user", "mesh", "estimate", "prior", "measured")


def test_asset_stands_as_high_as_the_user_said_in_the_engine(made):
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(made["out"] / "mug" / "mug.xml"))
    height = np.ptp(
        np.concatenate(
            [
                model.mesh_vert[a : a + n]
                for a, n in zip(model.mesh_vertadr, model.mesh_vertnum, strict=True)
            ]
        ),
        axis=0,
    )
    assert height.max() >= 0.09
    assert model.body_mass[1] > 0


def test_mesh_keeps_size_and_colours_and_gets_its_closed_form_inertia(made):
    import pybullet
    from PIL import Image

    assert made["mesh"].exit_code == 0, made["mesh"].output
    folder = made["out"] / "two_tone_box"
    client = pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(
        str(folder / "two_tone_box.urdf"), flags=pybullet.URDF_USE_INERTIA_FROM_FILE
    )
    info = pybullet.getDynamicsInfo(body, -1)
    pybullet.disconnect(client)
    mass, (x, y, z) = info[0], (0.2, 0.3, 0.1)
    truth = mass / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    assert np.allclose(sorted(info[2]), sorted(truth), rtol=0.01)
    pixels = np.asarray(Image.open(folder / "textures" / "base_color.png").convert("RGB")).reshape(
        -1, 3
    )
    used = pixels[(np.ptp(pixels.astype(int), axis=1) > 60)]
    red = np.abs(used.astype(int) - (200, 30, 30)).max(axis=1) < 30
    green = np.abs(used.astype(int) - (30, 180, 30)).max(axis=1) < 30
    assert (red | green).mean() > 0.97
    share = green.sum() / (red | green).sum()
    area = 0.3 * 0.1 / (2 * (0.2 * 0.3 + 0.3 * 0.1 + 0.2 * 0.1))
    assert share == pytest.approx(area, abs=0.08)


@pytest.mark.parametrize("name", ["mug", "two_tone_box"])
def test_independent_checkers_pass(made, name):
    folder = made["out"] / name
    for suffix in (".urdf", ".xml"):
        run = subprocess.run(
            [sys.executable, "-m", "simcheck", "check", str(folder / f"{name}{suffix}"), "--fail-on", "warning"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
    run = subprocess.run(
        [Path(sys.executable).parent / "simready-validate", "--profile", "Robotics-Prop",
         "--version", "3.1.0", str(folder / "usd" / f"{name}.usda")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr


def test_same_input_and_seed_give_the_same_bytes(made, tmp_path):
    again = seed3d("generate", PHOTO, "-o", tmp_path, "--preset", "smoke", "--height", "0.1", "-q")
    assert again.exit_code == 0
    assert digests(tmp_path / "mug") == digests(made["out"] / "mug")


def test_the_number_of_threads_changes_no_byte(made, tmp_path):
    import torch
    from threadpoolctl import threadpool_info, threadpool_limits

    def blas():
        return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(before + 1)
        with threadpool_limits(2, user_api="blas"):
            again = seed3d("generate", PHOTO, "-o", tmp_path, "--preset", "smoke",
                           "--height", "0.1", "-q")  # fmt: skip
            assert set(blas()) == {2}, "the caller's number wasn't given back"
            assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)
    assert again.exit_code == 0
    assert digests(tmp_path / "mug") == digests(made["out"] / "mug")


def test_overlapping_blocks_of_fixed_threads_give_back_what_was():
    import torch

    from seed3d.threads import fixed_threads

    before = torch.get_num_threads()
    seen: list[int] = []
    entered, left = threading.Event(), threading.Event()

    def other():
        with fixed_threads(1):
            entered.set()
            left.wait(10)
            seen.append(torch.get_num_threads())
        seen.append(torch.get_num_threads())

    torch.set_num_threads(3)
    try:
        with fixed_threads(1):
            thread = threading.Thread(target=other)
            thread.start()
            entered.wait(10)
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        left.set()
        thread.join()
        assert seen == [1, 3]
        with fixed_threads(0):
            assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_folder_can_be_moved_and_verified_again(made, tmp_path):
    moved = tmp_path / "a folder with ünïcode & spaces"
    shutil.copytree(made["out"] / "mug", moved)
    run = seed3d("verify", moved, "--json")
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)[str(moved)]["passed"]


def test_verify_fails_on_a_planted_placeholder_inertia(made, tmp_path):
    folder = tmp_path / "mug"
    shutil.copytree(made["out"] / "mug", folder)
    urdf = folder / "mug.urdf"
    import re

    text = re.sub(
        r'(i[xyz][xyz])="[^"]*"',
        lambda m: f'{m[1]}="{float(m[1][1] == m[1][2])}"',
        urdf.read_text(),
    )
    urdf.write_text(text)
    run = seed3d("verify", folder)
    assert run.exit_code == 1
    assert "inertia" in run.output


def test_python_api_loads_what_was_saved(made):
    import seed3d as api

    asset = api.load(made["out"] / "mug")
    assert asset.name == "mug"
    assert asset.mesh.extents[2] == pytest.approx(0.1)
    assert asset.mesh.to_trimesh().is_watertight
    assert asset.body.mass_kg > 0


def bomb():
    """A PNG whose header says 20000 x 10000."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 20000, 10000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def test_bad_input_is_told_and_leaves_nothing(tmp_path):
    from PIL import Image

    bad = tmp_path / "in"
    (bad / "folder.png").mkdir(parents=True)
    (bad / "corrupt.png").write_bytes(PHOTO.read_bytes()[:3000])
    (bad / "bomb.png").write_bytes(bomb())
    (bad / "empty.png").write_bytes(b"")
    Image.new("RGBA", (64, 64), (200, 0, 0, 0)).save(bad / "nothing.png")
    Image.new("RGB", (1, 1)).save(bad / "pixel.png")
    names = ["folder", "corrupt", "bomb", "empty", "nothing", "pixel", "missing"]
    run = seed3d("generate", *(bad / f"{n}.png" for n in names), "-o", tmp_path / "out", "-q")
    assert run.exit_code == 1
    text = " ".join(run.output.split())
    for name in names:
        assert f"{name}.png" in text, name
    assert "200" in text  # megapixels, or the sides, are stated
    assert "7 of 7 failed" in text
    assert "Traceback" not in text
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_bad_meshes_are_told_and_the_good_one_is_made(made, tmp_path):
    (tmp_path / "bad.glb").write_bytes(b"glTF but not really")
    (tmp_path / "bad.stl").write_bytes(b"solid x\nendsolid x\n")
    good = tmp_path / "box.glb"
    textured_box(good)
    out = tmp_path / "out"
    run = seed3d("simready", tmp_path / "bad.glb", good, tmp_path / "bad.stl", "-o", out,
                 "--preset", "smoke", "--formats", "urdf,mjcf")  # fmt: skip
    assert run.exit_code == 1
    assert [p.name for p in out.iterdir()] == ["box"]
    assert not (out / "box" / "usd").exists()


def test_info_names_every_model_with_licence_and_score():
    run = seed3d("info")
    assert run.exit_code == 0
    for word in ("seed3d-tiny", "u2netp", "efficientnet-lite0", "Apache-2.0", "IoU", "MB"):
        assert word in run.output


def test_a_texture_that_the_mesh_names_but_lacks_is_recorded(tmp_path):
    import trimesh

    (tmp_path / "box.mtl").write_text("newmtl m\nKd 0.8 0.2 0.2\nmap_Kd lost.png\n")
    text = trimesh.creation.box((0.2, 0.3, 0.1)).export(file_type="obj")
    (tmp_path / "box.obj").write_text("mtllib box.mtl\nusemtl m\n" + text)
    run = seed3d("simready", tmp_path / "box.obj", "-o", tmp_path / "out", "--preset", "smoke",
                 "--formats", "urdf,mjcf", "-q")  # fmt: skip
    assert run.exit_code == 0, run.output
    report = json.loads((tmp_path / "out" / "box" / "report.json").read_text())
    assert any("lost.png" in f["what"] for f in report["fallbacks"]), report["fallbacks"]
