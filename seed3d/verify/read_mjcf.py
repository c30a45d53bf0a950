"""MJCF to FileModel, through MuJoCo's own compiler."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError
from seed3d.types import Mesh
from seed3d.verify.model import (
    FileModel,
    Format,
    Hull,
    MassProperties,
    combine,
    convex_hull,
    merged,
    transformed,
)


def read_mjcf(path: Path, label: Format = "mjcf") -> FileModel:
    """Compile an MJCF file and read back what MuJoCo made of it.

    Geoms of the world body (a floor) are left out. A geom that touches nothing (contype and
    conaffinity 0) is visible geometry; every other one collides. Where all geoms collide, they
    are the visible geometry too.

    Raises:
        InputError: Broken XML, or MuJoCo refuses the model; the message holds MuJoCo's own words.
    """
    import mujoco

    references, base = _references(path)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise InputError(f"{path.name}: MuJoCo refuses it: {_one_line(str(error))}") from error
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    root = _root_body(model, path)
    root_from_world = np.linalg.inv(_pose(data.xpos[root], data.xmat[root]))
    members = [b for b in range(1, model.nbody) if model.body_rootid[b] == root]
    visual, hulls, seen_textures = [], [], set()
    for geom in np.flatnonzero(np.isin(model.geom_bodyid, members)):
        pose = root_from_world @ _pose(data.geom_xpos[geom], data.geom_xmat[geom])
        mesh = transformed(geom_mesh(model, int(geom), path), pose)
        body = model.body(int(model.geom_bodyid[geom])).name
        if model.geom_contype[geom] or model.geom_conaffinity[geom]:
            kind = _primitive(model, int(geom))
            solid = mesh if kind == "sdf" else convex_hull(mesh.vertices)
            hulls.append(Hull(solid, body, kind))
        else:
            visual.append(mesh)
        material = int(model.geom_matid[geom])
        if material >= 0:
            seen_textures |= {int(t) for t in model.mat_texid[material] if t >= 0}
    bodies = [
        body_mass(model, data, b).moved(root_from_world) for b in members if model.body_mass[b] > 0
    ]
    poses = {
        model.body(b).name: root_from_world @ _pose(data.xpos[b], data.xmat[b]) for b in members
    }
    return FileModel(
        format=label,
        path=path,
        name=model.body(root).name,
        visual=merged(visual or [h.mesh for h in hulls]),
        hulls=tuple(hulls),
        mass=combine(bodies),
        references=references,
        base=base,
        textures=len(seen_textures),
        link_pose=poses,
    )


def _primitive(model: Any, geom: int) -> str:
    import mujoco

    kind = int(model.geom_type[geom])
    name = mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()
    return "" if kind == mujoco.mjtGeom.mjGEOM_MESH else name


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _pose(position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = rotation.reshape(3, 3)
    pose[:3, 3] = position
    return pose


def _root_body(model: Any, path: Path) -> int:
    """First body on the world that carries a geom."""
    for body in range(1, model.nbody):
        if model.body_parentid[body] == 0 and model.body_geomnum[body] > 0:
            return body
    for body in range(1, model.nbody):
        if model.body_parentid[body] == 0:
            return body
    raise InputError(f"{path.name}: got no <body> in <worldbody>; wanted one")


def body_mass(model: Any, data: Any, body: int) -> MassProperties:
    """Return the mass properties of one body of a compiled model, in the world frame."""
    rotation = data.ximat[body].reshape(3, 3)
    inertia = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
    return MassProperties(float(model.body_mass[body]), data.xipos[body].copy(), inertia)


def geom_mesh(model: Any, geom: int, path: Path) -> Mesh:
    """Return the triangles of a geom of a compiled model in the geom's frame [m]."""
    import mujoco
    import trimesh

    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    types = mujoco.mjtGeom
    if kind in (types.mjGEOM_MESH, types.mjGEOM_SDF) and model.geom_dataid[geom] >= 0:
        mesh = int(model.geom_dataid[geom])
        v0, vn = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        f0, fn = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
        return Mesh(
            np.asarray(model.mesh_vert[v0 : v0 + vn], np.float64),
            np.asarray(model.mesh_face[f0 : f0 + fn], np.int64),
        )
    if kind == types.mjGEOM_BOX:
        solid = trimesh.creation.box(2.0 * size)
    elif kind in (types.mjGEOM_SPHERE, types.mjGEOM_ELLIPSOID):
        solid = trimesh.creation.icosphere(3)
        solid.vertices *= size if kind == types.mjGEOM_ELLIPSOID else size[0]
    elif kind == types.mjGEOM_CYLINDER:
        solid = trimesh.creation.cylinder(size[0], 2.0 * size[1], sections=64)
    elif kind == types.mjGEOM_CAPSULE:
        solid = trimesh.creation.capsule(2.0 * size[1], size[0])
        solid.vertices -= solid.bounds.mean(axis=0)
    else:
        raise InputError(
            f"{path.name}: got a geom of type {kind} on a body; wanted a mesh or solid"
        )
    return Mesh.from_trimesh(solid)


def _references(path: Path) -> tuple[tuple[str, ...], Path]:
    """Paths that an MJCF file names, relative to its own folder."""
    try:
        root = ET.parse(path).getroot()
    except (ET.ParseError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path.name}: not readable XML ({error})") from error
    if root.tag != "mujoco":
        raise InputError(f"{path.name}: got <{root.tag}>; wanted <mujoco>")
    compilers = root.findall("compiler")
    folder = {
        key: next((c.get(key, "") for c in compilers if c.get(key)), "")
        for key in ("assetdir", "meshdir", "texturedir")
    }
    bare = any(c.get("strippath") == "true" for c in compilers)
    found = []
    for tag, key in (("mesh", "meshdir"), ("texture", "texturedir"), ("include", "")):
        prefix = folder.get(key, "") or (folder["assetdir"] if key else "")
        for element in root.iter(tag):
            if element.get("file"):
                file = element.get("file", "")
                found.append(str(Path(prefix) / (Path(file).name if bare else file)))
    return tuple(dict.fromkeys(found)), path.parent
