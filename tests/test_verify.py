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
from seed3d.verify import summary, to_json, verify_folder
from seed3d.verify.drop_bullet import drop_bullet
from seed3d.verify.drop_mujoco import drop_mujoco
from seed3d.verify.files import check_files
from seed3d.verify.folder import Expected, expected_from_report
from seed3d.verify.isolate import run_parts
from seed3d.verify.model import MassProperties, combine
from seed3d.verify.probe import find_cavities
from seed3d.verify.read_urdf import read_urdf
from seed3d.verify.stability import support_margin

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
        self.mass = float(self.visual.volume) * self.density
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
