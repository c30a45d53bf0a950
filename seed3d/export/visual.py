"""The visual mesh as files hold it: float32, with its own index lists for UVs and normals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.errors import ExportError
from seed3d.export.encode import float32
from seed3d.mesh.normals import smooth_normals
from seed3d.types import Asset


@dataclass(frozen=True)
class VisualMesh:
    """Triangles with one index list per attribute; face i is face i of the asset's mesh."""

    points: np.ndarray
    """(V, 3) float32 [m], link frame."""
    faces: np.ndarray
    """(F, 3) int into `points`."""
    uv: np.ndarray
    """(N, 2) float32, v up."""
    uv_faces: np.ndarray
    """(F, 3) int into `uv`."""
    normals: np.ndarray
    """(K, 3) float32, unit, outward."""
    normal_faces: np.ndarray
    """(F, 3) int into `normals`."""


def visual_mesh(asset: Asset) -> VisualMesh:
    """Return the asset's mesh, UVs and shading normals in file precision.

    Normals come from the rounded vertices, so a loaded asset gives the same ones.

    Raises:
        ExportError: The atlas isn't an atlas of this mesh.
    """
    mesh, atlas = asset.mesh, asset.atlas
    if atlas.faces.shape != mesh.faces.shape or np.any(atlas.vertex[atlas.faces] != mesh.faces):
        raise ExportError(
            f"{asset.name}: got a UV atlas of {len(atlas.faces)} faces that doesn't match the "
            f"mesh of {len(mesh.faces)} faces; wanted one atlas face per mesh face, in the same "
            "order. Unwrap the final mesh again."
        )
    points = float32(mesh.vertices)
    _, normal_faces, normals = smooth_normals(points.astype(np.float64), mesh.faces)
    return VisualMesh(
        points, mesh.faces, float32(atlas.uv), atlas.faces, float32(normals), normal_faces
    )
