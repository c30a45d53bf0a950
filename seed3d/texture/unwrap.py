"""UV layout of a mesh: xatlas in its own process, else charts projected along the axes."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np

from seed3d.config import TextureConfig
from seed3d.errors import StageError
from seed3d.processes import ProcessTimeout, run_limited
from seed3d.texture.charts import box_charts, conflict_free, corner_uv, overlapping_pairs
from seed3d.texture.pack import pack_boxes
from seed3d.types import Atlas, Fallback, Mesh

WORKER = Path(__file__).with_name("xatlas_worker.py")
OVERLAP_LIMIT = 1e-4
"""Share of the unit square that may be covered twice before an atlas is refused."""


class UnwrapFailed(Exception):
    """Xatlas gave no usable atlas; the message says why."""


def unwrap(mesh: Mesh, config: TextureConfig) -> Atlas:
    """Lay the faces of a mesh out in the unit square, without overlap.

    Args:
        mesh: Any triangles, any frame. vertices (V, 3), faces (F, 3).
        config: Its size and padding [texel] keep the charts apart.

    Returns:
        The atlas; its face i is face i of the mesh. A Fallback says so where xatlas failed.

    Raises:
        StageError: The mesh has no faces, or more charts than the texture has room for.
    """
    if not len(mesh.faces):
        raise StageError("texture: got a mesh with 0 faces; wanted a closed mesh to unwrap")
    try:
        return _with_xatlas(mesh, config)
    except UnwrapFailed as reason:
        atlas = unwrap_by_projection(mesh, config)
        note = Fallback("texture", f"xatlas {reason}; charts projected along the axes instead")
        return Atlas(atlas.vertex, atlas.faces, atlas.uv, atlas.utilisation, (note,))


def unwrap_by_projection(mesh: Mesh, config: TextureConfig) -> Atlas:
    """Cut a mesh into charts by normal direction and project each along its axis.

    Raises:
        StageError: More charts than the texture has room for.
    """
    chart, axis = box_charts(mesh)
    flat = corner_uv(mesh, axis)  # (F, 3, 2) in the mesh's unit
    chart = conflict_free(mesh, chart, flat)
    return _join_corners(mesh, chart, pack_boxes(flat, chart, config.size, config.padding))


def uv_area(uv: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the area (F,) of each face in the unit square."""
    a, b, c = (uv[faces[:, i]] for i in range(3))
    ab, ac = b - a, c - a
    return np.abs(ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]) / 2.0


def _with_xatlas(mesh: Mesh, config: TextureConfig) -> Atlas:
    job = io.BytesIO()
    np.savez(
        job,
        vertices=mesh.vertices,
        faces=mesh.faces,
        size=np.int64(config.size),
        padding=np.int64(config.padding),
    )
    try:
        done = run_limited(
            [sys.executable, "-P", str(WORKER)], job.getvalue(), config.unwrap_timeout_s
        )
    except ProcessTimeout as error:
        raise UnwrapFailed(str(error)) from error
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UnwrapFailed(f"ended with code {done.returncode} {' '.join(last)}".strip())
    with np.load(io.BytesIO(done.stdout)) as result:
        vertex, faces, uv = (result[k] for k in ("vertex", "faces", "uv"))
    return _checked(mesh, vertex.astype(np.int64), faces.astype(np.int64), uv.astype(np.float64))


def _checked(mesh: Mesh, vertex: np.ndarray, faces: np.ndarray, uv: np.ndarray) -> Atlas:
    if faces.shape != mesh.faces.shape or not np.array_equal(vertex[faces], mesh.faces):
        raise UnwrapFailed("changed the order of the faces")
    if not (np.isfinite(uv).all() and uv.min() >= 0.0 and uv.max() <= 1.0):
        raise UnwrapFailed("left the unit square")
    area = uv_area(uv, faces)
    solid = np.linalg.norm(np.cross(*_sides(mesh)), axis=1)
    lost = (area <= 0) & (solid > 1e-6 * solid.mean())
    if lost.mean() > 1e-3:
        raise UnwrapFailed(f"flattened {int(lost.sum())} of {len(faces)} faces to nothing")
    clash = overlapping_pairs(uv[faces], np.zeros(len(faces), np.int64))
    twice = float(area[clash].min(axis=1).sum()) if len(clash) else 0.0
    if twice > OVERLAP_LIMIT:
        raise UnwrapFailed(f"overlapped {100.0 * twice:.2f} % of the texture")
    return Atlas(vertex, faces, uv, float(area.sum()))


def _sides(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return b - a, c - a


def _join_corners(mesh: Mesh, chart: np.ndarray, uv: np.ndarray) -> Atlas:
    """Make one atlas vertex of all corners that share a mesh vertex and a chart."""
    key = np.repeat(chart, 3) * len(mesh.vertices) + mesh.faces.ravel()
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    faces = inverse.reshape(-1, 3)
    flat = uv.reshape(-1, 2)[first]
    return Atlas(mesh.faces.ravel()[first], faces, flat, float(uv_area(flat, faces).sum()))
