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

from seed3d.config import MeshConfig
from seed3d.errors import InputError, StageError
from seed3d.mesh import measure
from seed3d.mesh.grid import scene
from seed3d.mesh.load import load_surface
from seed3d.mesh.manifold import from_manifold, to_manifold
from seed3d.mesh.solid import make_solid
from seed3d.mesh.surface import surface_from_trimesh
from seed3d.types import Mesh, Solid


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
    loop = glb_join(header | {"nodes": [{"children": [1, 1]}, {"children": [0]}]}, rest)
    huge = dict(header, accessors=[dict(header["accessors"][0], count=10**12)])
    nan = b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n"
    cases = [
        (b"", ".obj", "empty"),
        (b"  \n", ".stl", "empty"),
        (b"\x93garbage" * 50, ".glb", "no 'glTF' header"),
        (good[: len(good) // 2], ".glb", "cut off"),
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


# --- make_solid -------------------------------------------------------------------------------

SIZE = 1.9
SMALL = MeshConfig(resolution=64)
VOXEL = SIZE / SMALL.resolution


def solid_of(mesh: trimesh.Trimesh | Mesh, config: MeshConfig = SMALL) -> Solid:
    mesh = mesh if isinstance(mesh, Mesh) else Mesh.from_trimesh(mesh)
    solid = make_solid(mesh, config)
    ours = solid.mesh.to_trimesh()  # trimesh as the second opinion
    assert ours.is_watertight and ours.is_winding_consistent and ours.volume > 0
    assert measure.is_closed(solid.mesh) and measure.is_manifold(solid.mesh)
    return solid


def without(mesh: trimesh.Trimesh, axis: int, sign: int) -> trimesh.Trimesh:
    keep = mesh.face_normals[:, axis] * sign < 0.5
    return trimesh.Trimesh(mesh.vertices, mesh.faces[keep], process=False)


def stated(solid: Solid) -> str:
    return " | ".join(f.what for f in solid.fallbacks)


@pytest.fixture(scope="module")
def box() -> trimesh.Trimesh:
    return trimesh.creation.box((SIZE, SIZE, SIZE))


@pytest.mark.parametrize(("axis", "side"), [(2, "bottom"), (0, "back")])
def test_cube_without_its_bottom_or_back_is_closed_exactly(box, axis: int, side: str) -> None:
    solid = solid_of(without(box, axis, -1))
    assert np.isclose(measure.volume(solid.mesh), SIZE**3)
    assert f"closed an opening in the {side}" in stated(solid)


@pytest.mark.parametrize("axis", [0, 2])
def test_cube_open_at_the_front_or_top_stays_a_container(box, axis: int) -> None:
    solid = solid_of(without(box, axis, 1))
    assert "was open; rebuilt at 64 voxels" in stated(solid)
    # Five walls of one voxel; the corners and rims make up a few per cent.
    assert np.isclose(measure.volume(solid.mesh), 5 * SIZE**2 * VOXEL, rtol=0.05)
    inside = scene(solid.mesh).compute_occupancy(np.zeros((1, 3), np.float32)).numpy()
    assert inside[0] == 0
    assert measure.euler_number(solid.mesh) == 2


def test_inverted_cube_and_mixed_winding_are_turned(box) -> None:
    for faces in (box.faces[:, ::-1], np.vstack([box.faces[:5], box.faces[5:, ::-1]])):
        solid = solid_of(Mesh(np.array(box.vertices), np.array(faces)))
        assert solid.fallbacks == () and np.isclose(measure.volume(solid.mesh), SIZE**3)


def test_repeated_faces_and_split_vertices_are_merged(box) -> None:
    soup = box.triangles.reshape(-1, 3)
    faces = np.arange(len(soup)).reshape(-1, 3)
    solid = solid_of(Mesh(soup, np.vstack([faces, faces[:4], faces[:3, ::-1]])))
    assert solid.fallbacks == () and np.isclose(measure.volume(solid.mesh), SIZE**3)


def test_crack_between_two_halves_is_joined() -> None:
    sphere = trimesh.creation.uv_sphere(radius=0.95, count=[32, 32])
    up = sphere.triangles_center[:, 2] > 0
    upper = sphere.triangles[up] + (0, 0, 5e-5)
    soup = np.concatenate([upper, sphere.triangles[~up]]).reshape(-1, 3)
    solid = solid_of(Mesh(soup, np.arange(len(soup)).reshape(-1, 3)))
    assert np.isclose(measure.volume(solid.mesh), sphere.volume, rtol=1e-3)
    assert solid.fallbacks == ()


@pytest.mark.parametrize("thickness", [0.0, 1e-7])
def test_flat_things_get_a_thickness(thickness: float) -> None:
    plate = trimesh.creation.box((SIZE, 1.0, thickness or 1.0))
    if not thickness:
        plate = Mesh(
            np.array([[0, 0, 0], [SIZE, 0, 0], [SIZE, 1, 0], [0, 1, 0]]),
            np.array([[0, 1, 2], [0, 2, 3]]),
        )
    solid = solid_of(plate)
    assert np.allclose(solid.mesh.extents[:2], (SIZE, 1.0), atol=0.3 * VOXEL)
    assert np.isclose(solid.mesh.extents[2], VOXEL, rtol=1e-2)
    assert np.isclose(measure.volume(solid.mesh), SIZE * VOXEL, rtol=0.05)
    assert "rebuilt" in stated(solid)


def test_floater_goes_and_two_real_bodies_stay() -> None:
    first = trimesh.creation.box((0.5, 0.5, 0.5))
    second = trimesh.creation.box((0.3, 0.3, 0.3)).apply_translation((1.0, 0, 0))
    crumb = trimesh.creation.icosphere(0, radius=0.004)
    open_crumb = trimesh.Trimesh(crumb.vertices, crumb.faces[:5]).apply_translation((0, 1, 0))
    solid = solid_of(trimesh.util.concatenate([first, second, open_crumb]), MeshConfig())
    assert measure.component_count(solid.mesh) == 2
    assert np.isclose(measure.volume(solid.mesh), 0.5**3 + 0.3**3)
    assert "dropped 1 floater" in stated(solid)


def _shell(inner_radius: float, drop: int) -> trimesh.Trimesh:
    """Outer sphere, and an inner one wound inwards; `drop` faces are missing at one spot of both."""
    outer = trimesh.creation.icosphere(4, radius=0.95)
    inner = trimesh.creation.icosphere(4, radius=inner_radius)
    return trimesh.util.concatenate(
        [
            trimesh.Trimesh(outer.vertices, outer.faces[drop:]),
            trimesh.Trimesh(inner.vertices, inner.faces[drop:, ::-1]),
        ]
    )


@pytest.mark.parametrize("drop", [0, 1])
def test_nested_spheres_and_pin_holes_give_the_outer_volume(drop: int) -> None:
    outer = trimesh.creation.icosphere(4, radius=0.95).volume
    solid = solid_of(_shell(0.8, drop))
    assert np.isclose(measure.volume(solid.mesh), outer, rtol=1e-4)
    assert measure.euler_number(solid.mesh) == 2


def test_hollow_joined_to_the_outside_by_a_pin_hole_is_filled() -> None:
    """A closed manifold: a pipe 0.6 voxel wide leads into the hollow."""
    shell = _shell(0.6, 0).split(only_watertight=False)
    outer, inner = sorted(
        (to_manifold(Mesh.from_trimesh(s)) for s in shell), key=lambda s: -abs(s.volume())
    )
    inner = to_manifold(Mesh(from_manifold(inner).vertices, from_manifold(inner).faces[:, ::-1]))
    pipe = trimesh.creation.cylinder(0.3 * VOXEL, 1.0).apply_translation((0, 0, 0.9))
    hollow = from_manifold(outer - inner - to_manifold(Mesh.from_trimesh(pipe)))
    assert measure.component_count(hollow) == 1 and measure.is_closed(hollow)
    solid = solid_of(hollow)
    assert "hollows behind gaps narrower than a voxel" in stated(solid)
    assert np.isclose(measure.volume(solid.mesh), outer.volume(), rtol=0.01)


def test_torus_keeps_its_hole_exactly_and_when_rebuilt() -> None:
    torus = trimesh.creation.torus(0.7, 0.25)
    solid = solid_of(torus)
    assert solid.fallbacks == () and measure.euler_number(solid.mesh) == 0
    assert np.isclose(measure.volume(solid.mesh), torus.volume)
    # Shift a few triangles' corners: no edge fits any more, all gaps are narrow.
    soup = torus.triangles.copy()
    soup += np.random.default_rng(0).uniform(-2e-3, 2e-3, (len(soup), 1, 3))
    solid = solid_of(Mesh(soup.reshape(-1, 3), np.arange(soup.size // 3).reshape(-1, 3)))
    assert measure.euler_number(solid.mesh) == 0
    assert np.isclose(measure.volume(solid.mesh), torus.volume, rtol=0.04)


def test_sheet_cup_keeps_its_cavity() -> None:
    cup = without(trimesh.creation.cylinder(0.5, SIZE, sections=48), 2, 1)
    solid = solid_of(cup)
    rays = scene(solid.mesh)
    down = np.array([[0.0, 0.0, 3.0, 0, 0, -1]], np.float32)
    depth = rays.cast_rays(down)["t_hit"].numpy()[0]
    assert np.isclose(3.0 - depth, -SIZE / 2 + VOXEL / 2, atol=0.3 * VOXEL)  # lands on the floor
    assert np.isclose(measure.volume(solid.mesh), cup.area * VOXEL, rtol=0.06)
    assert measure.euler_number(solid.mesh) == 2


def test_overlapping_boxes_have_the_volume_of_their_union() -> None:
    first = trimesh.creation.box((1.0, 1.0, 1.0))
    second = trimesh.creation.box((1.0, 1.0, 1.0)).apply_translation((0.5, 0.25, 0.125))
    solid = solid_of(trimesh.util.concatenate([first, second]))
    assert np.isclose(measure.volume(solid.mesh), 2 - 0.5 * 0.75 * 0.875)
    assert measure.component_count(solid.mesh) == 1 and solid.fallbacks == ()


def test_boxes_that_share_an_edge_or_a_face_are_exact() -> None:
    first = trimesh.creation.box((0.5, 0.5, 0.5))
    for move, extents in (((0.5, 0.5, 0), (1, 1, 0.5)), ((0.5, 0, 0), (1, 0.5, 0.5))):
        both = trimesh.util.concatenate([first, first.copy().apply_translation(move)])
        solid = make_solid(Mesh.from_trimesh(both), SMALL)
        assert np.isclose(measure.volume(solid.mesh), 0.25) and measure.is_manifold(solid.mesh)
        assert np.allclose(solid.mesh.extents, extents)


def test_moebius_strip_gets_a_shell() -> None:
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    side = np.array([-0.2, 0.2])[:, None]
    radius = 0.7 + side * np.cos(t / 2)
    points = np.stack([radius * np.cos(t), radius * np.sin(t), side * np.sin(t / 2)], axis=-1)
    a, b = np.arange(60), np.arange(60) + 60
    an, bn = np.roll(a, -1), np.roll(b, -1)
    an[-1], bn[-1] = b[0], a[0]
    faces = np.concatenate([np.stack([a, an, b], 1), np.stack([an, bn, b], 1)])
    solid = solid_of(Mesh(points.reshape(-1, 3), faces))
    assert measure.euler_number(solid.mesh) == 0  # the boundary of a thickened strip is a torus


def test_large_meshes_are_decimated_within_bounds() -> None:
    ball = trimesh.creation.icosphere(7, radius=0.95)  # 327,680 faces
    small = trimesh.creation.icosphere(6, radius=0.2).apply_translation((0, 0, 1.3))
    both = trimesh.util.concatenate([ball, small])
    assert len(both.faces) > 400_000
    solid = solid_of(both, MeshConfig(target_faces=8000))
    assert len(solid.mesh.faces) <= 8000 and solid.fallbacks == ()
    assert measure.component_count(solid.mesh) == 2
    truth = 4 / 3 * np.pi * (0.95**3 + 0.2**3)
    assert np.isclose(measure.volume(solid.mesh), truth, rtol=5e-3)
    assert measure.surface_distance(Mesh.from_trimesh(both), solid.mesh).largest < 0.01


def test_decimation_keeps_thin_rods() -> None:
    plate = trimesh.creation.box((1.9, 1.0, 0.1)).subdivide_loop(5)
    rods = [
        trimesh.creation.cylinder(0.01, 1.0, sections=24)
        .subdivide()
        .apply_translation((x, y, -0.5))
        for x in (-0.6, 0.6)
        for y in (-0.25, 0.25)
    ]
    solid = solid_of(trimesh.util.concatenate([plate, *rods]), MeshConfig(target_faces=600))
    assert measure.component_count(solid.mesh) == 1 and np.isclose(
        solid.mesh.bounds[0, 2], -1, atol=0.01
    )
    for rod in rods:
        centre = rod.bounds.mean(axis=0, keepdims=True).astype(np.float32)
        assert scene(solid.mesh).compute_occupancy(centre).numpy()[0] == 1


def test_solid_is_deterministic_and_moves_with_its_input() -> None:
    cup = Mesh.from_trimesh(without(trimesh.creation.cylinder(0.5, SIZE, sections=48), 2, 1))
    first, again = make_solid(cup, SMALL).mesh, make_solid(cup, SMALL).mesh
    assert np.array_equal(first.vertices, again.vertices) and np.array_equal(
        first.faces, again.faces
    )
    moved = make_solid(cup.moved(1.0, np.array([0.5, -0.25, 1.0])), SMALL).mesh
    assert np.isclose(measure.volume(moved), measure.volume(first), rtol=5e-3)


def test_real_meshes_of_pybullet() -> None:
    """Random objects (open and closed) that ship with pybullet."""
    import pybullet_data

    root = Path(pybullet_data.getDataPath())
    files = [*sorted(root.glob("random_urdfs/*/*.obj"))[::250], root / "teddy2_VHACD_CHs.obj"]
    assert len(files) >= 4
    for file in files:
        mesh = load_surface(file).mesh
        mesh = mesh.moved(
            SIZE / mesh.extents.max(), -mesh.bounds.mean(axis=0) * SIZE / mesh.extents.max()
        )
        solid = solid_of(mesh)
        assert np.allclose(solid.mesh.bounds, mesh.bounds, atol=VOXEL)
        # The other engine: signed volume by winding numbers of the convex hull bounds it.
        assert 0 < measure.volume(solid.mesh) <= 1.02 * mesh.to_trimesh().convex_hull.volume


def test_make_solid_refuses_with_a_cause() -> None:
    point = Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    line = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]]), np.array([[0, 1, 2]]))
    broken = Mesh(np.array([[0.0, 0, 0], [1, 0, 0], [0, np.nan, 0]]), np.array([[0, 1, 2]]))
    empty = Mesh(np.zeros((0, 3)), np.zeros((0, 3), int))
    cases = ((empty, "no faces"), (point, "one point"), (line, "zero area"), (broken, "not finite"))
    for mesh, message in cases:
        with pytest.raises(StageError, match=message):
            make_solid(mesh, SMALL)


def test_surface_distance_of_shifted_plates_is_the_shift() -> None:
    plate = Mesh(
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    )
    found = measure.surface_distance(plate, plate.moved(1.0, np.array([0, 0, 0.25])), 500)
    assert np.isclose(found.mean, 0.25) and np.isclose(found.largest, 0.25)


def test_edges_that_single_precision_cannot_tell_apart_are_collapsed():
    """A box with one corner split into two vertices 1.5e-6 of its size apart: two slivers."""
    import trimesh

    box = trimesh.creation.box((1.9, 1.0, 0.5))
    vertices, faces = box.vertices.tolist(), box.faces.tolist()
    a, b = faces[0][:2]
    along = box.vertices[b] - box.vertices[a]
    middle = (box.vertices[a] + along * (1.5e-6 * 1.9 / np.linalg.norm(along))).tolist()
    vertices.append(middle)
    new = len(vertices) - 1
    split = []
    for face in faces:
        if {a, b} <= set(face):
            i = next(k for k in range(3) if {face[k], face[(k + 1) % 3]} == {a, b})
            p, q, r = face[i], face[(i + 1) % 3], face[(i + 2) % 3]
            split += [[p, new, r], [new, q, r]]
        else:
            split.append(face)
    mesh = make_solid(Mesh(np.array(vertices), np.array(split)), MeshConfig()).mesh
    ends = mesh.vertices[mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)]
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).min() > 1e-5
    assert mesh.to_trimesh().is_watertight
    assert mesh.to_trimesh().volume == pytest.approx(1.9 * 1.0 * 0.5, rel=1e-6)


def test_sheets_that_touch_are_kept_apart():
    """Two pyramids that meet in their tips: joined by position the tip would be one vertex."""
    from seed3d.mesh.apart import keep_apart

    base = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [0, 0, 0]], float)
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
    mesh = Mesh(np.concatenate([base, -base]), np.concatenate([faces, faces[:, ::-1] + 5]))
    volume = mesh.to_trimesh().volume
    apart = keep_apart(mesh, 4e-6)
    tips = apart.vertices[[4, 9]]
    assert 4e-6 < np.linalg.norm(tips[0] - tips[1]) < 1e-3
    assert apart.to_trimesh().volume == pytest.approx(volume, rel=1e-4)
    untouched = [0, 1, 2, 3, 5, 6, 7, 8]
    assert np.array_equal(apart.vertices[untouched], mesh.vertices[untouched])
