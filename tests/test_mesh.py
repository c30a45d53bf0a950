"""Oracles: closed forms (volumes, colours, Euler number), hand-written files, round trips."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh
from PIL import Image

from seed3d.errors import InputError
from seed3d.mesh.load import load_surface
from seed3d.mesh.surface import surface_from_trimesh


def png(color: tuple[int, int, int], size: int = 4) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (size, size), color).save(buffer, "PNG")
    return buffer.getvalue()


def glb_parts(data: bytes) -> tuple[dict, bytes]:
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + length]), data[20 + length :]


def glb_join(header: dict, rest: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    total = 20 + len(text) + len(rest)
    return b"glTF" + struct.pack("<III4s", 2, total, len(text), b"JSON") + text + rest


OBJ = """mtllib my lib.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl red one
f -4/-4 -3/-3 -2/-2 -1/-1
v 0 0 2
v 1 0 2
v 2 1 2
v 1 2 2
v 0 1 2
usemtl wood
f 5//  6// 7// 8// 9//
f -5 -4 -3
"""
MTL = """newmtl red one
Kd 0.5 0.25 1.0
newmtl wood
Kd 0 0 0
map_Kd -s 1 1 1 -clamp on my textures\\Dark Wood.PNG
Pr 0.25
Pm 1
"""


@pytest.fixture
def obj_folder(tmp_path: Path) -> Path:
    (tmp_path / "model.obj").write_text(OBJ)
    (tmp_path / "my lib.mtl").write_text(MTL)
    (tmp_path / "my textures").mkdir()
    (tmp_path / "my textures" / "dark wood.png").write_bytes(png((90, 60, 30)))
    return tmp_path


def test_obj_ngons_negative_indices_spaces_and_two_materials(obj_folder: Path) -> None:
    surface = load_surface(obj_folder / "model.obj", up="z")
    assert surface.fallbacks == ()
    assert len(surface.mesh.faces) == 2 + 3 + 1
    by_name = {m.name: i for i, m in enumerate(surface.materials)}
    red, wood = surface.materials[by_name["red one"]], surface.materials[by_name["wood"]]
    assert np.allclose(red.base_color, (0.5, 0.25, 1.0), atol=1 / 255)
    assert wood.base_color == (1.0, 1.0, 1.0) and (wood.roughness, wood.metallic) == (0.25, 1.0)
    assert (wood.base_color_texture == (90, 60, 30)).all()
    p = surface.mesh.vertices[surface.mesh.faces]
    area = 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    is_red = surface.face_material == by_name["red one"]
    assert np.isclose(area[is_red].sum(), 1.0) and np.allclose(p[is_red][..., 2], 0)
    assert np.isclose(area[~is_red].sum(), 2.5 + 0.5) and np.allclose(p[~is_red][..., 2], 2)
    # Each corner of the unit square carries its own position as UV.
    assert np.allclose(surface.corner_uv[is_red], p[is_red][..., :2])
    assert not surface.corner_uv[~is_red].any()


def test_obj_mirrors_the_winding_and_keeps_polygon_orientation(obj_folder: Path) -> None:
    surface = load_surface(obj_folder / "model.obj")  # Y up: its +Z is the world's +X
    p = surface.mesh.vertices[surface.mesh.faces]
    assert (np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 0] > 0).all()
    assert np.allclose(surface.normals, (1, 0, 0))


def test_missing_and_outside_textures_are_stated_and_not_read(obj_folder: Path) -> None:
    folder = obj_folder / "inner"
    folder.mkdir()
    (obj_folder / "secret.png").write_bytes(png((1, 2, 3)))
    (folder / "model.obj").write_text(OBJ)
    (folder / "my lib.mtl").write_text(
        "newmtl red one\nmap_Kd ../secret.png\nnewmtl wood\nmap_Kd gone.png\n"
    )
    surface = load_surface(folder / "model.obj")
    assert all(m.base_color_texture is None for m in surface.materials)
    stated = " | ".join(f.what for f in surface.fallbacks)
    assert "secret.png: it is outside of the model's folder" in stated
    assert "gone.png: the file is missing" in stated
    (folder / "link.png").symlink_to(obj_folder / "secret.png")
    (folder / "my lib.mtl").write_text("newmtl wood\nmap_Kd link.png\n")
    surface = load_surface(folder / "model.obj")
    assert any("outside" in f.what for f in surface.fallbacks)
    (folder / "my lib.mtl").unlink()
    assert any("library is missing" in f.what for f in load_surface(folder / "model.obj").fallbacks)


def test_texture_with_an_enormous_header_is_refused(obj_folder: Path) -> None:
    bomb = bytearray(png((0, 0, 0)))
    bomb[16:24] = struct.pack(">II", 60_000, 60_000)
    import zlib

    bomb[29:33] = struct.pack(">I", zlib.crc32(bytes(bomb[12:29])))
    (obj_folder / "my textures" / "dark wood.png").write_bytes(bytes(bomb))
    surface = load_surface(obj_folder / "model.obj")
    assert any("3600000000 pixels" in f.what for f in surface.fallbacks), surface.fallbacks


def _textured_box() -> trimesh.Trimesh:
    box = trimesh.creation.box((1.0, 3.0, 2.0))  # x, height y, z in glTF's frame
    image = Image.open(io.BytesIO(png((200, 100, 50))))
    material = trimesh.visual.material.PBRMaterial(
        name="paint",
        baseColorFactor=[128, 255, 64, 255],
        baseColorTexture=image,
        metallicFactor=0.25,
        roughnessFactor=0.75,
    )
    uv = np.tile([[0.25, 0.125]], (len(box.vertices), 1))
    box.visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    return box


def test_glb_y_up_stands_and_keeps_its_texture() -> None:
    scene = trimesh.Scene()
    move = trimesh.transformations.translation_matrix([0, 5, 7])
    scene.add_geometry(_textured_box(), transform=move @ np.diag([2.0, 1.0, -1.0, 1.0]))
    surface = load_surface(scene.export(file_type="glb"), ".glb")
    # glTF (x, y, z) is the world's (y, z, x); scale 2 along x, mirror along z.
    assert np.allclose(surface.mesh.extents, (2.0, 2.0, 3.0))
    assert np.allclose(surface.mesh.bounds.mean(axis=0), (7, 0, 5))
    assert np.isclose(surface.mesh.to_trimesh().volume, 12.0)  # the mirror kept outside outside
    (material,) = surface.materials
    assert (material.base_color_texture == (200, 100, 50)).all()
    # sRGB of linear 128/255 and 64/255, IEC 61966-2-1 by hand.
    srgb = [1.055 * (v / 255) ** (1 / 2.4) - 0.055 for v in (128, 255, 64)]
    assert np.allclose(material.base_color, srgb, atol=1e-6)
    assert np.isclose(material.metallic, 0.25) and np.isclose(material.roughness, 0.75)
    assert np.allclose(surface.corner_uv, (0.25, 0.125), atol=1e-6)
    outward = np.einsum("ij,ij->i", surface.normals, surface.mesh.vertices - (7, 0, 5))
    assert (outward > 0).all()


def test_glb_vertex_colors_become_srgb() -> None:
    box = trimesh.creation.box()
    box.visual = trimesh.visual.ColorVisuals(box, vertex_colors=[[55, 0, 255, 255]] * 8)
    surface = load_surface(trimesh.Scene(box).export(file_type="glb"), ".glb")
    wanted = round(255 * (1.055 * (55 / 255) ** (1 / 2.4) - 0.055))
    assert (surface.vertex_color == (wanted, 0, 255)).all()


@pytest.mark.parametrize("kind", ["ply", "stl"])
def test_ply_and_stl_are_z_up(kind: str) -> None:
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    if kind == "ply":
        box.visual = trimesh.visual.ColorVisuals(box, vertex_colors=[[10, 20, 30, 255]] * 8)
    surface = load_surface(box.export(file_type=kind), kind)
    assert np.allclose(surface.mesh.extents, (1, 2, 3)) and len(surface.mesh.faces) == 12
    if kind == "ply":
        assert (surface.vertex_color == (10, 20, 30)).all()
    # Box edges are sharp: every normal is an axis.
    assert np.allclose(np.abs(surface.normals).max(axis=1), 1.0)


def test_smooth_normals_of_a_sphere_are_radial() -> None:
    sphere = trimesh.creation.icosphere(3)
    surface = surface_from_trimesh(trimesh.Trimesh(*_soup(sphere), process=False))
    assert np.einsum("ij,ij->i", surface.normals, surface.mesh.vertices).min() > 0.999


def _soup(mesh: trimesh.Trimesh) -> tuple[np.ndarray, np.ndarray]:
    return mesh.triangles.reshape(-1, 3), np.arange(3 * len(mesh.faces)).reshape(-1, 3)


def test_bad_files_say_why() -> None:
    good = trimesh.Scene(trimesh.creation.box()).export(file_type="glb")
    header, rest = glb_parts(good)
    draco = glb_join(header | {"extensionsRequired": ["KHR_draco_mesh_compression"]}, rest)
    meshopt = glb_join(header | {"extensionsUsed": ["EXT_meshopt_compression"]}, rest)
    loop = glb_join(header | {"nodes": [{"children": [1, 1]}, {"children": [0]}]}, rest)
    huge = dict(header, accessors=[dict(header["accessors"][0], count=10**12)])
    nan = b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"
    cases = [
        (b"", ".obj", "empty"),
        (b"  \n", ".stl", "empty"),
        (b"\x93garbage" * 50, ".glb", "no 'glTF' header"),
        (good[: len(good) // 2], ".glb", "cut off"),
        (draco, ".glb", "Draco"),
        (meshopt, ".glb", "meshopt"),
        (loop, ".glb", "two parents"),
        (glb_join(huge, rest), ".glb", "1000000000000 items"),
        (b"{}", ".gltf", "no faces"),
        (b"[1, 2", ".gltf", "JSON"),
        (nan, ".obj", "not finite"),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", ".obj", "no faces"),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", ".obj", "beyond 3"),
        (b"v 0 0 0\nf -2 1 1\n", ".obj", "doesn't exist"),
        (b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", ".obj", "zero area"),
        (b"ply\nformat ascii 1.0\nelement vertex 9\n", ".ply", "PLY"),
        (b"solid nothing\nendsolid\n", ".stl", ""),
        (good, ".blend", "wanted one of .glb, .gltf, .obj, .ply, .stl"),
    ]
    for data, suffix, message in cases:
        with pytest.raises(InputError) as error:
            load_surface(data, suffix)
        assert message in str(error.value), (suffix, message, str(error.value))
    for path in (Path("/nowhere/x.obj"), Path("/tmp")):
        with pytest.raises(InputError):
            load_surface(path, ".obj")


def test_damaged_bytes_never_crash() -> None:
    rng = np.random.default_rng(0)
    scene = trimesh.Scene(_textured_box())
    for kind in ("glb", "ply", "stl", "obj"):
        data = np.frombuffer(bytes(_export(scene, kind)), np.uint8)
        for _ in range(25):
            bad = data.copy()
            bad[rng.integers(0, len(bad), 8)] = rng.integers(0, 256, 8)
            try:
                surface = load_surface(bad.tobytes(), kind)
            except InputError:
                continue
            assert np.isfinite(surface.mesh.vertices[surface.mesh.faces]).all()


def _export(scene: trimesh.Scene, kind: str) -> bytes:
    if kind == "glb":
        return scene.export(file_type="glb")
    data = scene.to_geometry().export(file_type=kind)
    data = data[0] if isinstance(data, tuple) else data
    return data.encode() if isinstance(data, str) else data
