"""Exports against closed-form mass properties, read back by independent programs."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from seed3d.errors import ExportError, InputError
from seed3d.export import USUAL, WRITERS, asset_files, load, with_report, write_files
from seed3d.export.principal import principal_axes
from seed3d.names import MAX_LENGTH, asset_name, unique_names
from seed3d.report import load_report, load_verdict
from seed3d.types import (
    Asset,
    Atlas,
    Camera,
    Check,
    Collision,
    Estimate,
    Fallback,
    Mesh,
    PBRMaps,
    RigidBody,
    Verdict,
)

DENSITY = 700.0
RED, GREEN = (250, 10, 10), (10, 250, 10)
TILT = Rotation.from_euler("xyz", [0.5, -0.7, 0.4]).as_matrix()
Boxes = list[tuple[np.ndarray, np.ndarray]]  # (lower corner, size) of disjoint solid boxes


def _closed_form(boxes: Boxes) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about it of disjoint boxes: parallel axes, no mesh involved."""
    masses = [DENSITY * size.prod() for _, size in boxes]
    centers = [low + size / 2 for low, size in boxes]
    com = sum(m * c for m, c in zip(masses, centers, strict=True)) / sum(masses)
    inertia = np.zeros((3, 3))
    for (_, size), mass, center in zip(boxes, masses, centers, strict=True):
        offset = center - com
        inertia += mass / 12 * np.diag((size**2).sum() - size**2)
        inertia += mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return sum(masses), com, inertia


def _box_mesh(low: np.ndarray, size: np.ndarray) -> Mesh:
    import trimesh

    box = trimesh.creation.box(size)
    return Mesh(np.array(box.vertices) + low + size / 2, np.array(box.faces, np.int64))


def _chart_per_face(faces: np.ndarray) -> Atlas:
    side = int(np.ceil(np.sqrt(len(faces))))
    index = np.arange(len(faces))
    cell = np.stack([index % side, index // side], axis=1)[:, None]  # (F, 1, 2)
    corner = np.array([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9]])
    uv = ((cell + corner) / side).reshape(-1, 2)
    return Atlas(faces.ravel().copy(), np.arange(faces.size).reshape(-1, 3), uv, 0.3)


def _maps(mesh: Mesh, atlas: Atlas, size: int = 64) -> PBRMaps:
    """Green, but red in the charts of faces that look along +X."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    red = normal[:, 0] > 0.7 * np.linalg.norm(normal, axis=1)
    base = np.full((size, size, 3), GREEN, np.uint8)
    for corner_uv in atlas.uv[atlas.faces[red]]:
        low = np.floor((corner_uv.min(axis=0)) * size).astype(int)
        high = np.ceil((corner_uv.max(axis=0)) * size).astype(int)
        base[size - high[1] : size - low[1], low[0] : high[0]] = RED
    packed = np.full_like(base, (255, 150, 0))
    return PBRMaps(base, packed, np.full_like(base, (128, 128, 255)), 0.25)


def _asset(name: str, boxes: Boxes, solid: Mesh, rotation: np.ndarray | None = None) -> Asset:
    rotation = np.eye(3) if rotation is None else rotation
    mass, com, inertia = _closed_form(boxes)
    vertices = solid.vertices @ rotation.T
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    shift = -np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    mesh = Mesh(vertices + shift, solid.faces)
    hulls = [_box_mesh(*box) for box in boxes]
    hulls = [Mesh(hull.vertices @ rotation.T + shift, hull.faces) for hull in hulls]
    inertia = rotation @ inertia @ rotation.T
    body = RigidBody(mass, rotation @ com + shift, inertia, 0.5, 0.0002, 0.001, 0.25)
    atlas = _chart_per_face(mesh.faces)
    return Asset(
        name,
        mesh,
        atlas,
        _maps(mesh, atlas),
        Collision(tuple(hulls), 1.0, (Fallback("collision", "kept all boxes"),)),
        body,
        estimates={
            "size_m": Estimate(0.2, "user"),
            "material": Estimate("oak", "prior", "x", 1, 2),
        },
        fallbacks=(Fallback("image", "no mask"),),
        inputs={
            "file": 'blå "lampe".png',
            "seed": 3,
            "size": np.float64(0.5),
            "formats": ("urdf",),
        },
        camera=Camera(0.1, 0.2, 4.0, 2.0),
        timings_s={"geometry": 1.25},
    )


def _manifold_mesh(solid: object) -> Mesh:
    data = solid.to_mesh()
    vertices = np.array(data.vert_properties[:, :3], np.float64)
    return Mesh(vertices, np.array(data.tri_verts, np.int64))


def l_prism(name: str = "l_prism", rotation: np.ndarray | None = None) -> Asset:
    import manifold3d

    outline = [(0, 0), (0.2, 0), (0.2, 0.05), (0.05, 0.05), (0.05, 0.1), (0, 0.1)]
    solid = manifold3d.CrossSection([np.array(outline)]).extrude(0.06)
    boxes = [
        (np.zeros(3), np.array([0.2, 0.05, 0.06])),
        (np.array([0, 0.05, 0]), np.array([0.05, 0.05, 0.06])),
    ]
    return _asset(name, boxes, _manifold_mesh(solid), rotation)


def tray(name: str = "tray", rotation: np.ndarray | None = None) -> Asset:
    from manifold3d import Manifold

    x, y, z, t = 0.24, 0.16, 0.08, 0.01
    inner = Manifold.cube((x - 2 * t, y - 2 * t, z)).translate((t, t, t))
    walls = [
        ((0, 0, 0), (x, y, t)),
        ((0, 0, t), (t, y, z - t)),
        ((x - t, 0, t), (t, y, z - t)),
        ((t, 0, t), (x - 2 * t, t, z - t)),
        ((t, y - t, t), (x - 2 * t, t, z - t)),
    ]
    boxes = [(np.array(low, float), np.array(size)) for low, size in walls]
    return _asset(name, boxes, _manifold_mesh(Manifold.cube((x, y, z)) - inner), rotation)


def _written(asset: Asset, folder: Path) -> Path:
    return write_files(asset_files(asset), folder / asset.name)


@pytest.fixture(scope="module")
def tilted(tmp_path_factory) -> tuple[Asset, Path]:
    """A prism turned so that every product of inertia counts, in a folder moved after writing."""
    asset = l_prism("tilted", TILT)
    assert np.abs(asset.body.inertia_kg_m2[np.triu_indices(3, 1)]).min() > 1e-5
    folder = _written(asset, tmp_path_factory.mktemp("first"))
    moved = tmp_path_factory.mktemp("moved to") / "another name"
    shutil.move(folder, moved)
    return asset, moved


def _tensor(moments: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
    axes = Rotation.from_quat(np.asarray(quat_wxyz), scalar_first=True).as_matrix()
    return axes @ np.diag(moments) @ axes.T


def _close(got: object, wanted: object, rtol: float) -> None:
    scale = float(np.abs(np.asarray(wanted)).max())
    np.testing.assert_allclose(got, wanted, rtol=0, atol=rtol * scale)


def test_mujoco_compiles_the_same_body(tilted):
    import mujoco

    asset, folder = tilted
    model = mujoco.MjModel.from_xml_path(str(folder / "tilted.xml"))
    body = model.body("tilted")
    _close(body.mass, asset.body.mass_kg, 1e-11)
    _close(body.ipos, asset.body.com_m, 1e-11)
    _close(_tensor(body.inertia, body.iquat), asset.body.inertia_kg_m2, 1e-10)
    assert model.njnt == 1 and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    hulls = model.geom_group == 3
    assert hulls.sum() == len(asset.collision.hulls)
    _close(model.geom_friction[hulls], [[0.5, 0.001, 0.0002]] * 2, 1e-12)
    assert not model.geom_contype[model.geom_group == 2].any()


def test_mujoco_mesh_is_where_the_asset_is(tilted):
    import mujoco

    asset, folder = tilted
    model = mujoco.MjModel.from_xml_path(str(folder / "tilted.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for geom, mesh in enumerate([asset.mesh, *asset.collision.hulls]):
        mesh_id = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh_id], model.mesh_vertnum[mesh_id]
        local = model.mesh_vert[start : start + count]
        world = local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
        _close([world.min(axis=0), world.max(axis=0)], mesh.bounds, 1e-6)


def test_mujoco_finds_the_right_texel_on_every_face(tilted):
    import mujoco

    asset, folder = tilted
    model = mujoco.MjModel.from_xml_path(str(folder / "tilted.xml"))
    mesh_id = int(np.flatnonzero(model.mesh_texcoordadr >= 0)[0])
    faces = slice(model.mesh_faceadr[mesh_id], None)
    coordinates = model.mesh_texcoord[model.mesh_texcoordadr[mesh_id] :]
    uv = coordinates[model.mesh_facetexcoord[faces][: model.mesh_facenum[mesh_id]]].mean(axis=1)
    image = model.tex_data.reshape(64, 64, 3)  # OpenGL draws the first row at v = 0
    got = image[(uv[:, 1] * 64).astype(int), (uv[:, 0] * 64).astype(int)]
    centers = asset.atlas.uv[asset.atlas.faces].mean(axis=1)
    rows, columns = ((1 - centers[:, 1]) * 64).astype(int), (centers[:, 0] * 64).astype(int)
    wanted = asset.maps.base_color[rows, columns]
    assert {tuple(color) for color in wanted.tolist()} == {RED, GREEN}
    np.testing.assert_array_equal(got, wanted)


@pytest.fixture
def bullet():
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    yield pybullet
    pybullet.disconnect(client)


def test_pybullet_reads_the_same_body(tilted, bullet):
    asset, folder = tilted
    flags = bullet.URDF_USE_INERTIA_FROM_FILE
    body = bullet.loadURDF(str(folder / "tilted.urdf"), flags=flags)
    info = bullet.getDynamicsInfo(body, -1)
    mass, friction, moments, position, (x, y, z, w), restitution, rolling, spinning = info[:8]
    _close(mass, asset.body.mass_kg, 1e-11)
    _close(position, asset.body.com_m, 1e-11)
    _close(_tensor(np.array(moments), np.array([w, x, y, z])), asset.body.inertia_kg_m2, 1e-6)
    _close([friction, restitution, rolling, spinning], [0.5, 0.25, 0.0002, 0.001], 1e-12)
    assert len(bullet.getCollisionShapeData(body, -1)) == len(asset.collision.hulls)


def test_pybullet_shows_the_texture_the_right_way_up(tmp_path, bullet):
    folder = _written(tray(), tmp_path)
    bullet.loadURDF(str(folder / "tray.urdf"))
    view = bullet.computeViewMatrix((0.6, 0, 0.04), (0, 0, 0.04), (0, 0, 1))
    lens = bullet.computeProjectionMatrixFOV(20, 1.0, 0.1, 2.0)
    light = {"lightAmbientCoeff": 1.0, "lightDiffuseCoeff": 0.0, "lightSpecularCoeff": 0.0}
    renderer = bullet.ER_TINY_RENDERER
    image = bullet.getCameraImage(64, 64, view, lens, renderer=renderer, shadow=0, **light)
    pixels = np.reshape(image[2], (64, 64, 4))[np.reshape(image[4], (64, 64)) >= 0][:, :3]
    red = (pixels[:, 0] > 2 * pixels[:, 1].astype(int)).mean()
    assert len(pixels) > 300 and red > 0.95  # only the +X side is in view


def test_usd_holds_the_same_body(tilted):
    from pxr import Usd, UsdGeom, UsdPhysics, UsdShade

    asset, folder = tilted
    stage = Usd.Stage.Open(str(folder / "usd" / "tilted.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1
    root = stage.GetDefaultPrim()
    assert root.HasAPI(UsdPhysics.RigidBodyAPI)
    mass = UsdPhysics.MassAPI(root)
    quat = mass.GetPrincipalAxesAttr().Get()
    tensor = _tensor(
        np.array(mass.GetDiagonalInertiaAttr().Get()), [quat.real, *quat.GetImaginary()]
    )
    _close(mass.GetMassAttr().Get(), asset.body.mass_kg, 1e-6)
    _close(np.array(mass.GetCenterOfMassAttr().Get()), asset.body.com_m, 1e-6)
    _close(tensor, asset.body.inertia_kg_m2, 1e-6)
    visual = UsdGeom.Mesh.Get(stage, "/tilted/visual")
    _close(np.array(visual.GetPointsAttr().Get()), asset.mesh.vertices, 1e-6)
    corners = asset.mesh.vertices[asset.mesh.faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    _close(
        np.array(visual.GetNormalsAttr().Get()).reshape(-1, 3, 3), flat[:, None] + 0 * corners, 1e-5
    )
    hulls = [p for p in stage.Traverse() if p.HasAPI(UsdPhysics.CollisionAPI)]
    for prim, hull in zip(hulls, asset.collision.hulls, strict=True):
        _close(np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get()), hull.vertices, 1e-6)
        assert UsdPhysics.MeshCollisionAPI(prim).GetApproximationAttr().Get() == "convexHull"
        bound, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        contact = UsdPhysics.MaterialAPI(bound)
        assert contact.GetDynamicFrictionAttr().Get() == 0.5
        assert contact.GetRestitutionAttr().Get() == 0.25
    shader = stage.GetPrimAtPath("/tilted/looks/surface/base_color")
    file = shader.GetAttribute("inputs:file").Get()
    assert Path(file.resolvedPath).read_bytes() == (folder / "textures/base_color.png").read_bytes()


def test_glb_in_an_independent_reader(tilted):
    import trimesh

    asset, folder = tilted
    data = (folder / "tilted.glb").read_bytes()
    mesh = trimesh.load(folder / "tilted.glb", force="mesh", process=False)
    x, y, z = asset.mesh.extents
    _close(mesh.extents, [y, z, x], 1e-6)  # glTF: Y up, Z forward
    closed = trimesh.Trimesh(mesh.vertices, mesh.faces)
    assert closed.is_watertight
    _close(closed.volume, asset.body.mass_kg / DENSITY, 1e-5)
    material = mesh.visual.material
    np.testing.assert_array_equal(material.baseColorTexture, asset.maps.base_color)
    np.testing.assert_array_equal(
        np.array(material.metallicRoughnessTexture)[..., 1:],
        asset.maps.metallic_roughness[..., 1:],
    )
    length = struct.unpack("<I", data[12:16])[0]
    header, binary = json.loads(data[20 : 20 + length]), data[28 + length :]
    accessor = header["accessors"][header["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"]]
    start = header["bufferViews"][accessor["bufferView"]]["byteOffset"]
    uv = np.frombuffer(binary, np.float32, 2 * accessor["count"], start).reshape(-1, 2)
    wanted = asset.atlas.uv * [1, -1] + [0, 1]  # v down
    _close(np.sort(uv[:, 1]), np.sort(wanted[:, 1]), 1e-6)


def test_smooth_mesh_has_smooth_normals(tmp_path):
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.1)
    mesh = Mesh(np.array(ball.vertices) + np.array([0, 0, 0.1]), np.array(ball.faces, np.int64))
    asset = replace(l_prism(), mesh=mesh, atlas=_chart_per_face(mesh.faces))
    scene = trimesh.load(_written(asset, tmp_path) / "l_prism.glb", process=False)
    glb = scene.geometry["l_prism"]
    outward = glb.vertices - [0, 0.1, 0]
    cosine = (outward * glb.vertex_normals).sum(axis=1) / np.linalg.norm(outward, axis=1)
    assert cosine.min() > 0.999


@pytest.mark.parametrize("make", [l_prism, tray])
def test_same_bytes_twice_and_after_loading(make, tmp_path):
    verdict = Verdict(
        (Check("mass", True, 0.5, "0.5 kg", "mujoco"), Check("rest", False, "x", "y"))
    )
    files = asset_files(make(), verdict=verdict, extras={"preview.png": b"pixels"})
    assert files == asset_files(make(), verdict=verdict, extras={"preview.png": b"pixels"})
    folder = write_files(files, tmp_path / "a")
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} == set(
        files
    )
    report = load_report(folder)
    assert load_verdict(report) == verdict and report["verdict"]["passed"] is False
    loaded = load(folder)
    again = asset_files(loaded, extras={"preview.png": b"pixels"})
    again = with_report(again, loaded, USUAL, load_verdict(report))
    assert [path for path in files if files[path] != again[path]] == []


def test_loaded_asset_is_the_asset(tmp_path):
    asset = tray()
    got = load(_written(asset, tmp_path))
    _close(got.mesh.vertices, asset.mesh.vertices, 1e-7)
    np.testing.assert_array_equal(got.mesh.faces, asset.mesh.faces)
    np.testing.assert_array_equal(got.atlas.vertex, asset.atlas.vertex)
    np.testing.assert_array_equal(got.atlas.faces, asset.atlas.faces)
    np.testing.assert_array_equal(got.maps.base_color, asset.maps.base_color)
    np.testing.assert_array_equal(got.body.inertia_kg_m2, asset.body.inertia_kg_m2)
    assert got.estimates == asset.estimates and got.camera == asset.camera
    assert got.fallbacks == (*asset.fallbacks, *asset.collision.fallbacks)
    assert got.inputs == {**asset.inputs, "formats": ["urdf"]}
    assert got.timings_s == asset.timings_s


def test_formats_are_a_choice():
    files = asset_files(tray(), formats=["mjcf"])
    assert {p for p in files if "tray" in p} == {"tray.xml"}
    assert {*USUAL, "mjcf_sdf"} == set(WRITERS)
    with pytest.raises(ExportError, match="Did you mean 'urdf'"):
        asset_files(tray(), formats=["urfd"])


@pytest.mark.parametrize(
    "stem", ['3 "lamps" & <b>\'s', "../../etc/passwd", "椅子.v2", "CON", "a.b"]
)
def test_any_name_loads_everywhere(stem, tmp_path, bullet):
    import mujoco
    from pxr import Usd

    name = asset_name(stem)
    folder = _written(l_prism(name), tmp_path)
    assert mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml")).body(name).mass > 0
    assert bullet.getBodyInfo(bullet.loadURDF(str(folder / f"{name}.urdf")))[1].decode() == name
    stage = Usd.Stage.Open(str(folder / "usd" / f"{name}.usda"))
    assert stage.GetDefaultPrim().GetName() == name


def test_a_file_name_that_is_no_text_is_reported(tmp_path):
    files = asset_files(replace(l_prism(), inputs={"file": "C:\\photos\\\udcff.png"}))
    assert json.loads(files["report.json"])["inputs"]["file"] == "C:\\photos\\?.png"
    assert b'string source_file = "?.png"' in files["usd/l_prism.usda"]


def test_two_assets_share_a_scene_without_sharing_a_texture(tmp_path, monkeypatch):
    import mujoco

    monkeypatch.chdir(tmp_path)  # MuJoCo logs that an empty prefix is risky
    second = tray()
    second = replace(second, maps=replace(second.maps, base_color=second.maps.base_color[:, ::-1]))
    scene = mujoco.MjSpec()
    for i, asset in enumerate((l_prism(), second)):
        spec = mujoco.MjSpec.from_file(str(_written(asset, tmp_path) / f"{asset.name}.xml"))
        scene.attach(spec, prefix="", frame=scene.worldbody.add_frame(pos=[0.5 * i, 0, 0]))
    model = scene.compile()
    pixels = model.tex_data.reshape(2, 64, 64, 3)
    np.testing.assert_array_equal(pixels[0], l_prism().maps.base_color)
    np.testing.assert_array_equal(pixels[1], second.maps.base_color)


@pytest.mark.parametrize(
    ("stem", "wanted"),
    [
        ("chair", "chair"),
        ("my chair.v2-final", "my_chair_v2_final"),
        ("3chairs", "object_3chairs"),
        ("aux", "object_aux"),
        ("World", "object_World"),
    ],
)
def test_plain_names(stem, wanted):
    assert asset_name(stem) == wanted


def test_names_are_safe_stable_and_distinct():
    stems = [
        "",
        "..",
        "../x",
        "x",
        "é",
        "e",
        "椅",
        "子",
        "a" * 300,
        "a" * 301,
        "a/b",
        "a b",
        "\ud800",
    ]
    names = [asset_name(s) for s in stems]
    assert len(set(names)) == len(stems)
    for name in names:
        assert name.isascii() and name.isidentifier() and name[0].isalpha()
        assert len(name) <= MAX_LENGTH and asset_name(name) == name


def test_clashing_names_are_told_apart():
    stems = ["a b", "a.b", "A B", "a_b", "cup", "cup", "Cup", "b" * 80, "b" * 80]
    names = unique_names(stems)
    assert names[3] == "a_b" and names[4] == "cup"
    assert len({name.lower() for name in names}) == len(stems)
    assert all(asset_name(name) == name for name in names)
    backwards = dict(zip(stems[::-1], unique_names(stems[::-1]), strict=True))
    assert backwards["a b"] == names[0]


def _listing(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_writing_replaces_an_older_asset_and_keeps_user_files(tmp_path):
    folder = _written(replace(l_prism(), name="thing"), tmp_path)
    (folder / "notes.txt").write_text("mine")
    files = asset_files(tray("thing"), formats=["urdf"])
    write_files(files, folder)
    assert _listing(tmp_path / "thing") == {**files, "notes.txt": b"mine"}
    assert [p.name for p in tmp_path.iterdir()] == ["thing"]


def test_writing_refuses_other_folders(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    with pytest.raises(ExportError, match=r"holds other things \(thesis.txt"):
        write_files({"x.urdf": b""}, tmp_path / "home")
    with pytest.raises(ExportError, match="got a file; wanted a folder"):
        write_files({"x.urdf": b""}, tmp_path / "home" / "thesis.txt")
    assert _listing(tmp_path) == {"home/thesis.txt": b"years of work"}


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a//b", "a\\b", "C:x", "a/../../b", "", "a/.", "a\n"]
)
def test_paths_stay_inside_the_folder(path, tmp_path):
    with pytest.raises(ExportError, match="stays inside"):
        write_files({path: b"x"}, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_older_asset(tmp_path, monkeypatch):
    folder = _written(l_prism(), tmp_path)
    before = _listing(tmp_path)

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(ExportError, match="No space left on device"):
            write_files(asset_files(tray("l_prism")), folder)
    assert _listing(tmp_path) == before


def test_a_failed_swap_puts_the_older_asset_back(tmp_path, monkeypatch):
    folder = _written(l_prism(), tmp_path)
    before, rename = _listing(tmp_path), Path.rename

    def locked(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(13, "Permission denied")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", locked)
        with pytest.raises(ExportError, match="Permission denied"):
            write_files(asset_files(tray("l_prism")), folder)
    assert _listing(tmp_path) == before


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        (np.diag([1.486e-6, 2e-7, 8.31e-7]), "largest at most the sum"),
        (np.diag([-4.98, 1.0, 1.0]), "all positive"),
        (np.zeros((3, 3)), "all positive"),
        (np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
        (np.diag([np.nan, 1, 1]), "finite"),
    ],
)
def test_an_impossible_inertia_is_refused(inertia, message):
    asset = l_prism()
    with pytest.raises(ExportError, match=message):
        asset_files(replace(asset, body=replace(asset.body, inertia_kg_m2=inertia)))


def test_other_broken_assets_are_refused():
    asset = l_prism()
    with pytest.raises(ExportError, match="asset_name gives 'a_b'"):
        asset_files(replace(asset, name="a b"))
    with pytest.raises(ExportError, match="no collision hull"):
        asset_files(replace(asset, collision=Collision((), 1.0)))
    with pytest.raises(ExportError, match="doesn't match the mesh"):
        asset_files(replace(asset, atlas=tray().atlas))
    with pytest.raises(ExportError, match=">= 0"):
        asset_files(replace(asset, body=replace(asset.body, friction=-1.0)))


def test_loading_names_what_is_broken(tmp_path):
    with pytest.raises(InputError, match=r"report.json: got No such file"):
        load(tmp_path)
    folder = _written(l_prism(), tmp_path)
    (folder / "textures/normal.png").write_bytes(b"not a picture")
    with pytest.raises(InputError, match=r"normal\.png: got .*wanted the texture as PNG"):
        load(folder)
    (folder / "meshes/visual.obj").write_text("v 0 0 0\nf 1 2 3\n")
    with pytest.raises(InputError, match="broken part"):
        load(folder)
    (folder / "report.json").write_text('{"format": "other"}')
    with pytest.raises(InputError, match="got format 'other'"):
        load(folder)


def test_principal_axes_rebuild_the_tensor():
    rng = np.random.default_rng(1)
    for _ in range(50):
        root = rng.normal(size=(3, 3))
        tensor = root @ root.T
        moments, quat = principal_axes(tensor)
        _close(_tensor(moments, np.array(quat)), tensor, 1e-12)
        assert quat[0] >= 0
    moments, quat = principal_axes(np.diag([3.0, 1.0, 2.0]))
    assert moments.tolist() == [3.0, 1.0, 2.0] and quat == (1.0, 0.0, 0.0, 0.0)


def test_importing_the_exporter_is_cheap():
    code = "import sys, seed3d.export; print(sorted({'trimesh','pxr','torch','scipy'} & set(sys.modules)))"
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("make", [l_prism, tray])
@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_simcheck_finds_nothing_to_warn_about(make, suffix, tmp_path):
    simcheck = pytest.importorskip("simcheck")
    asset = make()
    report = simcheck.check(str(_written(asset, tmp_path) / f"{asset.name}.{suffix}"))
    assert report.errors == [] and report.warnings == [] and report.verdict == "PASS"


def test_simready_profile_passes(tmp_path):
    pytest.importorskip("simready.validate")
    stages = [
        _written(make(), tmp_path) / "usd" / f"{make().name}.usda" for make in (l_prism, tray)
    ]
    (tmp_path / "list.txt").write_text("\n".join(map(str, stages)))
    tool = Path(sys.executable).with_name("simready-validate")
    profile = ["--profile", "Robotics-Prop", "--version", "3.1.0"]
    command = [str(tool), *profile, "--asset_list", str(tmp_path / "list.txt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("[PASSED] Robotics-Prop v3.1.0") == 2, done.stdout + done.stderr
