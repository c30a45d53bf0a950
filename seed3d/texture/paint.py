"""Texture from one photo: project what it sees, complete what it doesn't."""

from __future__ import annotations

import numpy as np

from seed3d.config import TextureConfig
from seed3d.render.raycast import Caster
from seed3d.texture.light import Shading, fit_shading
from seed3d.texture.photo import PhotoView, observe, register, sample_image
from seed3d.texture.texels import (
    Texels,
    chart_texels,
    color_map,
    flat_normal_map,
    packed_map,
    spread,
)
from seed3d.types import Atlas, Camera, Fallback, Mesh, PBRMaps, Subject, SurfaceMaterial

ON_SURFACE = 0.006
"""Slack in depth for the surface's own points [canonical units]."""
MIRRORED = 0.03
"""Slack in depth for mirrored points: how far the object may be from symmetric."""
LEFT_RIGHT = (1.0, -1.0, 1.0)
FRONT_BACK = (-1.0, 1.0, 1.0)
HALF_TURN = (-1.0, -1.0, 1.0)
SYMMETRIC = 0.02
"""Mean distance [canonical units] between a mesh and its half turn that counts as symmetric."""
COARSE = 4
"""The smooth completion is solved on a map this many times smaller."""
NORMAL_REACH = 0.12
"""Distance [canonical units] that counts as much as a quarter turn of the surface."""


def paint_from_photo(
    solid_mesh: Mesh,
    atlas: Atlas,
    subject: Subject,
    camera: Camera,
    material_prior: SurfaceMaterial,
    config: TextureConfig,
) -> PBRMaps:
    """Paint a mesh with its photo.

    Args:
        solid_mesh: Canonical frame, outward wound.
        atlas: Of the mesh.
        subject: The prepared photo.
        camera: Sees the subject's crop.
        material_prior: Its metallic and roughness fill the map; its colour is used where the
            photo shows nothing of the object at all.
        config: Size of the maps.

    Returns:
        Maps whose `seen_share` is the share of chart texels that the photo itself shows.

    Raises:
        StageError: No chart covers a texel.
    """
    caster = Caster(solid_mesh)
    view = register(solid_mesh, caster, subject, camera)
    texels = chart_texels(solid_mesh, atlas, config.size)
    coarse = chart_texels(solid_mesh, atlas, max(config.size // COARSE, 64))
    color, trust = observe(view, coarse.position, coarse.normal, ON_SURFACE)
    shading = fit_shading(color, coarse.normal, trust)

    fallbacks: tuple[Fallback, ...] = ()
    if trust.max() > 0.05:
        far = _complete(coarse, *_albedo(view, shading, coarse.position, coarse.normal, ON_SURFACE))
    else:
        fallbacks = (Fallback("texture", "the photo shows no part of the mesh; plain colour"),)
        far = np.broadcast_to(_linear(material_prior), coarse.position.shape).astype(np.float32)
    symmetries = _symmetries(caster, solid_mesh)
    base, seen = _layers(view, shading, texels, symmetries, _upsample(far, coarse, texels))
    constant = np.ones(len(base), np.float32)
    return PBRMaps(
        base_color=color_map(base, texels.covered),
        metallic_roughness=packed_map(
            constant * material_prior.roughness, constant * material_prior.metallic, texels.covered
        ),
        normal=flat_normal_map(config.size),
        seen_share=float((seen > 0.5).mean()),
        fallbacks=fallbacks,
    )


def _linear(material: SurfaceMaterial) -> np.ndarray:
    from seed3d.conventions import srgb_to_linear

    return srgb_to_linear(np.array(material.base_color))


def _albedo(
    view: PhotoView, shading: Shading, position: np.ndarray, normal: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    color, trust = observe(view, position, normal, slack)
    return shading.remove(color, normal), trust


def _symmetries(caster: Caster, mesh: Mesh) -> tuple[tuple[float, float, float], ...]:
    """Order in which mirror images are tried; each is used only where the shape agrees.

    Most objects have a left and a right that match. Where the whole shape survives half a turn
    (a can, a box, a table), its back most likely looks like its front, not like its mirror image.
    """
    points = mesh.vertices[:: max(1, len(mesh.vertices) // 2000)]
    turned = points * np.array(HALF_TURN)
    distance = np.linalg.norm(caster.closest(turned)[0] - turned, axis=1)
    if distance.mean() < SYMMETRIC:
        return (HALF_TURN, LEFT_RIGHT, FRONT_BACK)
    return (LEFT_RIGHT, HALF_TURN, FRONT_BACK)


def _layers(
    view: PhotoView,
    shading: Shading,
    texels: Texels,
    symmetries: tuple[tuple[float, float, float], ...],
    far: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Blend photo over mirrored photo over the smooth completion, by trust, without hard seams.

    Returns:
        albedo (N, 3) linear, trust of the direct photo (N,).
    """
    color, seen = _albedo(view, shading, texels.position, texels.normal, ON_SURFACE)
    out = color * seen[:, None]
    left = 1.0 - seen
    for symmetry in symmetries:
        open_ = np.flatnonzero(left > 0.01)
        flip = np.array(symmetry, np.float32)
        color, trust = _albedo(
            view, shading, texels.position[open_] * flip, texels.normal[open_] * flip, MIRRORED
        )
        share = left[open_] * trust
        out[open_] += color * share[:, None]
        left[open_] -= share
    return out + far * left[:, None], seen


def _complete(coarse: Texels, color: np.ndarray, trust: np.ndarray) -> np.ndarray:
    """Return for each coarse texel the mean colour (N, 3) of the nearest seen surface.

    Near means close, and parallel: both sides of a board count as one surface.
    """
    from scipy.spatial import cKDTree

    line = np.einsum("ni,nj->nij", coarse.normal, coarse.normal).reshape(-1, 9)  # n and -n alike
    place = np.column_stack([coarse.position, line * (NORMAL_REACH / 2**0.5)])  # (N, 12)
    source = np.flatnonzero(trust > 0.05)
    source = source[:: max(1, len(source) // 6_000)]
    many = min(24, len(source))
    distance, index = cKDTree(place[source]).query(place, k=many)
    distance, index = distance.reshape(-1, many), source[index.reshape(-1, many)]
    reach = distance[:, :1] + 0.05  # farther texels average over more of the surface
    weight = trust[index] * np.exp(-((distance / reach) ** 2))
    weight = (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)
    return np.einsum("nk,nkc->nc", weight, color[index])


def _upsample(values: np.ndarray, coarse: Texels, texels: Texels) -> np.ndarray:
    """Interpolate coarse texel values (n, 3) at the fine texels (N, 3)."""
    image = spread(values, coarse.covered)
    row, column = np.nonzero(texels.covered)
    scale = len(coarse.covered) / len(texels.covered)
    pixel = (np.column_stack([column, row]) + 0.5) * scale - 0.5
    return sample_image(image, pixel)
