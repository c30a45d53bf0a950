"""Cameras for training photos: what `seed3d.image.prepare` would crop, in closed form."""

from __future__ import annotations

import numpy as np

from seed3d.types import Camera, Mesh

FRONT_AZIMUTH_RAD = np.deg2rad(80.0)
"""Objects with a front are seen from at most this far to its side."""


def framed(
    mesh: Mesh, azimuth_rad: float, elevation_rad: float, distance: float, padding: float
) -> Camera:
    """Camera whose crop is the square around the object's silhouette plus padding.

    Args:
        mesh: Canonical frame.
        azimuth_rad: See `seed3d.conventions.camera_rotation`.
        elevation_rad: See there.
        distance: To the origin [canonical units], more than the mesh's radius.
        padding: Margin on the tight sides, as a share of the crop's side.
    """
    probe = Camera(azimuth_rad, elevation_rad, distance, 1.0)
    uv, _ = probe.project(mesh.vertices)
    low, high = uv.min(axis=0), uv.max(axis=0)
    focal = (2.0 - 4.0 * padding) / float((high - low).max())
    center = -focal * (low + high) / 2.0
    return Camera(azimuth_rad, elevation_rad, distance, focal, float(center[0]), float(center[1]))


def random_camera(
    mesh: Mesh, has_front: bool, rng: np.random.Generator, padding: float = 0.1
) -> Camera:
    """A photographer's view: in front (anywhere round an object without a front), mostly from above.

    Elevation -5..60 degrees, most often 10..35; distance for fields of view of 15 to 60 degrees.
    """
    reach = FRONT_AZIMUTH_RAD if has_front else np.pi
    azimuth = rng.uniform(-reach, reach)
    elevation = np.deg2rad(np.clip(rng.normal(22.0, 14.0), -5.0, 65.0))
    radius = float(np.linalg.norm(mesh.vertices, axis=1).max())
    distance = radius / np.sin(np.deg2rad(rng.uniform(15.0, 60.0)) / 2.0)
    return framed(mesh, azimuth, elevation, distance, padding)
