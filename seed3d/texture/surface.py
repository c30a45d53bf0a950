"""A finished asset's mesh, atlas and maps as a surface that can be rendered."""

from __future__ import annotations

import numpy as np

from seed3d.render.normals import corner_normals
from seed3d.types import Atlas, Mesh, PBRMaps, Surface, SurfaceMaterial


def asset_surface(mesh: Mesh, atlas: Atlas, maps: PBRMaps) -> Surface:
    """Return the textured surface, with shading normals that keep creases sharp.

    Its corners own their vertices: (3F, 3). Face i is face i of the mesh, in the mesh's frame.
    """
    packed = maps.metallic_roughness
    if (packed == packed[:1, :1]).all():
        packed = packed[:1, :1]  # the same everywhere: nothing to look up
    material = SurfaceMaterial((1.0, 1.0, 1.0), 1.0, 1.0, maps.base_color, packed)
    return shaded_surface(mesh, material, atlas.uv[atlas.faces])


def shaded_surface(
    mesh: Mesh, material: SurfaceMaterial, corner_uv: np.ndarray | None = None
) -> Surface:
    """Return a surface of one material with crease-aware normals."""
    count = len(mesh.faces)
    own = Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))
    return Surface(
        own,
        np.zeros((count, 3, 2)) if corner_uv is None else corner_uv,
        np.zeros(count, np.int64),
        (material,),
        normals=corner_normals(mesh).reshape(-1, 3),
    )
