"""Cameras around the canonical cube."""

from __future__ import annotations

import numpy as np

from seed3d.conventions import CANONICAL_HALF
from seed3d.types import Camera


def orbit_camera(
    azimuth_rad: float,
    elevation_rad: float,
    fov_rad: float = 0.7,
    fill: float = 0.95,
    radius: float = CANONICAL_HALF * 3**0.5,
) -> Camera:
    """Return a centred camera far enough to see a sphere around the origin.

    Args:
        azimuth_rad: 0 looks at the front (+X), grows counter-clockwise seen from above.
        elevation_rad: Grows upwards.
        fov_rad: Angle of view across the crop.
        fill: Half width of the sphere's image, as a share of the crop's half width.
        radius: Of the sphere; the default holds every object of the canonical cube.
    """
    focal = 1.0 / np.tan(fov_rad / 2.0)
    # The silhouette cone of a sphere has half angle asin(radius / distance).
    distance = radius / np.sin(np.arctan(fill / focal))
    return Camera(float(azimuth_rad), float(elevation_rad), float(distance), float(focal))


def framed_camera(
    points: np.ndarray,
    azimuth_rad: float,
    elevation_rad: float,
    distance: float,
    fill: float = 0.8,
) -> Camera:
    """Return the camera whose crop is centred on the image of `points`, as photos are cropped.

    Args:
        points: (N, 3), canonical frame: the vertices of the object.
        azimuth_rad: As in `orbit_camera`.
        elevation_rad: As in `orbit_camera`.
        distance: Of the camera to the origin [canonical units].
        fill: Longest side of the image's bounding box as a share of the crop's side;
            a margin of 0.1 on each side is 0.8.

    Raises:
        ValueError: A point lies behind the camera.
    """
    uv, depth = Camera(azimuth_rad, elevation_rad, distance, 1.0).project(points)
    if depth.min() <= 0:
        raise ValueError(f"camera: got distance {distance}; wanted one outside the object")
    low, high = uv.min(axis=0), uv.max(axis=0)
    focal = 2.0 * fill / float((high - low).max())
    center = -focal * (low + high) / 2.0
    return Camera(
        float(azimuth_rad),
        float(elevation_rad),
        float(distance),
        focal,
        float(center[0]),
        float(center[1]),
    )
