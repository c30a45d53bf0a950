"""Simple completions of one photo, on the same texels and the same removal of light as ours."""

from __future__ import annotations

import numpy as np

from seed3d.config import TextureConfig
from seed3d.render.raycast import Caster
from seed3d.texture.light import fit_shading
from seed3d.texture.photo import observe, register
from seed3d.texture.texels import Texels, color_map, flat_normal_map, packed_map
from seed3d.types import Atlas, Camera, Mesh, PBRMaps, Subject, SurfaceMaterial

BASELINES = ("nearest", "mirror_nearest", "flat_mean")
ON_SURFACE = 0.006
MIRRORED = 0.03
SEEN = 0.5
"""Trust from which a texel counts as seen."""
MOST_SOURCES = 10_000
"""Seen texels that unseen ones choose from; more would look the same and take minutes."""
LEFT_RIGHT = np.array([1.0, -1.0, 1.0], np.float32)


def baseline_maps(
    mesh: Mesh,
    atlas: Atlas,
    texels: Texels,
    subject: Subject,
    camera: Camera,
    prior: SurfaceMaterial,
    config: TextureConfig,
) -> tuple[dict[str, PBRMaps], PBRMaps, np.ndarray]:
    """Paint a mesh by the simple means.

    Args:
        mesh: Canonical frame, outward wound.
        atlas: Of the mesh.
        texels: Of the atlas, config.size wide.
        subject: The prepared photo.
        camera: Of the photo.
        prior: Gives roughness and metallic.
        config: Size of the maps; ``albedo`` "photo" leaves the light in.

    Returns:
        Maps by baseline: "nearest" takes the colour of the nearest seen texel, "mirror_nearest"
        the mirror image (left-right) where the photo shows it, "flat_mean" one colour; then the
        maps of "nearest" with the photo's own colours, its light left in; then the texels (N,)
        bool that the photo shows.
    """
    view = register(mesh, Caster(mesh), subject, camera)
    lit, trust = observe(view, texels.position, texels.normal, ON_SURFACE)
    seen = trust > SEEN
    if not seen.any():
        seen = trust >= trust.max()
    color = lit
    flip_color, flip_trust = observe(
        view, texels.position * LEFT_RIGHT, texels.normal * LEFT_RIGHT, MIRRORED
    )
    if config.albedo != "photo":
        shading = fit_shading(lit, texels.normal, trust)
        color = shading.remove(lit, texels.normal)
        flip_color = shading.remove(flip_color, texels.normal * LEFT_RIGHT)
    with_mirror = np.where(seen[:, None], color, flip_color)
    mean = np.broadcast_to(color[seen].mean(axis=0), color.shape)
    found = {
        "nearest": _fill(texels, color, seen),
        "mirror_nearest": _fill(texels, with_mirror, seen | (flip_trust > SEEN)),
        "flat_mean": mean,
    }
    maps = {name: _maps(value, prior, texels, config.size) for name, value in found.items()}
    return maps, _maps(_fill(texels, lit, seen), prior, texels, config.size), seen


def _fill(texels: Texels, color: np.ndarray, known: np.ndarray) -> np.ndarray:
    from scipy.spatial import cKDTree

    out = color.copy()
    source = np.flatnonzero(known)
    # The tree degenerates to trying all points where they are equally far (a bowl's inside).
    source = source[:: max(1, len(source) // MOST_SOURCES)]
    _, index = cKDTree(texels.position[source]).query(texels.position[~known])
    out[~known] = color[source][index]
    return out


def _maps(color: np.ndarray, prior: SurfaceMaterial, texels: Texels, size: int) -> PBRMaps:
    one = np.ones(len(color), np.float32)
    packed = packed_map(one * prior.roughness, one * prior.metallic, texels.covered)
    return PBRMaps(color_map(color, texels.covered), packed, flat_normal_map(size))
