"""A trimesh scene to one `Surface` in the world frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb, up_axis_rotation
from seed3d.errors import InputError
from seed3d.mesh.materials import MaterialList
from seed3d.mesh.normals import face_normals, smooth_normals
from seed3d.types import Fallback, Mesh, Surface

MAX_FACES = 5_000_000
"""Most triangles of a model, all instances counted."""


@dataclass(frozen=True)
class _Part:
    """One placed geometry, world frame."""

    vertices: np.ndarray  # (V, 3)
    faces: np.ndarray  # (F, 3)
    normals: np.ndarray  # (V, 3)
    corner_uv: np.ndarray  # (F, 3, 2)
    face_material: np.ndarray  # (F,)
    color: np.ndarray | None  # (V, 3) uint8 sRGB


def surface_from_trimesh(
    scene: Any, up: str = "z", *, linear_vertex_color: bool = False, normals: str = "file"
) -> Surface:
    """Flatten a trimesh.Scene or Trimesh: all node transforms applied, world frame.

    Args:
        scene: Its geometries may share vertices, have UVs, materials and colours.
        up: ``"y"`` or ``"z"``: the up axis of the source, see `seed3d.conventions`.
        linear_vertex_color: Vertex colours are linear light (glTF), not sRGB.
        normals: ``"file"`` keeps normals that were read with the mesh and computes the
            others; ``"angle"`` computes all of them (`seed3d.mesh.normals`).

    Raises:
        InputError: No faces, coordinates that are not finite, or more than `MAX_FACES` faces.
    """
    import trimesh

    if isinstance(scene, trimesh.Trimesh):
        scene = trimesh.Scene(scene)
    placed = [
        (scene.graph[node], scene.geometry[scene.graph[node][1]])
        for node in scene.graph.nodes_geometry
    ]
    placed = [(t[0], m) for t, m in placed if isinstance(m, trimesh.Trimesh) and len(m.faces)]
    total = sum(len(mesh.faces) for _, mesh in placed)
    if total == 0:
        raise InputError("mesh: got no faces; wanted a surface of triangles or polygons")
    if total > MAX_FACES:
        raise InputError(f"mesh: got {total} triangles; wanted at most {MAX_FACES}. Decimate it")
    rotation = np.eye(4)
    rotation[:3, :3] = up_axis_rotation(up)
    materials = MaterialList()
    parts = [
        _part(mesh, rotation @ matrix, materials, linear_vertex_color, normals)
        for matrix, mesh in placed
    ]
    return _join(parts, materials)


def _part(
    mesh: Any, matrix: np.ndarray, materials: MaterialList, linear_color: bool, normals: str
) -> _Part:
    vertices = np.asarray(mesh.vertices, np.float64)
    faces = np.asarray(mesh.faces, np.int64)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(f"mesh: a face names vertex {faces.max()} of {len(vertices)}")
    if not (np.isfinite(vertices[faces]).all() and np.isfinite(matrix).all()):
        raise InputError(
            "mesh: got coordinates that are not finite (NaN or infinite); wanted numbers"
        )
    corner_uv, face_material = _look(mesh, faces, materials)
    color = _colors(mesh, linear_color)
    if color is not None and len(color) == len(faces) and mesh.visual.kind == "face":
        vertices, color = vertices[faces.reshape(-1)], np.repeat(color, 3, axis=0)
        faces = np.arange(faces.size).reshape(-1, 3)
    placed = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    stored = _stored_normals(mesh) if normals == "file" else None
    if stored is not None and len(stored) == len(vertices):
        cofactor = _cofactor(matrix[:3, :3])
        turned = stored @ cofactor.T * np.sign(np.linalg.det(matrix[:3, :3]) or 1.0)
        vertex_normals = turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-30)
        source = np.arange(len(vertices))
    else:
        source = None
        vertex_normals = np.zeros_like(placed)
    if np.linalg.det(matrix[:3, :3]) < 0:  # a mirror turns the winding inside out
        faces, corner_uv = faces[:, ::-1], corner_uv[:, ::-1]
    if source is None:
        source, faces, vertex_normals = smooth_normals(placed, faces)
    color = None if color is None else color[source]
    return _Part(placed[source], faces, vertex_normals, corner_uv, face_material, color)


def _cofactor(linear: np.ndarray) -> np.ndarray:
    """Return det(A) A^-T, which turns normals and exists for singular A too."""
    a, b, c = linear.T
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)


def _look(mesh: Any, faces: np.ndarray, materials: MaterialList) -> tuple[np.ndarray, np.ndarray]:
    """Return corner UVs (F, 3, 2) and material indices (F,)."""
    visual = mesh.visual
    corner_uv = np.zeros((len(faces), 3, 2))
    material = getattr(visual, "material", None) if visual.kind == "texture" else None
    uv = getattr(visual, "uv", None) if visual.kind == "texture" else None
    if uv is not None and len(uv) == len(mesh.vertices):
        corner_uv = np.nan_to_num(np.asarray(uv, np.float64)[:, :2], posinf=0, neginf=0)[faces]
    members = getattr(material, "materials", None)
    if members and getattr(visual, "face_materials", None) is not None:
        table = np.array([materials.add(m) for m in members])
        return corner_uv, table[np.asarray(visual.face_materials, np.int64)]
    return corner_uv, np.full(len(faces), materials.add(material), np.int64)


def _colors(mesh: Any, linear: bool) -> np.ndarray | None:
    """Return (V, 3) or, for face colours, (F, 3) uint8 sRGB, or None where the file has none."""
    from trimesh.visual.color import to_rgba

    visual = mesh.visual
    if visual.kind == "texture":
        colors = visual.vertex_attributes.get("color")
        if colors is None or len(colors) != len(mesh.vertices):
            return None
    elif visual.kind in ("vertex", "face"):
        colors = visual.vertex_colors if visual.kind == "vertex" else visual.face_colors
    else:
        return None
    rgb = np.asarray(to_rgba(np.asarray(colors)))[:, :3]
    if linear:
        rgb = np.rint(linear_to_srgb(rgb / 255.0) * 255.0).clip(0, 255)
    return rgb.astype(np.uint8)


def _stored_normals(mesh: Any) -> np.ndarray | None:
    """Return the file's vertex normals where it has usable ones, else None."""
    # trimesh keeps normals that came with a mesh in its cache; asking the property would
    # compute them where there are none.
    stored = mesh._cache.cache.get("vertex_normals")
    if stored is None or np.shape(stored) != mesh.vertices.shape:
        return None
    stored = np.asarray(stored, np.float64)
    length = np.linalg.norm(stored, axis=1)
    used = np.unique(mesh.faces)
    return stored if np.isfinite(length).all() and length[used].min() > 0.1 else None


def _join(parts: list[_Part], materials: MaterialList) -> Surface:
    offsets = np.cumsum([0, *(len(p.vertices) for p in parts)])
    faces = np.concatenate([p.faces + o for p, o in zip(parts, offsets, strict=False)])
    color = None
    if any(p.color is not None for p in parts):
        white = [np.full((len(p.vertices), 3), 255, np.uint8) for p in parts]
        color = np.concatenate(
            [w if p.color is None else p.color for p, w in zip(parts, white, strict=True)]
        )
    vertices = np.concatenate([p.vertices for p in parts])
    normals = np.concatenate([p.normals for p in parts])
    faces, keep = _drop_collapsed(vertices, faces)
    losses = [Fallback("load", f"{what}: {why}") for what, why in materials.losses.items()]
    return Surface(
        mesh=Mesh(vertices, faces),
        corner_uv=np.concatenate([p.corner_uv for p in parts])[keep],
        face_material=np.concatenate([p.face_material for p in parts])[keep],
        materials=tuple(materials.items),
        vertex_color=color,
        normals=normals,
        fallbacks=tuple(losses),
    )


def _drop_collapsed(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop faces without area; they have no look and break barycentric lookups."""
    _, area = face_normals(vertices, faces)
    keep = area > 0
    if not keep.any():
        raise InputError("mesh: all faces have zero area; wanted a surface")
    return faces[keep], keep
