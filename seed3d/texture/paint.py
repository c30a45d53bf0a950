"""Texture from one photo: project what it sees, complete what it doesn't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seed3d.config import TextureConfig
from seed3d.conventions import linear_to_srgb, srgb_to_linear
from seed3d.render.raycast import Caster
from seed3d.texture.complete import NORMAL_REACH, complete
from seed3d.texture.level import level_seams
from seed3d.texture.light import Shading, fit_shading
from seed3d.texture.models.apply import completion_net, photo_layers
from seed3d.texture.models.fill import fill_unseen, seen_samples
from seed3d.texture.photo import PhotoView, observe, register
from seed3d.texture.texels import (
    Texels,
    chart_texels,
    color_map,
    flat_normal_map,
    packed_map,
    with_rim,
)
from seed3d.types import Atlas, Camera, Fallback, Mesh, PBRMaps, Subject, SurfaceMaterial

if TYPE_CHECKING:
    from seed3d.texture.models.completion import CompletionNet

ON_SURFACE = 0.006
"""Slack in depth for the surface's own points [canonical units]."""
MIRRORED = 0.03
"""Slack in depth for mirrored points: how far the object may be from symmetric."""
Symmetry = tuple[float, float, float]
LEFT_RIGHT: Symmetry = (1.0, -1.0, 1.0)
FRONT_BACK: Symmetry = (-1.0, 1.0, 1.0)
HALF_TURN: Symmetry = (-1.0, -1.0, 1.0)
UNLIKE = 0.15
"""Median difference [sRGB] between mirrored places above which colours break a symmetry."""
FEWEST = 50
"""Coarse texels that must show both places before colours are compared."""
SYMMETRIC = 0.02
"""Mean distance [canonical units] between a mesh and its half turn that counts as symmetric."""
ALBEDO = (0.008, 0.9)
"""Least and greatest linear base colour: soot reflects more, and fresh snow no more. What lies
beyond is a shadow or a highlight of the photo."""
COARSE = 4
"""The smooth completion is solved on a map this many times smaller ..."""
LARGEST_COARSE = 256
"""... and at most this wide [texel]: it has no detail that a finer one would show."""
BLOCK = 1 << 19
"""Points looked up at a time."""

Tell = Callable[[str, float], None]


def paint_from_photo(
    solid_mesh: Mesh,
    atlas: Atlas,
    subject: Subject,
    camera: Camera,
    material_prior: SurfaceMaterial,
    config: TextureConfig,
    tell: Tell | None = None,
) -> PBRMaps:
    """Paint a mesh with its photo.

    Args:
        solid_mesh: Canonical frame, outward wound.
        atlas: Of the mesh.
        subject: The prepared photo.
        camera: Sees the subject's crop.
        material_prior: Its metallic and roughness fill the map where no model reads them off the
            photo; its colour is used where the photo shows nothing of the object at all.
        config: Size of the maps, and how the light is removed.
        tell: Called with what comes next and the share of the work that's done.

    Returns:
        Maps whose `seen_share` is the share of chart texels that the photo itself shows.

    Raises:
        StageError: No chart covers a texel.
        CheckpointError: The model asked for can't be used.
    """
    tell = tell or (lambda what, done: None)
    tell("removing the photo's light", 0.0)
    caster = Caster(solid_mesh)
    layers = photo_layers(subject, config)
    tell("finding the texels' places", 0.1)
    view = replace(register(solid_mesh, caster, subject, camera), linear=layers.values)
    texels, inner = with_rim(chart_texels(solid_mesh, atlas, config.size), solid_mesh, atlas)
    coarse = chart_texels(solid_mesh, atlas, min(max(config.size // COARSE, 64), LARGEST_COARSE))
    color, trust = observe(view, coarse.position, coarse.normal, ON_SURFACE)
    shading = fit_shading(color, coarse.normal, trust) if layers.lit else None

    prior = np.array([material_prior.roughness, material_prior.metallic], np.float32)
    tell("projecting and completing", 0.4)
    net, fallbacks = completion_net(config)
    learned = None if net is None else _learned(net, view, shading, coarse, texels)
    if learned is None:
        plain = np.append(srgb_to_linear(np.array(material_prior.base_color)), prior)
        base, seen, more = _symmetric(caster, view, shading, coarse, texels, plain)
        fallbacks += more
    else:
        base, seen = learned
    tell("levelling the seams", 0.7)
    limits = linear_to_srgb(np.array(ALBEDO))
    srgb = linear_to_srgb(np.clip(base[:, :3], *ALBEDO))
    srgb = np.clip(level_seams(srgb, seen, texels, solid_mesh, atlas), *limits)
    tell("writing the maps", 0.9)
    material = base[:, 3:] if base.shape[1] == 5 else np.broadcast_to(prior, (len(base), 2))
    return PBRMaps(
        base_color=color_map(srgb_to_linear(srgb), texels.covered),
        metallic_roughness=packed_map(material[:, 0], material[:, 1], texels.covered),
        normal=flat_normal_map(config.size),
        seen_share=float((seen[inner] > 0.5).mean()),
        fallbacks=layers.fallbacks + fallbacks,
    )


def _learned(
    net: CompletionNet,
    view: PhotoView,
    shading: Shading | None,
    coarse: Texels,
    texels: Texels,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Values (N, C) and the photo's trust (N,) by the network; None where the photo is of no use."""

    def look(
        position: np.ndarray, normal: np.ndarray, mirrored: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        return _albedo(view, shading, position, normal, MIRRORED if mirrored else ON_SURFACE)

    samples = seen_samples(view, look)
    if samples is None:
        return None

    def carry(values: np.ndarray, which: np.ndarray) -> np.ndarray:
        return _carried(values, coarse, texels, which)

    return fill_unseen(net, look, samples, coarse, texels, carry)


def _symmetric(
    caster: Caster,
    view: PhotoView,
    shading: Shading | None,
    coarse: Texels,
    texels: Texels,
    plain: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, tuple[Fallback, ...]]:
    """Values (N, C) and the photo's trust (N,) by mirror images, then along the surface."""
    symmetries = _agreeing(view, shading, coarse, _symmetries(caster, caster.mesh))
    known, _, left = _layers(view, shading, coarse, symmetries)
    fallbacks: tuple[Fallback, ...] = ()
    if left.min() < 0.95:
        mean = known / np.maximum(1.0 - left, 1e-3)[:, None]
        far = complete(caster, coarse.position, coarse.normal, mean, 1.0 - left)
    else:
        fallbacks = (Fallback("texture", "the photo shows no part of the mesh; plain colour"),)
        plain = plain[: view.linear.shape[-1]].astype(np.float32)
        far = np.broadcast_to(plain, (len(coarse.position), len(plain)))
    known, seen, left = _layers(view, shading, texels, symmetries)
    open_ = np.flatnonzero(left > 1e-3)
    known[open_] += left[open_, None] * _carried(far, coarse, texels, open_)
    return known, seen, fallbacks


def _albedo(
    view: PhotoView, shading: Shading | None, position: np.ndarray, normal: np.ndarray, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """Colours (N, C) and trust (N,) of points, in blocks: a 4096 map has ten million texels."""
    colors = np.empty((len(position), view.linear.shape[-1]), np.float32)
    trusts = np.empty(len(position), np.float32)
    for start in range(0, len(position), BLOCK):
        part = slice(start, start + BLOCK)
        color, trusts[part] = observe(view, position[part], normal[part], slack)
        colors[part] = color if shading is None else shading.remove(color, normal[part])
    return colors, trusts


def _symmetries(caster: Caster, mesh: Mesh) -> tuple[Symmetry, ...]:
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


def _agreeing(
    view: PhotoView, shading: Shading | None, texels: Texels, symmetries: tuple[Symmetry, ...]
) -> tuple[Symmetry, ...]:
    """Drop symmetries of the shape that the colours break where the photo shows both places.

    Half a turn is left-right after front-back: where it can't be measured itself, it falls with
    left-right.
    """
    color, trust = _albedo(view, shading, texels.position, texels.normal, ON_SURFACE)
    broken: set[Symmetry] = set()
    measured: set[Symmetry] = set()
    for symmetry in symmetries:
        flip = np.array(symmetry, np.float32)
        other, known = _albedo(
            view, shading, texels.position * flip, texels.normal * flip, MIRRORED
        )
        both = (trust > 0.5) & (known > 0.5)
        if both.sum() < FEWEST:
            continue
        measured.add(symmetry)
        here, there = linear_to_srgb(color[both, :3]), linear_to_srgb(other[both, :3])
        apart = np.abs(here - there).max(axis=1)
        if np.median(apart) > UNLIKE:
            broken.add(symmetry)
    if LEFT_RIGHT in broken and HALF_TURN not in measured:
        broken.add(HALF_TURN)
    return tuple(s for s in symmetries if s not in broken)


def _layers(
    view: PhotoView,
    shading: Shading | None,
    texels: Texels,
    symmetries: tuple[Symmetry, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Blend the photo over its mirror images by trust, so that no hard seam appears.

    Returns:
        values (N, C), linear albedo first, premultiplied by the trust of all layers; trust of the direct
        photo (N,); share (N,) left open for the completion.
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
    return out, seen, left


def _carried(values: np.ndarray, coarse: Texels, texels: Texels, which: np.ndarray) -> np.ndarray:
    """Interpolate coarse texel values (n, C) at the fine texels `which` (N,) along the surface.

    By place on the object, not in the map: two charts that meet get the same colours there.
    """
    from scipy.spatial import cKDTree

    many = min(6, len(values))
    tree = cKDTree(np.column_stack([coarse.position, NORMAL_REACH * coarse.normal]))
    out = np.empty((len(which), values.shape[1]), np.float32)
    for start in range(0, len(which), BLOCK):
        part = which[start : start + BLOCK]
        query = np.column_stack([texels.position[part], NORMAL_REACH * texels.normal[part]])
        distance, index = tree.query(query, k=many)
        distance, index = distance.reshape(-1, many), index.reshape(-1, many)
        # Weights fall to 0 at the farthest neighbour, so that none comes or goes with a jump.
        far = distance[:, -1:]
        weight = np.maximum(far - distance, 1e-6 * far + 1e-9) ** 2
        weight = (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)
        out[start : start + BLOCK] = sum(
            weight[:, k, None] * values[index[:, k]] for k in range(many)
        )
    return out
