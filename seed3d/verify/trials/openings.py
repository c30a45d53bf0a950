"""Where a ball can go: through-holes and open cavities of a visible surface, seen from above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.types import Mesh

COLUMNS = 160
"""Vertical rays along the longest side of the footprint."""
OFF_GRID = np.array([0.237, 0.261])
"""Where in its cell a column stands: rays through vertices or along edges hit by luck only."""
MIN_RADIUS = 0.06
"""Narrower openings are left out: radius of the largest disc, as a share of the size."""
MIN_DEPTH = 0.5
"""Shallower cavities are left out: depth over the radius of the opening."""


@dataclass(frozen=True)
class Opening:
    """A round way in from above, in the frame of the mesh that was looked at."""

    center_m: np.ndarray
    """(2,) x, y of the centre of the largest disc that fits."""
    radius_m: float
    top_m: float
    """z of the rim."""
    bottom_m: float
    """z of the floor under the centre; -inf for a through-hole."""

    @property
    def through(self) -> bool:
        """True for a hole that one can look through."""
        return not np.isfinite(self.bottom_m)


def find_openings(mesh: Mesh) -> list[Opening]:
    """Return the widest through-hole and the widest cavity along -z (0 to 2 openings).

    Vertical rays give the height of the surface under each column of a grid. Columns without
    a surface that the outline encloses are through-holes; a cavity is where water would stand
    (morphological reconstruction; Vincent 1993). In each the largest disc is sought.
    """
    heights, origin, pitch = _heights(mesh)
    size = float(mesh.extents.max())
    low = float(mesh.bounds[0, 2])
    found = []
    hole = _enclosed(~np.isfinite(heights))
    disc = _largest_disc(hole, pitch)
    if disc is not None and disc[1] >= MIN_RADIUS * size:
        center, radius = disc
        rim = float(mesh.bounds[1, 2])
        found.append(Opening(origin + center, radius, rim, -np.inf))
    solid = np.where(np.isfinite(heights), heights, low)
    level = _water_level(np.where(np.isfinite(heights), heights, -np.inf), low)
    deep = (level - solid > 1e-3 * size) & np.isfinite(heights)
    disc = _largest_disc(deep, pitch)
    if disc is not None and disc[1] >= MIN_RADIUS * size:
        center, radius = disc
        i, j = np.round(center / pitch).astype(int)
        top, bottom = float(level[i, j]), float(solid[i, j])
        if top - bottom >= MIN_DEPTH * radius:
            found.append(Opening(origin + center, radius, top, bottom))
    return found


def _heights(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, float]:
    """Height of the surface (X, Y) under each column, -inf where there is none."""
    from seed3d.mesh.grid import scene, tensor

    low, high = mesh.bounds
    pitch = float((high - low)[:2].max()) / COLUMNS
    origin = low[:2] - 2.0 * pitch
    counts = np.ceil((high[:2] - low[:2]) / pitch).astype(int) + 5
    grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 2)
    start = np.column_stack([origin + pitch * (grid + OFF_GRID), np.full(len(grid), high[2] + 1.0)])
    size = float((high - low).max())
    centred = Mesh((mesh.vertices - mesh.vertices.mean(axis=0)) / size, mesh.faces)
    start = (start - mesh.vertices.mean(axis=0)) / size
    start[:, 2] = float(centred.bounds[1, 2]) + 1.0
    rays = np.concatenate([start, np.tile([0.0, 0.0, -1.0], (len(start), 1))], axis=1)
    depth = scene(centred).cast_rays(tensor(rays))["t_hit"].numpy().astype(np.float64)
    z = (float(centred.bounds[1, 2]) + 1.0 - depth) * size + float(mesh.vertices[:, 2].mean())
    return np.where(np.isfinite(depth), z, -np.inf).reshape(tuple(counts)), origin, pitch


def _enclosed(empty: np.ndarray) -> np.ndarray:
    """Empty columns that aren't joined to the border."""
    from scipy import ndimage

    labels = np.empty(empty.shape, np.int32)
    ndimage.label(empty, output=labels)
    return empty & (labels != labels[0, 0])


def _water_level(heights: np.ndarray, low: float) -> np.ndarray:
    """Level that water would reach over each column; it runs off at the border and in holes."""
    from skimage.morphology import reconstruction

    ground = np.where(np.isfinite(heights), heights, low)
    seed = np.full_like(ground, ground.max())
    drain = ~np.isfinite(heights)
    seed[drain] = ground[drain]
    border = np.ones_like(drain)
    border[1:-1, 1:-1] = False
    seed[border] = ground[border]
    return reconstruction(seed, ground, method="erosion")


def _largest_disc(area: np.ndarray, pitch: float) -> tuple[np.ndarray, float] | None:
    """Centre (2,) from the grid's origin and radius of the largest disc inside `area` [m]."""
    from scipy import ndimage

    if not area.any():
        return None
    distance = np.asarray(ndimage.distance_transform_edt(area))
    best = float(distance.max())
    # Of a plateau of equally good centres take the middle one: a long slot has many.
    rows = np.argwhere(distance >= best - 0.5)
    middle = rows[np.argmin(np.linalg.norm(rows - rows.mean(axis=0), axis=1))]
    return (middle + OFF_GRID) * pitch, (best - 0.5) * pitch
