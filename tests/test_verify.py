"""Verification against truth: good bodies with closed-form properties pass, planted defects don't."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import trimesh

from seed3d.config import VerifyConfig
from seed3d.conventions import R_GLTF_WORLD
from seed3d.errors import ConfigError, InputError
from seed3d.types import Check, Mesh, Verdict
from seed3d.verify import summary, to_json, verify_folder, worker
from seed3d.verify.drop import SET_DOWN_M, DropResult, Rest, State, _jitter
from seed3d.verify.drop_bullet import drop_bullet
from seed3d.verify.drop_checks import agreement_checks, drop_checks
from seed3d.verify.drop_mujoco import drop_mujoco
from seed3d.verify.files import check_files
from seed3d.verify.folder import Expected, expected_from_report
from seed3d.verify.isolate import run_parts
from seed3d.verify.model import MassProperties, combine
from seed3d.verify.probe import find_cavities
from seed3d.verify.read_urdf import read_urdf
from seed3d.verify.stability import Support, support_margin

DENSITY = 600.0
CONFIG = VerifyConfig()


@dataclass
class Body:
    """A test object: solid, hulls, and mass properties of the solid (trimesh's integrals)."""

    visual: trimesh.Trimesh
    hulls: list[trimesh.Trimesh]
    density: float = DENSITY
    friction: float = 0.6
    rolling: float = 1e-4
    mass: float = field(init=False)
    com: np.ndarray = field(init=False)
    inertia: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.mass = float(self.visual.volume * self.density)
        self.com = np.array(self.visual.center_mass)
        self.inertia = np.array(self.visual.moment_inertia) * self.density


def box(x: float, y: float, z: float) -> trimesh.Trimesh:
    mesh = trimesh.creation.box((x, y, z))
    mesh.apply_translation((0, 0, z / 2))
    return mesh


def box_body(x: float = 0.3, y: float = 0.2, z: float = 0.1, density: float = DENSITY) -> Body:
    return Body(box(x, y, z), [box(x, y, z)], density)


def l_prism() -> Body:
    """Seat 0.4 x 0.3 x 0.1 m with a back 0.1 x 0.3 x 0.3 m on its left end."""
    seat, back = box(0.4, 0.3, 0.1), box(0.1, 0.3, 0.4)
    back.apply_translation((-0.15, 0, 0))
    # The profile (x, z), counter-clockwise, is a fan around its inner corner.
    profile = [(-0.1, 0.1), (-0.1, 0.4), (-0.2, 0.4), (-0.2, 0), (0.2, 0), (0.2, 0.1)]
    front = [(x, -0.15, z) for x, z in profile]
    fan = [(0, i, i + 1) for i in range(1, 5)]
    sides = [
        f
        for i in range(6)
        for f in ((i, i + 6, (i + 1) % 6), ((i + 1) % 6, i + 6, (i + 1) % 6 + 6))
    ]
    faces = fan + [(a + 6, c + 6, b + 6) for a, b, c in fan] + sides
    vertices = front + [(x, 0.15, z) for x, _, z in front]
    return Body(trimesh.Trimesh(vertices, faces, process=False), [seat, back])


def cup(sides: int = 12) -> Body:
    """Cup of radius 40 mm, height 90 mm, wall and bottom 5 mm; one hull a wall piece."""
    outer, inner, height, bottom = 0.04, 0.035, 0.09, 0.005
    angle = np.linspace(0, 2 * np.pi, sides + 1)[:-1]
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)

    def level(radius: float, z: float) -> np.ndarray:
        return np.concatenate([ring * radius, np.full((sides, 1), z)], axis=1)

    rings = [level(outer, 0), level(outer, height), level(inner, height), level(inner, bottom)]
    vertices = np.concatenate([*rings, [[0, 0, 0], [0, 0, bottom]]])
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        for k in range(3):
            a, b, c, d = k * sides + i, k * sides + j, (k + 1) * sides + j, (k + 1) * sides + i
            faces += [[a, b, c], [a, c, d]]
        faces += [[4 * sides, j, i], [4 * sides + 1, 3 * sides + i, 3 * sides + j]]
    solid = trimesh.Trimesh(vertices, faces, process=False)
    hulls = [trimesh.Trimesh(np.concatenate([rings[0], rings[3]])).convex_hull]
    for i in range(sides):
        j = (i + 1) % sides
        corners = [r[k] for r in rings for k in (i, j)]
        hulls.append(trimesh.points.PointCloud(corners).convex_hull)
    return Body(solid, hulls)


def ball(radius: float = 0.05) -> Body:
    mesh = trimesh.creation.icosphere(2, radius)
    mesh.apply_translation((0, 0, -mesh.bounds[0, 2]))
    return Body(mesh, [mesh])


def write(body: Body, folder: Path, report: bool = True) -> Path:
    """Write URDF, MJCF, USD, GLB and report.json by hand, not with the package's exporters."""
    name = folder.name
    (folder / "meshes").mkdir(parents=True)
    (folder / "textures").mkdir()
    _obj(folder / "meshes/visual.obj", body.visual, "mtllib visual.mtl\nusemtl m\n")
    (folder / "meshes/visual.mtl").write_text("newmtl m\nmap_Kd ../textures/base_color.png\n")
    from PIL import Image

    Image.new("RGB", (8, 8), (90, 120, 60)).save(folder / "textures/base_color.png")
    for i, hull in enumerate(body.hulls):
        _obj(folder / f"meshes/hull_{i:03d}.obj", hull)
    _urdf(body, folder / f"{name}.urdf", name)
    _mjcf(body, folder / f"{name}.xml", name)
    _glb(body, folder / f"{name}.glb")
    _usd(body, folder / f"usd/{name}.usda", name)
    if report:
        _report(body, folder)
    return folder


def _obj(path: Path, mesh: trimesh.Trimesh, head: str = "") -> None:
    rows = ["v {:.9g} {:.9g} {:.9g}".format(*v) for v in mesh.vertices]
    rows += ["f {} {} {}".format(*(f + 1)) for f in mesh.faces]
    path.write_text(head + "\n".join(rows) + "\n")


def _products(inertia: np.ndarray) -> list[float]:
    return [float(inertia[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]


def _urdf(body: Body, path: Path, name: str) -> None:
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = zip(keys, _products(body.inertia), strict=True)
    tensor = " ".join(f'{k}="{v!r}"' for k, v in entries)
    collision = "".join(
        f'<collision><geometry><mesh filename="meshes/hull_{i:03d}.obj"/></geometry></collision>'
        for i in range(len(body.hulls))
    )
    com = " ".join(repr(float(v)) for v in body.com)
    path.write_text(
        f'<robot name="{name}"><link name="{name}"><contact>'
        f'<lateral_friction value="{body.friction}"/><rolling_friction value="{body.rolling}"/>'
        f'</contact><inertial><origin xyz="{com}" rpy="0 0 0"/><mass value="{body.mass!r}"/>'
        f"<inertia {tensor}/></inertial>"
        '<visual><geometry><mesh filename="meshes/visual.obj"/></geometry></visual>'
        f"{collision}</link></robot>"
    )


def _mjcf(body: Body, path: Path, name: str) -> None:
    xx, xy, xz, yy, yz, zz = _products(body.inertia)
    assets = "".join(f'<mesh name="h{i}" file="hull_{i:03d}.obj"/>' for i in range(len(body.hulls)))
    geoms = "".join(
        f'<geom type="mesh" mesh="h{i}" friction="{body.friction} 1e-4 {body.rolling}" condim="6"/>'
        for i in range(len(body.hulls))
    )
    com = " ".join(repr(float(v)) for v in body.com)
    path.write_text(
        f'<mujoco model="{name}"><compiler meshdir="meshes" texturedir="textures"/><asset>'
        '<texture name="t" type="2d" file="base_color.png"/><material name="m" texture="t"/>'
        f'<mesh name="visual" file="visual.obj" inertia="shell"/>{assets}</asset><worldbody>'
        f'<body name="{name}"><freejoint/><inertial pos="{com}" mass="{body.mass!r}" '
        f'fullinertia="{xx!r} {yy!r} {zz!r} {xy!r} {xz!r} {yz!r}"/>'
        '<geom type="mesh" mesh="visual" material="m" contype="0" conaffinity="0" mass="0"/>'
        f"{geoms}</body></worldbody></mujoco>"
    )


def _glb(body: Body, path: Path) -> None:
    from PIL import Image

    mesh = trimesh.Trimesh(body.visual.vertices @ R_GLTF_WORLD.T, body.visual.faces, process=False)
    image = Image.new("RGB", (8, 8), (90, 120, 60))
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=image)
    uv = np.zeros((len(mesh.vertices), 2))
    mesh.visual = trimesh.visual.TextureVisuals(uv=uv, material=material)
    path.write_bytes(mesh.export(file_type="glb"))


def _usd(body: Body, path: Path, name: str) -> None:
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade, Vt

    path.parent.mkdir()
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, f"/{name}").GetPrim()
    stage.SetDefaultPrim(root)
    UsdPhysics.RigidBodyAPI.Apply(root)
    moments, axes = np.linalg.eigh(body.inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    turn = Gf.Matrix3d(*axes.T.ravel().tolist()).ExtractRotation().GetQuat()
    mass = UsdPhysics.MassAPI.Apply(root)
    mass.CreateMassAttr(body.mass)
    mass.CreateCenterOfMassAttr(Gf.Vec3f(*body.com.tolist()))
    mass.CreateDiagonalInertiaAttr(Gf.Vec3f(*moments.tolist()))
    mass.CreatePrincipalAxesAttr(Gf.Quatf(turn))
    parts = [("visual", body.visual)] + [(f"hull_{i:03d}", h) for i, h in enumerate(body.hulls)]
    for key, part in parts:
        mesh = UsdGeom.Mesh.Define(stage, f"/{name}/{key}")
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(np.asarray(part.vertices, np.float32)))
        mesh.CreateFaceVertexCountsAttr([3] * len(part.faces))
        mesh.CreateFaceVertexIndicesAttr(part.faces.ravel().tolist())
        if key != "visual":
            UsdPhysics.CollisionAPI.Apply(mesh.GetPrim())
            hull = UsdPhysics.MeshCollisionAPI.Apply(mesh.GetPrim())
            hull.CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
            mesh.CreatePurposeAttr(UsdGeom.Tokens.guide)
    contact = UsdShade.Material.Define(stage, f"/{name}/contact").GetPrim()
    UsdPhysics.MaterialAPI.Apply(contact).CreateDynamicFrictionAttr(body.friction)
    shader = UsdShade.Shader.Define(stage, f"/{name}/material/surface")
    texture = UsdShade.Shader.Define(stage, f"/{name}/material/texture")
    file = texture.CreateInput("file", Sdf.ValueTypeNames.Asset)
    file.Set(Sdf.AssetPath("../textures/base_color.png"))
    colour = texture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).ConnectToSource(colour)
    stage.GetRootLayer().Save()


def _report(body: Body, folder: Path) -> None:
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    report = {
        "format": "seed3d-asset",
        "name": folder.name,
        "formats": ["urdf", "mjcf", "usd", "glb"],
        "files": {f: "" for f in files},
        "mesh": {"extents_m": body.visual.extents.tolist()},
        "collision": {"hulls": [{"volume_m3": float(h.volume)} for h in body.hulls]},
        "body": {
            "mass_kg": body.mass,
            "com_m": body.com.tolist(),
            "inertia_kg_m2": body.inertia.tolist(),
        },
    }
    (folder / "report.json").write_text(json.dumps(report))


def by_name(checks: list[Check] | tuple[Check, ...], name: str) -> list[Check]:
    return [c for c in checks if c.name == name]


def failed(checks: list[Check] | tuple[Check, ...]) -> set[str]:
    return {c.name for c in checks if not c.passed}


def file_checks(folder: Path) -> list[Check]:
    return check_files(folder, expected_from_report(folder))


def engine_checks(folder: Path) -> tuple[Check, ...]:
    """The checks of both engines, run in this process."""
    results = [worker.run_pybullet(folder, CONFIG), worker.run_mujoco(folder, CONFIG)]
    return tuple(Check(**c) for result in results for c in result["checks"])


def edit(path: Path, pattern: str, replacement: str) -> None:
    text, count = re.subn(pattern, replacement, path.read_text())
    assert count, f"{pattern} isn't in {path.name}"
    path.write_text(text)


# --- closed forms -------------------------------------------------------------------------------


def test_support_margin_of_a_box_is_half_its_short_side():
    support = support_margin([Mesh.from_trimesh(box(0.3, 0.2, 0.1))], np.array([0, 0.02, 0.05]))
    assert support.margin_m == pytest.approx(0.08)
    assert support.com_height_m == pytest.approx(0.05)
    assert support.angle_rad == pytest.approx(np.arctan(0.08 / 0.05))


def test_support_margin_is_the_negative_distance_outside_the_polygon():
    support = support_margin([Mesh.from_trimesh(box(0.2, 0.2, 0.1))], np.array([0.13, 0.14, 0.05]))
    assert support.margin_m == pytest.approx(-0.05)  # 3-4-5 triangle off the corner


def test_support_margin_of_a_ball_on_a_vertex_is_not_positive():
    # The poles of this sphere are vertices; one touches the ground.
    mesh = trimesh.creation.uv_sphere(0.1)
    support = support_margin([Mesh.from_trimesh(mesh)], np.zeros(3), share=1e-6)
    assert support.margin_m == pytest.approx(0.0, abs=1e-9)


def test_two_bodies_combine_like_one_box():
    density = 500.0
    parts = []
    for x in (-0.1, 0.1):
        half = trimesh.creation.box((0.2, 0.3, 0.4))
        half.apply_translation((x, 0, 0))
        inertia = np.array(half.moment_inertia) * density
        parts.append(MassProperties(half.volume * density, np.array(half.center_mass), inertia))
    whole = combine(parts)
    mass = density * 0.4 * 0.3 * 0.4
    moments = mass / 12 * np.array([0.3**2 + 0.4**2, 0.4**2 + 0.4**2, 0.4**2 + 0.3**2])
    assert whole is not None and whole.mass_kg == pytest.approx(mass)
    np.testing.assert_allclose(whole.inertia_kg_m2, np.diag(moments), atol=1e-12)


def test_urdf_inertial_frame_is_turned_into_the_link_frame(tmp_path):
    path = tmp_path / "a.urdf"
    path.write_text(
        '<robot name="a"><link name="a"><inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
        '<mass value="2"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0.1"/></inertial></link></robot>'
    )
    body = read_urdf(path).mass
    assert body is not None
    np.testing.assert_allclose(body.com_m, [1, 2, 3])
    expected = [[2, -0.1, 0], [-0.1, 1, 0], [0, 0, 2.5]]  # a quarter turn about z
    np.testing.assert_allclose(body.inertia_kg_m2, expected, atol=1e-12)


def test_cavity_of_a_cup_has_its_closed_form_volume_and_a_single_hull_fills_it():
    body = cup(12)
    polygon = 0.5 * 12 * np.sin(2 * np.pi / 12)  # area of the 12-gon of radius 1
    inside = polygon * 0.035**2 * (0.09 - 0.005)
    visual = Mesh.from_trimesh(body.visual)
    open_cup = find_cavities(visual, [Mesh.from_trimesh(h) for h in body.hulls])
    filled_cup = find_cavities(visual, [Mesh.from_trimesh(body.visual.convex_hull)])
    assert open_cup is not None and filled_cup is not None
    assert open_cup.volume_m3 == pytest.approx(inside, rel=1e-9)
    assert open_cup.filled == pytest.approx(0.0, abs=1e-9)
    assert filled_cup.filled == pytest.approx(1.0)


def test_what_floats_in_a_cavity_is_not_its_open_space():
    body = cup(12)
    polygon = 0.5 * 12 * np.sin(2 * np.pi / 12)
    inside = polygon * 0.035**2 * (0.09 - 0.005)
    ball = trimesh.creation.icosphere(2, 0.025).apply_translation([0, 0, 0.05])
    visual = Mesh.from_trimesh(trimesh.util.concatenate([body.visual, ball]))
    cavities = find_cavities(visual, [Mesh.from_trimesh(h) for h in (*body.hulls, ball)])
    assert cavities is not None
    assert cavities.volume_m3 == pytest.approx(inside - ball.volume, rel=1e-9)
    assert cavities.filled == pytest.approx(0.0, abs=1e-9)


def test_a_closed_void_is_no_cavity():
    outer, inner = trimesh.creation.icosphere(2, 1.0), trimesh.creation.icosphere(2, 0.9)
    inner.invert()
    shell = Mesh.from_trimesh(trimesh.util.concatenate([outer, inner]))
    cavities = find_cavities(shell, [Mesh.from_trimesh(outer)])
    assert cavities is not None and cavities.volume_m3 == 0.0


# --- engines ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def box_folder(tmp_path_factory) -> Path:
    return write(box_body(), tmp_path_factory.mktemp("good") / "box")


def test_box_falls_freely_and_rests_on_its_base_in_both_engines(box_folder):
    config = VerifyConfig(drop_height=0.5)
    for result in (
        drop_bullet(box_folder / "box.urdf", config),
        drop_mujoco(box_folder / "box.xml", config),
    ):
        assert result.drop_m == pytest.approx(0.15)
        assert result.fall_error < 1e-9  # against 1/2 g t (t + dt), the integrator's exact fall
        impact = np.sqrt(2 * 9.81 * 0.15)
        assert result.speed_ratio * np.sqrt(2 * 9.81 * 0.2) == pytest.approx(impact, rel=0.02)
        assert result.com_m[2] == pytest.approx(0.05, abs=1.1e-3)  # PyBullet's padding is 1 mm
        assert result.settle_s is not None and result.tilt_deg < 0.1
        assert result.energy_growth < 1e-6
        assert result.mass is not None
        want = 3.6 / 12 * np.array([0.2**2 + 0.1**2, 0.3**2 + 0.1**2, 0.3**2 + 0.2**2])
        np.testing.assert_allclose(np.diag(result.mass.inertia_kg_m2), want, rtol=1e-5)


def test_a_ball_may_roll_and_still_passes(tmp_path):
    body = ball()
    turn = trimesh.transformations.rotation_matrix(0.3, (0.3, 1.0, 0.1))
    for mesh in (body.visual, *body.hulls):
        mesh.apply_transform(turn)
        mesh.apply_translation((0, 0, -mesh.bounds[0, 2]))
    folder = write(Body(body.visual, body.hulls, rolling=0.0), tmp_path / "ball")
    checks = engine_checks(folder)
    assert not failed(checks), summary(Verdict(checks))
    assert max(float(c.value) for c in by_name(checks, "tilt")) > 1.0  # it did leave its pose


def test_an_unstable_tower_tips_in_both_engines(tmp_path):
    foot, top = box(0.06, 0.06, 0.02), box(0.08, 0.08, 0.5)
    top.apply_translation((0.05, 0, 0.02))
    folder = write(Body(trimesh.util.concatenate([foot, top]), [foot, top]), tmp_path / "tower")
    results = [
        drop_bullet(folder / "tower.urdf", CONFIG),
        drop_mujoco(folder / "tower.xml", CONFIG),
    ]
    for result in results:
        assert result.tilt_deg == pytest.approx(90.0, abs=2.0)
        assert result.settle_s is not None and result.speed_ratio < 1.0


@pytest.mark.parametrize(("size", "mass"), [(0.01, 0.001), (5.0, 500.0)])
def test_smallest_and_largest_objects_settle_alike(tmp_path, size, mass):
    body = l_prism()
    for mesh in (body.visual, *body.hulls):
        mesh.apply_scale(size / 0.4)
    density = mass / float(body.visual.volume)
    folder = write(Body(body.visual, body.hulls, density), tmp_path / "part")
    for result in (
        drop_bullet(folder / "part.urdf", CONFIG),
        drop_mujoco(folder / "part.xml", CONFIG),
    ):
        assert result.settle_s is not None and result.settle_s < 1.0
        assert -1e-3 <= result.lowest_m <= 1.1e-3
        assert result.tilt_deg < 0.1 and result.energy_growth < 1e-6


# --- whole folders ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [box_body, l_prism, cup])
def test_good_assets_pass_every_file_check(tmp_path, make):
    checks = file_checks(write(make(), tmp_path / "good"))
    assert not failed(checks), summary(Verdict(tuple(checks)))
    assert {c.engine for c in by_name(checks, "bounds agree")} == {"urdf", "mjcf", "usd", "glb"}
    assert {c.engine for c in by_name(checks, "inertia agrees")} == {"urdf", "mjcf", "usd"}


def test_whole_verdict_passes_is_the_same_twice_and_silent(
    box_folder, capfd, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    verdict = verify_folder(box_folder)
    assert verdict.passed, summary(verdict)
    assert {c.engine for c in verdict.checks} >= {
        "report",
        "urdf",
        "usd",
        "pybullet",
        "mujoco",
        "all",
    }
    assert json.dumps(to_json(verdict)) == json.dumps(to_json(verify_folder(box_folder)))
    out, err = capfd.readouterr()
    assert out == "" and err == ""
    assert list(tmp_path.iterdir()) == []  # no MUJOCO_LOG.TXT
    lines = summary(verdict).splitlines()
    assert len(lines) == len(verdict.checks) + 1
    assert lines[-1] == f"passed: {len(verdict.checks)} of {len(verdict.checks)} checks"


def test_a_foreign_urdf_alone_is_verified(tmp_path):
    (tmp_path / "thing.urdf").write_text(
        '<robot name="thing"><link name="base"><inertial><mass value="3.6"/>'
        '<inertia ixx="0.015" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.039"/></inertial>'
        '<visual><geometry><box size="0.3 0.2 0.1"/></geometry></visual>'
        '<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link></robot>'
    )
    checks = (*check_files(tmp_path, expected_from_report(tmp_path)), *engine_checks(tmp_path))
    assert not failed(checks), summary(Verdict(checks))
    assert by_name(checks, "reads the URDF")[0].engine == "mujoco"


def test_a_foreign_glb_alone_says_that_no_engine_ran(tmp_path):
    write(box_body(), tmp_path / "all")
    folder = tmp_path / "glb"
    folder.mkdir()
    (tmp_path / "all/all.glb").rename(folder / "thing.glb")
    verdict = verify_folder(folder)
    assert verdict.passed, summary(verdict)
    values = [c.value for c in by_name(verdict.checks, "loads")]
    assert values == ["not run: no urdf in the folder", "not run: no mjcf or urdf in the folder"]


def test_an_empty_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"nothing to verify; wanted a \.urdf"):
        verify_folder(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        verify_folder(tmp_path / "none")


def test_an_unknown_engine_names_the_near_miss(box_folder):
    with pytest.raises(ConfigError, match="Did you mean 'mujoco'"):
        verify_folder(box_folder, VerifyConfig(engines=("mujocco",)))


def test_a_crash_and_a_hang_become_failed_checks(box_folder, tmp_path, monkeypatch):
    (tmp_path / "bad_worker.py").write_text(
        "import os, signal, sys, time\n"
        "print('last words', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSEGV) if sys.argv[1] == 'mujoco' else time.sleep(60)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    parts = run_parts(["mujoco", "pybullet"], box_folder, CONFIG, 3.0, worker="bad_worker")
    assert parts[0].result is None and parts[0].problem == "crashed (SIGSEGV): last words"
    assert parts[1].result is None and parts[1].problem == "no result after 3 s"


def test_a_part_that_computes_for_ever_is_stopped_by_its_processor_time(
    box_folder, tmp_path, monkeypatch
):
    (tmp_path / "busy_worker.py").write_text(
        "from seed3d.processes import limit_cpu\nlimit_cpu(1)\nwhile True: pass\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (outcome,) = run_parts(["files"], box_folder, CONFIG, worker="busy_worker")
    assert outcome.problem.endswith("s of processor time")


def test_importing_the_package_loads_no_engine():
    code = "import seed3d.verify, sys; print({'mujoco','pybullet','trimesh','pxr','scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- planted defects ----------------------------------------------------------------------------


def placeholder_inertia(folder: Path) -> None:
    edit(folder / "asset.urdf", r'ixx="[^"]*"', 'ixx="1.0"')
    edit(folder / "asset.urdf", r'iyy="[^"]*"', 'iyy="1.0"')
    edit(folder / "asset.urdf", r'izz="[^"]*"', 'izz="1.0"')


def no_triangle(folder: Path) -> None:
    edit(folder / "asset.urdf", r'izz="[^"]*"', 'izz="9"')


def negative_moment(folder: Path) -> None:
    edit(folder / "asset.urdf", r'ixx="([^"]*)"', r'ixx="-\1"')


def flipped_winding(folder: Path) -> None:
    edit(folder / "meshes/visual.obj", r"f (\d+) (\d+) (\d+)", r"f \1 \3 \2")


def hole(folder: Path) -> None:
    path = folder / "meshes/visual.obj"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")


def scale_twice(folder: Path) -> None:
    edit(folder / "asset.urdf", r'obj"/>', 'obj" scale="0.5 0.5 0.5"/>')


def millimetres(folder: Path) -> None:
    for path in (folder / "meshes").glob("*.obj"):
        mesh = trimesh.load(path, process=False, skip_materials=True)
        mesh.apply_scale(1000.0)
        _obj(path, mesh)


def missing_hull(folder: Path) -> None:
    (folder / "meshes/hull_000.obj").unlink()


def absolute_path(folder: Path) -> None:
    edit(folder / "asset.urdf", 'filename="meshes/visual', f'filename="{folder}/meshes/visual')


def leaving_path(folder: Path) -> None:
    (folder / "meshes/hull_000.obj").rename(folder.parent / "hull_000.obj")
    edit(folder / "asset.urdf", "meshes/hull_000.obj", "../hull_000.obj")


def far_hull(folder: Path) -> None:
    mesh = trimesh.load(folder / "meshes/hull_000.obj", process=False)
    mesh.apply_translation((2.0, 0, 0))
    _obj(folder / "meshes/hull_000.obj", mesh)


def com_outside(folder: Path) -> None:
    edit(folder / "asset.urdf", r'<origin xyz="[^"]*"', '<origin xyz="0.5 0 0.05"')


def mass_zero(folder: Path) -> None:
    edit(folder / "asset.urdf", r'mass value="[^"]*"', 'mass value="0"')


def mass_nan(folder: Path) -> None:
    edit(folder / "asset.urdf", r'mass value="[^"]*"', 'mass value="nan"')


def broken_xml(folder: Path) -> None:
    edit(folder / "asset.urdf", "</robot>", "")


def mujoco_refuses(folder: Path) -> None:
    edit(
        folder / "asset.xml",
        'mass="[0-9.e-]*" fullinertia="[^"]*"',
        'mass="1" fullinertia="1 1 3 0 0 0"',
    )


def lost_texture(folder: Path) -> None:
    (folder / "textures/base_color.png").write_bytes(b"not an image")


def usd_centimetres(folder: Path) -> None:
    edit(folder / "usd/asset.usda", "metersPerUnit = 1", "metersPerUnit = 0.01")


def no_hull_in_mjcf(folder: Path) -> None:
    edit(folder / "asset.xml", r'<geom type="mesh" mesh="h0"[^>]*/>', "")


def other_name(folder: Path) -> None:
    edit(folder / "asset.urdf", 'robot name="asset"', 'robot name="my asset"')


def wrong_product(folder: Path) -> None:
    """The classic sign error: products of inertia written as +int xz dm."""
    sign = {"": "-", "-": ""}
    path = folder / "asset.urdf"
    path.write_text(re.sub('ixz="(-?)', lambda m: f'ixz="{sign[m[1]]}', path.read_text()))


DEFECTS = [
    (placeholder_inertia, box_body, {("inertia of geometry", "urdf"), ("inertia agrees", "urdf")}),
    (no_triangle, box_body, {("inertia triangle", "urdf")}),
    (negative_moment, box_body, {("inertia positive", "urdf")}),
    (flipped_winding, box_body, {("winding", "urdf")}),
    (hole, l_prism, {("watertight", "urdf")}),
    (scale_twice, box_body, {("extents of report", "urdf"), ("bounds agree", "urdf")}),
    (millimetres, box_body, {("size", "urdf"), ("extents of report", "urdf"), ("density", "urdf")}),
    (missing_hull, l_prism, {("files", "report"), ("opens", "urdf"), ("opens", "mjcf")}),
    (absolute_path, box_body, {("paths", "urdf")}),
    (leaving_path, box_body, {("paths", "urdf")}),
    (far_hull, l_prism, {("hull bounds", "urdf"), ("hull cover", "urdf")}),
    (com_outside, box_body, {("centre of mass", "urdf"), ("centre of mass agrees", "urdf")}),
    (mass_zero, box_body, {("mass", "urdf"), ("mass agrees", "urdf")}),
    (mass_nan, box_body, {("mass", "urdf"), ("mass agrees", "urdf")}),
    (broken_xml, box_body, {("opens", "urdf")}),
    (mujoco_refuses, box_body, {("opens", "mjcf")}),
    (lost_texture, box_body, {("texture", "urdf"), ("texture", "usd")}),
    (usd_centimetres, box_body, {("units", "usd"), ("bounds agree", "usd")}),
    (no_hull_in_mjcf, l_prism, {("hull count", "mjcf")}),
    (other_name, box_body, {("name", "urdf")}),
    (wrong_product, l_prism, {("inertia agrees", "urdf")}),
]


@pytest.mark.parametrize(
    ("defect", "make", "caught"), DEFECTS, ids=[d[0].__name__ for d in DEFECTS]
)
def test_planted_defect_is_caught_by_the_right_check(tmp_path, defect, make, caught):
    folder = write(make(), tmp_path / "asset")
    defect(folder)
    checks = file_checks(folder)
    found = {(c.name, c.engine) for c in checks if not c.passed}
    assert caught <= found, summary(Verdict(tuple(checks)))


def test_single_hull_over_a_cup_is_caught(tmp_path):
    body = cup()
    body.hulls = [body.visual.convex_hull]
    checks = file_checks(write(body, tmp_path / "cup"))
    assert failed(checks) == {"cavities"}
    assert by_name(checks, "cavities")[0].value == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("defect", "caught"),
    [
        (no_triangle, {("inertia loaded", "pybullet"), ("reads the URDF", "mujoco")}),
        (mujoco_refuses, {("loads", "mujoco")}),
        (missing_hull, {("loads", "pybullet"), ("loads", "mujoco"), ("reads the URDF", "mujoco")}),
        (broken_xml, {("loads", "pybullet"), ("reads the URDF", "mujoco")}),
        (
            mass_zero,
            {("mass loaded", "pybullet"), ("free fall", "pybullet"), ("reads the URDF", "mujoco")},
        ),
        (mass_nan, {("mass loaded", "pybullet"), ("reads the URDF", "mujoco")}),
    ],
)
def test_engines_catch_a_planted_defect(tmp_path, defect, caught):
    folder = write(l_prism(), tmp_path / "asset")
    defect(folder)
    checks = engine_checks(folder)
    found = {(c.name, c.engine) for c in checks if not c.passed}
    assert caught <= found, summary(Verdict(checks))
    assert {c.engine for c in checks} == {"pybullet", "mujoco"}


def test_a_broken_report_is_a_failed_check(tmp_path):
    folder = write(box_body(), tmp_path / "asset")
    (folder / "report.json").write_text('{"format": "seed3d-asset"')
    with pytest.raises(InputError, match="not a usable report"):
        expected_from_report(folder)
    assert not failed(check_files(folder, Expected()))


@pytest.mark.parametrize(
    ("jitter", "calm", "passed"), [(3e-4, True, True), (6e-3, True, False), (3e-4, False, False)]
)
def test_a_stable_object_may_tremble_but_not_rock(jitter, calm, passed) -> None:
    result = DropResult(
        engine="mujoco", size_m=0.3, mass=None, drop_m=0.01, fall_error=0.0, settle_s=None,
        calm=calm, jitter=jitter, speed_ratio=1.0, energy_growth=0.0, lowest_m=0.0,
        com_m=np.zeros(3), tilt_deg=0.0, drift_m=0.0,
    )  # fmt: skip
    wide = Support(0.1, 0.1, polygon_m=np.zeros((0, 2)))
    settles = next(c for c in drop_checks(result, None, wide) if c.name == "settles")
    assert settles.passed is passed


def test_a_trembling_window_is_measured_by_its_farthest_point() -> None:
    def state(x: float, tilt: float) -> State:
        up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
        return State(0.0, np.array([x, 0.0, 0.1]), 0.0, 0.0, 0.0, up)

    assert _jitter([state(0, 0), state(1e-3, 0), state(0, 0)], 0.5) == pytest.approx(2e-3)
    assert _jitter([state(0, -1e-3), state(0, 1e-3)], 0.5) == pytest.approx(1e-3, rel=1e-3)


def test_what_a_bounce_topples_must_stand_when_set_down(tmp_path):
    # A column off its foot's middle tips beyond 12.6 degrees; PyBullet's bounce turns it over.
    foot, top = box(0.08, 0.08, 0.02), box(0.03, 0.03, 0.3)
    top.apply_translation((0.02, 0, 0.02))
    folder = write(Body(trimesh.util.concatenate([foot, top]), [foot, top]), tmp_path / "column")
    config = VerifyConfig(drop_height=1.0)
    path = folder / "column.urdf"
    assert drop_bullet(path, config).tilt_deg > 45
    down = drop_bullet(path, config, set_down=True)
    assert down.drop_m == SET_DOWN_M and down.tilt_deg < 0.1 and down.settle_s is not None
    verdict = verify_folder(folder, config)
    checks = by_name(verdict.checks, "stays upright")
    assert len(checks) == 1 and checks[0].passed
    assert "when set down" in checks[0].value and "after the drop" in checks[0].value
    assert by_name(verdict.checks, "same rest")[0].passed
    # What falls even when it is set down, though it should stand, doesn't pass.
    fallen = [Rest("pybullet", 0.3, 90.0, np.zeros(3), 92.0), Rest("mujoco", 0.3, 0.1, np.zeros(3))]
    assert not agreement_checks(fallen, Support(0.02, 0.1, np.zeros((0, 2))))[0].passed
