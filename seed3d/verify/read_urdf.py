"""URDF to FileModel, with Python's XML parser and trimesh; no engine involved."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seed3d.errors import InputError
from seed3d.types import Mesh
from seed3d.verify.model import (
    FileModel,
    Hull,
    MassProperties,
    combine,
    convex_hull,
    load_mesh,
    merged,
    transformed,
)
from seed3d.verify.obj import BASE_COLOR, mtl_textures, obj_references


@dataclass(frozen=True)
class _Part:
    """One <visual> or <collision>."""

    mesh: Mesh
    source: str
    """Path as written, empty for a primitive."""
    primitive: str = ""


def read_urdf(path: Path, visual: bool = True) -> FileModel:
    """Read a URDF and the meshes it names; `visual=False` leaves out what doesn't collide.

    Links are composed at joint position zero. A box, sphere or cylinder becomes triangles.

    Raises:
        InputError: Broken XML, no link, a bad number, or a mesh that can't be read.
    """
    root = _parse(path)
    links = {_name(link, path): link for link in root.findall("link")}
    pose = _link_poses(root, list(links), path)
    seen: list[Mesh] = []
    hulls: list[Hull] = []
    bodies: list[MassProperties] = []
    references: list[str] = []
    for name, link in links.items():
        for element in link.findall("visual") if visual else ():
            part = _part(element, path)
            seen.append(transformed(part.mesh, pose[name]))
            references += [part.source] if part.source else []
        for element in link.findall("collision"):
            part = _part(element, path)
            hull = convex_hull(part.mesh.vertices) if not part.source else part.mesh
            hulls.append(Hull(transformed(hull, pose[name]), name, part.primitive))
            references += [part.source] if part.source else []
        body = _inertial(link, path)
        bodies += [body.moved(pose[name])] if body else []
    materials = [t.get("filename", "") for t in root.iter("texture")]
    nested = [r for source in references for r in obj_references(path.parent, source)]
    textures = [t for source in references for t in mtl_textures(path.parent, source)]
    colours = [t for source in references for t in mtl_textures(path.parent, source, BASE_COLOR)]
    return FileModel(
        format="urdf",
        path=path,
        name=root.get("name", ""),
        visual=merged(seen),
        hulls=tuple(hulls),
        mass=combine(bodies),
        references=tuple(dict.fromkeys(references + materials + nested + textures)),
        base=path.parent,
        textures=len(set(materials + colours)),
        link_pose=pose,
    )


def _parse(path: Path) -> ET.Element:
    try:
        root = ET.parse(path).getroot()
    except (ET.ParseError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path.name}: not readable XML ({error})") from error
    if root.tag != "robot" or root.find("link") is None:
        raise InputError(f"{path.name}: got <{root.tag}>; wanted a <robot> with a <link>")
    return root


def _name(element: ET.Element, path: Path) -> str:
    name = element.get("name", "")
    if not name:
        raise InputError(f"{path.name}: got a <{element.tag}> with no name")
    return name


def _numbers(text: str | None, count: int, path: Path) -> np.ndarray:
    try:
        value = np.array([float(t) for t in (text or "").split()])
    except ValueError as error:
        raise InputError(f"{path.name}: got {text!r}; wanted {count} numbers") from error
    if len(value) != count:
        raise InputError(f"{path.name}: got {text!r}; wanted {count} numbers")
    return value


def _origin(element: ET.Element | None, path: Path) -> np.ndarray:
    """Pose (4, 4) of an <origin>: fixed-axis roll, pitch, yaw, as the URDF specification says."""
    pose = np.eye(4)
    origin = None if element is None else element.find("origin")
    if origin is None:
        return pose
    roll, pitch, yaw = _numbers(origin.get("rpy", "0 0 0"), 3, path)
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (np.cos, np.sin))
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    pose[:3, :3] = rz @ ry @ rx
    pose[:3, 3] = _numbers(origin.get("xyz", "0 0 0"), 3, path)
    return pose


def _link_poses(root: ET.Element, links: list[str], path: Path) -> dict[str, np.ndarray]:
    """Pose of each link in the root link, joints at zero."""
    parent: dict[str, tuple[str, np.ndarray]] = {}
    for joint in root.findall("joint"):
        ends = [joint.find("parent"), joint.find("child")]
        names = ["" if e is None else e.get("link", "") for e in ends]
        if not set(names) <= set(links):
            raise InputError(f"{path.name}: a joint names links {names}; known are {links}")
        parent[names[1]] = (names[0], _origin(joint, path))
    roots = [name for name in links if name not in parent]
    if len(roots) != 1:
        raise InputError(f"{path.name}: got {len(roots)} root links; wanted one tree")
    pose = {roots[0]: np.eye(4)}
    while len(pose) < len(links):
        ready = [n for n in links if n not in pose and parent[n][0] in pose]
        if not ready:
            raise InputError(f"{path.name}: its joints form a loop; wanted one tree")
        for name in ready:
            pose[name] = pose[parent[name][0]] @ parent[name][1]
    return pose


def _part(element: ET.Element, path: Path) -> _Part:
    geometry = element.find("geometry")
    shape = None if geometry is None else next(iter(geometry), None)
    if shape is None:
        raise InputError(f"{path.name}: got a <{element.tag}> with no geometry")
    pose = _origin(element, path)
    if shape.tag == "mesh":
        source = shape.get("filename", "")
        scale = _numbers(shape.get("scale", "1 1 1"), 3, path)
        mesh = load_mesh(path.parent / source, scale)
        if scale.prod() < 0:
            mesh = Mesh(mesh.vertices, mesh.faces[:, ::-1])
        return _Part(transformed(mesh, pose), source)
    return _Part(transformed(_primitive(shape, path), pose), "", shape.tag)


def _primitive(shape: ET.Element, path: Path) -> Mesh:
    import trimesh

    if shape.tag == "box":
        solid = trimesh.creation.box(_numbers(shape.get("size"), 3, path))
    elif shape.tag == "sphere":
        solid = trimesh.creation.icosphere(3, float(_numbers(shape.get("radius"), 1, path)[0]))
    elif shape.tag == "cylinder":
        radius, length = (_numbers(shape.get(k), 1, path)[0] for k in ("radius", "length"))
        solid = trimesh.creation.cylinder(radius, length, sections=64)
    elif shape.tag == "capsule":
        radius, length = (_numbers(shape.get(k), 1, path)[0] for k in ("radius", "length"))
        solid = trimesh.creation.capsule(length, radius)
        solid.vertices -= solid.bounds.mean(axis=0)
    else:
        raise InputError(
            f"{path.name}: got <{shape.tag}>; wanted mesh, box, sphere, cylinder or capsule"
        )
    return Mesh.from_trimesh(solid)


def _inertial(link: ET.Element, path: Path) -> MassProperties | None:
    inertial = link.find("inertial")
    if inertial is None:
        return None
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        raise InputError(f"{path.name}: an <inertial> wants both <mass> and <inertia>")
    xx, xy, xz, yy, yz, zz = (
        _numbers(inertia.get(k, "0"), 1, path)[0]
        for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    value = float(_numbers(mass.get("value"), 1, path)[0])
    return MassProperties(value, np.zeros(3), tensor).moved(_origin(inertial, path))
