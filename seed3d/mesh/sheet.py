"""Is a mesh an open sheet, all wall and no solid?"""

from __future__ import annotations

import numpy as np

from seed3d.config import MeshConfig
from seed3d.mesh.parts import clean, signed_volume, split_parts, surface_area, weld_cracks
from seed3d.mesh.solid import CRACK, WELD
from seed3d.types import Mesh

WALL = 1.6
"""A solid whose mean thickness 2 V / A is below this many voxels is the rebuilt wall of a sheet."""


def open_sheet(source: Mesh, solid: Mesh, config: MeshConfig) -> Mesh | None:
    """Return the surface of a mesh without closed parts that became a mere wall; else None.

    A lampshade, a sail, a cup modelled as one surface. None for anything that `make_solid` found
    closed, could close, or filled (a sofa of loose patches).

    Args:
        source: As it was read. Vertices (V, 3), any unit.
        solid: What `make_solid` made of it, same frame.
        config: Of `make_solid`; its voxel is the thickness that sheets get.

    Returns:
        The cleaned triangles of `source`, each once, or None.
    """
    longest = float(np.ptp(source.vertices[np.unique(source.faces)], axis=0).max())
    wall = 2.0 * signed_volume(solid) / surface_area(solid)
    if wall > WALL * longest / config.resolution:
        return None
    soup = weld_cracks(clean(source, WELD * longest), CRACK * longest)
    return None if any(part.closed for part in split_parts(soup)) else soup
