"""Cameras for training photos: what `seed3d.image.prepare` would crop, in closed form."""

from __future__ import annotations

import numpy as np

from seed3d.render.cameras import framed_camera
from seed3d.types import Camera, Mesh

FRONT_AZIMUTH_RAD = np.deg2rad(80.0)
"""Objects with a front are seen from at most this far to its side."""


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
    return framed_camera(mesh.vertices, azimuth, elevation, distance, 1.0 - 2.0 * padding)
