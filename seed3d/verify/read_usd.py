"""USD to FileModel, with OpenUSD (pxr)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError, MissingDependencyError
from seed3d.types import Mesh
from seed3d.verify.model import (
    FileModel,
    Hull,
    MassProperties,
    combine,
    convex_hull,
    merged,
    transformed,
)

_SOLIDS = ("cube", "sphere", "cylinder", "capsule")


def read_usd(path: Path) -> FileModel:
    """Open a USD stage and read its meshes, colliders and mass properties.

    Lengths are scaled by metersPerUnit and masses by kilogramsPerUnit. A mesh with
    PhysicsCollisionAPI is a collider; it is visible geometry as well unless its purpose is
    guide or proxy or it is hidden.

    Raises:
        InputError: The stage can't be opened, has no default prim, or a mesh is malformed.
    """
    try:
        from pxr import Tf, Usd, UsdGeom, UsdPhysics
    except ImportError as error:
        raise MissingDependencyError("USD files need the package usd-core") from error
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise InputError(f"{path.name}: not a readable USD stage ({error})") from error
    prim = stage.GetDefaultPrim()
    if not prim:
        raise InputError(f"{path.name}: got no default prim; wanted one")
    metre = UsdGeom.GetStageMetersPerUnit(stage)
    kilogram = UsdPhysics.GetStageKilogramsPerUnit(stage)
    bodies = [p for p in Usd.PrimRange(prim) if p.HasAPI(UsdPhysics.RigidBodyAPI)]
    cache = UsdGeom.XformCache()
    world_from_root = cache.GetLocalToWorldTransform(bodies[0] if bodies else prim)
    root_from_world = world_from_root.GetInverse()
    visual, hulls = [], []
    for item in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()):
        solid = item.GetTypeName().lower() in _SOLIDS
        if not (item.IsA(UsdGeom.Mesh) or solid):
            continue
        pose = _pose(cache.GetLocalToWorldTransform(item) * root_from_world, metre)
        own = _solid(item) if solid else _mesh(UsdGeom.Mesh(item), path)
        mesh = transformed(own, pose)
        if item.HasAPI(UsdPhysics.CollisionAPI):
            hulls.append(_hull(item, mesh))
        if _visible(item):
            visual.append(mesh)
    masses = [_mass(p, cache, root_from_world, metre, kilogram) for p in bodies]
    return FileModel(
        format="usd",
        path=path,
        name=prim.GetName(),
        visual=merged(visual),
        hulls=tuple(hulls),
        mass=combine([m for m in masses if m is not None]),
        references=_references(path),
        base=path.parent,
        textures=_textures(prim),
        notes=_notes(stage, bodies),
    )


def _notes(stage: Any, bodies: list[Any]) -> tuple[str, ...]:
    from pxr import UsdGeom, UsdPhysics

    notes = []
    if UsdGeom.GetStageMetersPerUnit(stage) != 1.0:
        notes.append(f"metersPerUnit is {UsdGeom.GetStageMetersPerUnit(stage):g}, not 1")
    if UsdPhysics.GetStageKilogramsPerUnit(stage) != 1.0:
        notes.append(f"kilogramsPerUnit is {UsdPhysics.GetStageKilogramsPerUnit(stage):g}, not 1")
    if UsdGeom.GetStageUpAxis(stage) != UsdGeom.Tokens.z:
        notes.append(f"up axis is {UsdGeom.GetStageUpAxis(stage)}, not Z")
    if not bodies:
        notes.append("no prim is a rigid body")
    return tuple(notes)


def _pose(matrix: Any, metre: float) -> np.ndarray:
    """USD's row-vector matrix as a column-vector pose (4, 4) that also turns units into metres."""
    pose = np.array(matrix, np.float64).T
    pose[:3] *= metre
    return pose


def _mesh(mesh: Any, path: Path) -> Mesh:
    """Points and triangles; polygons are split into fans, as they are planar and convex here."""
    points = np.array(mesh.GetPointsAttr().Get() or [], np.float64).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    index = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    broken = not len(counts) or counts.sum() != len(index) or counts.min() < 3
    if broken or index.min() < 0 or index.max() >= len(points):
        raise InputError(f"{path.name}: {mesh.GetPath()} has a broken face list")
    start = np.cumsum(counts) - counts
    fan = [
        np.stack([index[start[k]], index[start[k] + i], index[start[k] + i + 1]])
        for k in np.flatnonzero(counts > 3)
        for i in range(1, counts[k] - 1)
    ]
    triangles = index[start[counts == 3][:, None] + np.arange(3)]
    faces = np.concatenate([triangles, np.array(fan, np.int64).reshape(-1, 3)])
    left_handed = mesh.GetOrientationAttr().Get() == "leftHanded"
    return Mesh(points, faces[:, ::-1] if left_handed else faces)


def _solid(item: Any) -> Mesh:
    """Triangles of a Cube, Sphere, Cylinder or Capsule in its own frame."""
    import trimesh
    from pxr import Gf

    kind = item.GetTypeName()
    value = {a.GetName(): a.Get() for a in item.GetAttributes()}
    if kind == "Cube":
        return Mesh.from_trimesh(trimesh.creation.box([value["size"]] * 3))
    if kind == "Sphere":
        return Mesh.from_trimesh(trimesh.creation.icosphere(3, value["radius"]))
    if kind == "Cylinder":
        body = trimesh.creation.cylinder(value["radius"], value["height"], sections=64)
    else:
        body = trimesh.creation.capsule(value["height"], value["radius"])
        body.vertices -= body.bounds.mean(axis=0)
    axis = value["axis"]
    if axis != "Z":
        to = Gf.Vec3d(1, 0, 0) if axis == "X" else Gf.Vec3d(0, 1, 0)
        turn = np.array(Gf.Matrix3d(Gf.Rotation(Gf.Vec3d(0, 0, 1), to))).T
        body.vertices = body.vertices @ turn.T
    return Mesh.from_trimesh(body)


def _hull(item: Any, mesh: Mesh) -> Hull:
    from pxr import UsdGeom, UsdPhysics

    if not item.IsA(UsdGeom.Mesh):
        name = str(item.GetTypeName())
        kind = {"Cube": "box"}.get(name, name.lower())
        return Hull(convex_hull(mesh.vertices), str(item.GetName()), kind)

    approximation = UsdPhysics.MeshCollisionAPI(item).GetApproximationAttr().Get()
    if approximation == UsdPhysics.Tokens.convexHull:
        mesh = convex_hull(mesh.vertices)
    return Hull(mesh, str(item.GetName()))


def _visible(item: Any) -> bool:
    from pxr import UsdGeom

    image = UsdGeom.Imageable(item)
    hidden = image.ComputeVisibility() == UsdGeom.Tokens.invisible
    return not hidden and image.ComputePurpose() in (UsdGeom.Tokens.default_, UsdGeom.Tokens.render)


def _mass(
    prim: Any, cache: Any, root_from_world: Any, metre: float, kilogram: float
) -> MassProperties | None:
    from pxr import UsdPhysics

    if not prim.HasAPI(UsdPhysics.MassAPI):
        return None
    api = UsdPhysics.MassAPI(prim)
    mass = float(api.GetMassAttr().Get() or 0.0)
    com = np.array(api.GetCenterOfMassAttr().Get() or (0, 0, 0), np.float64)
    diagonal = np.array(api.GetDiagonalInertiaAttr().Get() or (0, 0, 0), np.float64)
    axes = api.GetPrincipalAxesAttr().Get()
    rotation = np.eye(3) if axes is None else _rotation(axes)
    tensor = rotation @ np.diag(diagonal) @ rotation.T * metre**2 * kilogram
    pose = _pose(cache.GetLocalToWorldTransform(prim) * root_from_world, 1.0)
    com = np.where(np.isfinite(com), com, 0.0)  # unauthored is -inf in the schema
    pose[:3, 3] *= metre
    return MassProperties(mass * kilogram, com * metre, tensor).moved(pose)


def _rotation(quaternion: Any) -> np.ndarray:
    """Rotation (3, 3) of a USD quaternion; the zero quaternion means none was computed."""
    w = float(quaternion.GetReal())
    v = np.array(quaternion.GetImaginary(), np.float64)
    norm = np.sqrt(w * w + v @ v)
    if norm < 1e-6:
        return np.eye(3)
    w, v = w / norm, v / norm
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def _references(path: Path) -> tuple[str, ...]:
    from pxr import UsdUtils

    layers, references, payloads = UsdUtils.ExtractExternalReferences(str(path))
    return tuple(dict.fromkeys([*layers, *references, *payloads]))


def _textures(prim: Any) -> int:
    """Number of distinct textures that feed a diffuse colour."""
    from pxr import Usd, UsdShade

    found = set()
    for item in Usd.PrimRange(prim, Usd.TraverseInstanceProxies()):
        if not item.IsA(UsdShade.Shader):
            continue
        colour = UsdShade.Shader(item).GetInput("diffuseColor")
        for source in colour.GetConnectedSources()[0] if colour else []:
            file = UsdShade.Shader(source.source.GetPrim()).GetInput("file")
            if file and file.Get():
                found.add(str(file.Get().path))
    return len(found)
