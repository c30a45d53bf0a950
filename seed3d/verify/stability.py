"""Static stability in closed form: where the centre of mass stands above its support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.types import Mesh

CONTACT_SHARE = 0.005
"""Vertices this close to the lowest one, as a share of the longest side, carry the object."""


@dataclass(frozen=True)
class Support:
    """How an object stands upright on flat ground."""

    margin_m: float
    """Distance of the centre of mass' projection to the nearest edge of the support polygon [m];
    negative outside. 0 where the support is a line or a point and the projection lies on it."""
    com_height_m: float
    """Height of the centre of mass above the ground [m]."""
    polygon_m: np.ndarray
    """(K, 2) corners of the support polygon, counter-clockwise [m]."""

    @property
    def angle_rad(self) -> float:
        """Tilt at which the object would tip over its nearest edge; negative: it does at once."""
        return float(np.arctan2(self.margin_m, max(self.com_height_m, 1e-12)))


def support_margin(hulls: list[Mesh], com_m: np.ndarray, share: float = CONTACT_SHARE) -> Support:
    """Find the support polygon of an upright object and the margin of its centre of mass.

    Args:
        hulls: Collision hulls in the link frame (Z up) [m].
        com_m: (3,) centre of mass in the same frame [m].
        share: Band above the lowest vertex that counts as touching, of the longest side.

    Raises:
        ValueError: No hull.
    """
    if not hulls:
        raise ValueError("support_margin: got no hull; wanted at least one")
    points = np.concatenate([h.vertices for h in hulls])
    size = float(np.ptp(points, axis=0).max())
    low = float(points[:, 2].min())
    base = points[points[:, 2] <= low + share * size, :2]
    polygon = _convex_polygon(base)
    margin = _signed_distance(polygon, np.asarray(com_m[:2], np.float64))
    return Support(margin, float(com_m[2]) - low, polygon)


def _convex_polygon(points: np.ndarray) -> np.ndarray:
    """Convex hull of (N, 2) points, counter-clockwise; a segment or a point where they are flat.

    Andrew's monotone chain (Andrew 1979): unlike Qhull it takes points on a line as they are.
    """
    unique = [tuple(p) for p in np.unique(np.round(points, 12), axis=0)]
    if len(unique) < 3:
        return np.array(unique).reshape(-1, 2)

    def chain(sequence: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        out: list[tuple[float, ...]] = []
        for p in sequence:
            while len(out) >= 2 and _cross(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(chain(unique) + chain(unique[::-1]))


def _cross(o: tuple[float, ...], a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def _signed_distance(polygon: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point to the border of a convex polygon: positive inside, negative outside."""
    if len(polygon) == 1:
        return -float(np.linalg.norm(point - polygon[0]))
    start = polygon if len(polygon) > 2 else polygon[:1]
    end = np.roll(polygon, -1, axis=0) if len(polygon) > 2 else polygon[1:]
    edge = end - start
    t = np.einsum("ij,ij->i", point - start, edge) / np.einsum("ij,ij->i", edge, edge)
    nearest = start + np.clip(t, 0.0, 1.0)[:, None] * edge
    distance = float(np.linalg.norm(point - nearest, axis=1).min())
    d = point - start
    inside = len(polygon) > 2 and bool((edge[:, 0] * d[:, 1] - edge[:, 1] * d[:, 0] >= 0).all())
    return distance if inside else -distance
