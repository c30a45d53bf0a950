"""Texture from a surface that has one: each texel takes the material of the nearest point."""

from __future__ import annotations

import numpy as np

from seed3d.config import TextureConfig
from seed3d.render.raycast import Caster, face_normals
from seed3d.render.shade import sample_material
from seed3d.texture.texels import chart_texels, color_map, flat_normal_map, packed_map, with_rim
from seed3d.types import Atlas, Mesh, PBRMaps, Surface

SIDE = 5e-4
"""Faces and texels move apart along their normals by this share of the object's longest side,
so that of two faces in one place (a sheet painted on both sides) the one that faces the same
way as the texel is nearer."""


def paint_from_surface(
    solid_mesh: Mesh, atlas: Atlas, source: Surface, config: TextureConfig
) -> PBRMaps:
    """Bake the material of a surface onto a mesh that approximates it.

    Args:
        solid_mesh: Outward wound, in the source's frame.
        atlas: Of the mesh.
        source: Any surface; it need not be watertight.
        config: Size of the maps.

    Raises:
        StageError: No chart covers a texel.
        ValueError: The source has no faces.
    """
    texels, _ = with_rim(chart_texels(solid_mesh, atlas, config.size), solid_mesh, atlas)
    offset = SIDE * float(source.mesh.extents.max())
    corners = source.mesh.vertices[source.mesh.faces]  # (F, 3, 3)
    moved = corners + offset * face_normals(source.mesh)[:, None]
    sheets = Mesh(moved.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    _, face, bary = Caster(sheets).closest(texels.position + 2.0 * offset * texels.flat_normal)
    base, metallic, roughness = sample_material(source, face, bary)
    return PBRMaps(
        base_color=color_map(base, texels.covered),
        metallic_roughness=packed_map(roughness, metallic, texels.covered),
        normal=flat_normal_map(config.size),
        seen_share=1.0,
    )
