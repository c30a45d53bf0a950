"""Shading: glTF's metallic-roughness model under directional lights and a sky."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from seed3d.conventions import linear_to_srgb, srgb_to_linear
from seed3d.render.lighting import DirectionalLight, Lighting, hemisphere
from seed3d.render.raycast import Caster, GBuffer, Seen, interpolate, seen
from seed3d.types import Camera, Surface

DIELECTRIC_F0 = 0.04
"""Reflectance at normal incidence of a material that is no metal (glTF 2.0, appendix B)."""
CALM = 0.998
"""Length of the mean of a pixel's normals from which it counts as one smooth piece (5 degrees)."""
SRGB_TABLE = srgb_to_linear(np.arange(256) / 255.0).astype(np.float32)
"""Linear value of each 8-bit sRGB value."""


@dataclass(frozen=True)
class RenderedImage:
    """An antialiased picture of one object."""

    rgb: np.ndarray
    """(S, S, 3) float32 sRGB of the object, not premultiplied; white where alpha is 0."""
    alpha: np.ndarray
    """(S, S) float32 in [0, 1]: coverage."""

    def over(self, background: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> np.ndarray:
        """Return the picture (S, S, 3) on a plain sRGB background."""
        alpha = self.alpha[..., None]
        return self.rgb * alpha + np.array(background, np.float32) * (1.0 - alpha)


def render(
    surface: Surface,
    camera: Camera,
    size: int,
    lighting: Lighting,
    supersample: int = 2,
    caster: Caster | None = None,
) -> RenderedImage:
    """Render a surface.

    Args:
        surface: Canonical frame, any mesh; both sides of a face are visible.
        camera: Sees the square crop.
        size: Side of the picture [pixel].
        lighting: Canonical frame.
        supersample: Rays per pixel and axis.
        caster: A caster of surface.mesh, so that many pictures share one hierarchy.
    """
    caster = caster or Caster(surface.mesh)
    found = seen(surface, camera, size * supersample, caster)
    mask = np.zeros((size * supersample,) * 2, bool)
    mask.flat[found.pixel] = True
    total = np.zeros((size, size, 3), np.float32)
    if mask.any():
        points = _points(surface, lighting, found, caster)
        total = _pixel_sums(points, mask, supersample, camera, lighting)
    coverage = _box_sum(mask.astype(np.float32), supersample)
    linear = np.where(
        coverage[..., None] > 0, total / np.maximum(coverage, 1.0)[..., None], np.float32(1.0)
    )
    return RenderedImage(
        linear_to_srgb(linear).astype(np.float32), coverage / np.float32(supersample**2)
    )


def _box_sum(fine: np.ndarray, cell: int) -> np.ndarray:
    """Sum over cells of (cell, cell) pixels; slices, since numpy's sum over short axes is slow."""
    total = fine[::cell, ::cell].copy()
    for row, column in [(r, c) for r in range(cell) for c in range(cell)][1:]:
        total += fine[row::cell, column::cell]
    return total


@dataclass(frozen=True)
class _Points:
    """N points to light."""

    normal: np.ndarray
    """(N, 3) unit, towards the viewer; the smooth one where the surface has it."""
    position: np.ndarray
    """(N, 3) canonical."""
    base: np.ndarray
    """(N, 3) linear."""
    metallic: np.ndarray
    roughness: np.ndarray
    lit: np.ndarray
    """(N, lights): share of each light that reaches the point."""

    def at(self, index: np.ndarray) -> _Points:
        """Those at `index` (M,)."""
        return _Points(*(getattr(self, f.name)[index] for f in fields(self)))

    def means(self, groups: np.ndarray) -> _Points:
        """One point for each group of indices (M, K)."""
        parts = _Points(*(_means(getattr(self, f.name), groups) for f in fields(self)))
        return replace(parts, normal=_unit(parts.normal))


def _means(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Mean value of each group of indices (M, K); by columns, as in `_box_sum`."""
    total = values[groups[:, 0]]
    for column in groups.T[1:]:
        total += values[column]
    return total / np.float32(groups.shape[1])


def shade(
    surface: Surface, camera: Camera, lighting: Lighting, buffer: GBuffer, caster: Caster
) -> np.ndarray:
    """Return linear colours (N, 3) in [0, 1] of the N hit pixels, row by row."""
    return shade_seen(surface, camera, lighting, buffer.seen(), caster)


def shade_seen(
    surface: Surface, camera: Camera, lighting: Lighting, found: Seen, caster: Caster
) -> np.ndarray:
    """As `shade`, of whatever was seen."""
    return _lit(_points(surface, lighting, found, caster), camera, lighting)


def _pixel_sums(
    points: _Points, mask: np.ndarray, cell: int, camera: Camera, lighting: Lighting
) -> np.ndarray:
    """Sums (S, S, 3) of the colours in each pixel's cell of samples (S * cell)^2.

    Cells that see one smooth piece are lit once, with the mean of their samples' materials and
    shadows; the light is what costs time. Edges are lit sample by sample.
    """
    number = np.full(mask.shape, -1)
    number[mask] = np.arange(mask.sum())
    size = len(mask) // cell
    cells = number.reshape(size, cell, size, cell).transpose(0, 2, 1, 3).reshape(size, size, -1)
    whole = np.all(cells >= 0, axis=2)
    groups = cells[whole]
    calm = np.linalg.norm(_means(points.normal, groups), axis=1) > CALM
    whole[whole] = calm
    color = np.zeros((*mask.shape, 3), np.float32)
    rest = mask & ~whole.repeat(cell, axis=0).repeat(cell, axis=1)
    color[rest] = _lit(points.at(number[rest]), camera, lighting)
    total = _box_sum(color, cell)
    total[whole] = np.float32(cell**2) * _lit(points.means(groups[calm]), camera, lighting)
    return total


def _points(surface: Surface, lighting: Lighting, found: Seen, caster: Caster) -> _Points:
    face, normal, position = found.face, found.normal, found.position
    base, metallic, roughness = sample_material(surface, face, found.bary)
    flat = caster.face_normals[face]
    flat = flat * np.sign(_dot(flat, normal))[:, None]
    lit = np.zeros((len(face), len(lighting.lights)), np.float32)
    for column, light in enumerate(lighting.lights):
        towards = light.direction.astype(np.float32)
        facing = np.flatnonzero((normal @ towards > 0) & (flat @ towards > 0))
        if light.shadows and len(facing):
            start = position[facing] + 1e-3 * flat[facing]
            hidden = caster.occluded(start, np.broadcast_to(towards, start.shape))
            facing = facing[~hidden]
        lit[facing, column] = 1.0
    return _Points(normal, position, base, metallic, roughness, lit)


def _lit(points: _Points, camera: Camera, lighting: Lighting) -> np.ndarray:
    """Linear colours (N, 3) in [0, 1]."""
    normal, roughness = points.normal, points.roughness
    view = _unit(camera.position.astype(np.float32) - points.position)
    n_v = np.clip(_dot(normal, view), 1e-3, 1.0)
    f0 = DIELECTRIC_F0 + (points.base - DIELECTRIC_F0) * points.metallic[:, None]
    diffuse = points.base * (1.0 - points.metallic)[:, None]
    color = _environment(lighting, normal, view, n_v, f0, diffuse, roughness)
    for light, share in zip(lighting.lights, points.lit.T, strict=True):
        at = np.flatnonzero(share)
        color[at] += share[at, None] * _light(
            light, normal[at], view[at], n_v[at], f0[at], diffuse[at], roughness[at]
        )
    return tone(color * np.float32(lighting.exposure))


def sample_material(
    surface: Surface, face: np.ndarray, bary: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the material at points of a surface.

    Args:
        surface: Any.
        face: (N,) int, no misses.
        bary: (N, 3) weights of the face's corners.

    Returns:
        base colour (N, 3) linear, metallic (N,), roughness (N,), float32.
    """
    base = np.empty((len(face), 3), np.float32)
    metallic = np.empty(len(face), np.float32)
    roughness = np.empty(len(face), np.float32)
    corner_uv = surface.corner_uv.astype(np.float32).reshape(-1, 2)
    uv = interpolate(corner_uv, 3 * face[:, None] + np.arange(3), bary)
    owner = surface.face_material[face]
    for index in np.flatnonzero(np.bincount(owner, minlength=1)):
        material = surface.materials[int(index)]
        at = np.flatnonzero(owner == index) if len(surface.materials) > 1 else slice(None)
        base[at] = srgb_to_linear(np.array(material.base_color, np.float32))
        metallic[at], roughness[at] = material.metallic, material.roughness
        if material.base_color_texture is not None:
            base[at] *= bilinear(material.base_color_texture, uv[at], SRGB_TABLE)
        if material.metallic_roughness_texture is not None:
            table = np.arange(256, dtype=np.float32) / 255
            packed = bilinear(material.metallic_roughness_texture, uv[at], table)
            roughness[at] *= packed[:, 1]
            metallic[at] *= packed[:, 2]
    if surface.vertex_color is not None:
        linear = SRGB_TABLE[surface.vertex_color[:, :3]]
        base *= interpolate(linear, surface.mesh.faces[face], bary)
    return base, metallic, roughness


def bilinear(texture: np.ndarray, uv: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Look a texture up, repeating outside the unit square.

    Args:
        texture: (H, W, C) uint8, first row at v = 1.
        uv: (N, 2), v up.
        table: (256,) float32, value of each byte; applied before the interpolation.

    Returns:
        (N, C) float32.
    """
    height, width = texture.shape[:2]
    texels = texture.reshape(height * width, -1)  # one flat index is quicker than two
    if len(texels) == 1:
        return np.broadcast_to(table[texels[0]], (len(uv), texels.shape[1]))
    x = uv[:, 0] * width - 0.5
    y = (1.0 - uv[:, 1]) * height - 0.5
    left, top = np.floor(x), np.floor(y)
    fx, fy = (x - left)[:, None].astype(np.float32), (y - top)[:, None].astype(np.float32)
    x0, y0 = _repeated(left, width), _repeated(top, height)
    x1, y1 = _repeated(left + 1, width), _repeated(top + 1, height)

    def at(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        return table.take(texels.take(row * width + column, axis=0))

    upper = at(y0, x0) * (1 - fx) + at(y0, x1) * fx
    lower = at(y1, x0) * (1 - fx) + at(y1, x1) * fx
    return upper * (1 - fy) + lower * fy


def _repeated(texel: np.ndarray, count: int) -> np.ndarray:
    """Whole numbers (N,) modulo `count`, as indices; the slow modulo only where it's needed."""
    index = texel.astype(np.int64)
    if len(index) and (index.min() < 0 or index.max() >= count):
        index %= count
    return index


def tone(linear: np.ndarray, knee: float = 0.8) -> np.ndarray:
    """Compress linear light into [0, 1]: identity below the knee, a smooth shoulder above."""
    over = np.maximum(linear - knee, 0.0)
    room = 1.0 - knee
    return np.minimum(linear, knee) + room * (1.0 - np.exp(-over / room))


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("nc,nc->n", a, b)


def _light(
    light: DirectionalLight,
    normal: np.ndarray,
    view: np.ndarray,
    n_v: np.ndarray,
    f0: np.ndarray,
    diffuse: np.ndarray,
    roughness: np.ndarray,
) -> np.ndarray:
    """GGX, Smith, Schlick as in glTF 2.0 appendix B.3, times pi (see DirectionalLight)."""
    towards = light.direction.astype(np.float32)
    half = view + towards
    half /= np.maximum(np.linalg.norm(half, axis=1, keepdims=True), 1e-6)
    n_l = np.clip(normal @ towards, 1e-4, 1.0)
    n_h = np.clip(_dot(normal, half), 0.0, 1.0)
    v_h = np.clip(_dot(view, half), 0.0, 1.0)
    alpha2 = np.maximum(roughness, 0.05) ** 4  # alpha = roughness^2; 0 would be a Dirac lobe
    fresnel = f0 + (1.0 - f0) * ((1.0 - v_h) ** 5)[:, None]
    distribution = alpha2 / (n_h * n_h * (alpha2 - 1.0) + 1.0) ** 2  # times pi
    visibility = 1.0 / (
        (n_l + np.sqrt(alpha2 + (1.0 - alpha2) * n_l * n_l))
        * (n_v + np.sqrt(alpha2 + (1.0 - alpha2) * n_v * n_v))
    )
    specular = fresnel * (distribution * visibility)[:, None]
    out = (1.0 - fresnel) * diffuse + specular
    return out * n_l[:, None] * np.array(light.color, np.float32)


def _environment(
    lighting: Lighting,
    normal: np.ndarray,
    view: np.ndarray,
    n_v: np.ndarray,
    f0: np.ndarray,
    diffuse: np.ndarray,
    roughness: np.ndarray,
) -> np.ndarray:
    """Sky and ground: exact for matte, split-sum with an analytic BRDF for the mirror part.

    The BRDF fit is Karis, "Physically Based Shading on Mobile" (2014).
    """
    reflected_up = 2.0 * n_v * normal[:, 2] - view[:, 2]
    width = 0.08 + roughness  # a rough surface blurs the horizon
    share = np.clip(0.5 + 0.5 * reflected_up / width, 0.0, 1.0)
    mirrored = hemisphere(2.0 * share - 1.0, lighting.sky, lighting.ground)
    rx, ry = 1.0 - roughness, 0.0425 - 0.0275 * roughness
    rz, rw = 1.04 - 0.572 * roughness, 0.022 * roughness - 0.04
    a004 = np.minimum(rx * rx, np.exp2(-9.28 * n_v)) * rx + ry
    scale, bias = -1.04 * a004 + rz, 1.04 * a004 + rw
    reflectance = f0 * scale[:, None] + bias[:, None]
    matte = hemisphere(normal[:, 2], lighting.sky, lighting.ground)
    return (1.0 - reflectance) * diffuse * matte + reflectance * mirrored
