"""Any triangle soup to a closed manifold, over a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.errors import StageError
from seed3d.mesh.grid import DistanceGrid, distance_grid, scene, tensor
from seed3d.mesh.manifold import to_manifold
from seed3d.types import Mesh

OFFSET = 0.7
"""The surface is first extracted this far outside of the soup [spacing]."""

MIN_THICKNESS = 1.0
"""Thickness that sheets get, and thinner walls are brought up to [spacing]."""

FLATTEN = 0.02
"""Vertices that move the surface by less than this are removed again [spacing]."""


def rebuild(mesh: Mesh, spacing: float) -> Any:
    """Return a manifold3d.Manifold around a soup of triangles, whatever its winding.

    What the outside can't reach through openings wider than `spacing` is inside. The iso
    surface of the unsigned distance at `OFFSET`, on the outer side, is closed for sheets too;
    its vertices then move back onto the soup, except that walls keep `MIN_THICKNESS`.
    Extraction is scikit-image's Lewiner marching cubes: vectorised, 0.3 s at 128^3, where
    manifold3d's level_set would call back into Python once per sample.

    Raises:
        StageError: No manifold surface came out.
    """
    grid = distance_grid(mesh, spacing, band=(OFFSET + 1.05) * spacing)
    for nudge in (0.0, 0.013, -0.017, 0.031):  # another level moves the rare ambiguous cell
        shell = _extract(grid, (OFFSET + nudge) * spacing)
        if to_manifold(shell) is not None:
            body = to_manifold(Mesh(_onto(mesh, shell, spacing), shell.faces))
            if body is not None:
                return body.simplify(FLATTEN * spacing)
    raise StageError(
        f"mesh: no closed surface could be rebuilt from {len(mesh.faces)} faces at spacing "
        f"{spacing:.4g}; repair the mesh in a modelling tool, or change mesh.resolution"
    )


def _extract(grid: DistanceGrid, level: float) -> Mesh:
    from skimage.measure import marching_cubes

    far = np.float32(4 * grid.spacing)
    field = np.minimum(grid.distance, far) - np.float32(level)
    field[~grid.outside] = -np.abs(field[~grid.outside])
    vertices, faces, _, _ = marching_cubes(field, 0.0, gradient_direction="descent")
    return Mesh(grid.points(vertices.astype(np.float64)), faces.astype(np.int64))


def _onto(soup: Mesh, shell: Mesh, spacing: float) -> np.ndarray:
    """Return the shell's vertices (V, 3), moved onto the soup where the wall is thick enough."""
    rays = scene(soup)
    foot = rays.compute_closest_points(tensor(shell.vertices))["points"].numpy().astype(np.float64)
    out = shell.vertices - foot
    away = np.linalg.norm(out, axis=1)
    wall = np.maximum(_thickness(shell, spacing) - 2 * OFFSET * spacing, 0.0)
    keep = np.clip((MIN_THICKNESS * spacing - wall) / 2, 0.0, away)
    return foot + out * (keep / np.maximum(away, 1e-12))[:, None]


def _thickness(shell: Mesh, spacing: float) -> np.ndarray:
    """Return the way (V,) from every vertex straight through the shell's inside."""
    normals = np.array(shell.to_trimesh().vertex_normals)
    start = shell.vertices - normals * (0.05 * spacing)
    query = np.concatenate([start, -normals], axis=1)
    hit = scene(shell).cast_rays(tensor(query))["t_hit"].numpy()
    # A ray that starts outside of a rounded corner sees nothing: take it as a thin place.
    return np.where(np.isfinite(hit), hit + 0.05 * spacing, 0.0)
