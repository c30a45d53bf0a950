"""Materials as trimesh reads them, to `SurfaceMaterial`."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.conventions import linear_to_srgb
from seed3d.errors import InputError
from seed3d.mesh.folder import MAX_TEXTURE_PIXELS
from seed3d.types import SurfaceMaterial

MAX_TEXTURE_SIDE = 4096
"""Larger textures are reduced to this side [texel]."""


class MaterialList:
    """Collects materials; equal sources share one entry."""

    def __init__(self) -> None:
        self.items: list[SurfaceMaterial] = []
        self.losses: dict[str, str] = {}
        self._index: dict[int, int] = {}
        self._images: dict[int, np.ndarray | None] = {}
        self._keep: list[Any] = []  # ids are only unique while the objects live

    def add(self, source: Any) -> int:
        """Return the index of a trimesh material (or None: the default grey)."""
        key = id(source)
        if key not in self._index:
            self._keep.append(source)
            self._index[key] = len(self.items)
            self.items.append(self._convert(source))
        return self._index[key]

    def _convert(self, source: Any) -> SurfaceMaterial:
        if source is None:
            return SurfaceMaterial()
        if hasattr(source, "baseColorFactor"):
            return self._from_gltf(source)
        return self._from_mtl(source)

    def _from_gltf(self, source: Any) -> SurfaceMaterial:
        factor = source.baseColorFactor  # linear, quantised to 8 bits by trimesh
        linear = np.ones(3) if factor is None else np.asarray(factor[:3], np.float64) / 255.0
        metallic, roughness = source.metallicFactor, source.roughnessFactor
        return SurfaceMaterial(
            base_color=_rgb(linear_to_srgb(linear)),
            metallic=_unit(metallic, 1.0),  # both defaults are the format's
            roughness=_unit(roughness, 1.0),
            base_color_texture=self._image(source.baseColorTexture, str(source.name)),
            metallic_roughness_texture=self._image(
                source.metallicRoughnessTexture, str(source.name)
            ),
            name=str(source.name or ""),
        )

    def _from_mtl(self, source: Any) -> SurfaceMaterial:
        extra = getattr(source, "kwargs", {})
        texture = self._image(source.image, str(source.name))
        color = np.asarray(source.diffuse[:3], np.float64) / 255.0
        if texture is not None and color.max() < 0.02:
            color = np.ones(3)  # many exporters write Kd 0 beside a texture that they show in full
        return SurfaceMaterial(
            base_color=_rgb(color),
            metallic=_unit(_first(extra.get("pm")), 0.0),
            roughness=_unit(_first(extra.get("pr")), _phong_roughness(source)),
            base_color_texture=texture,
            name=str(source.name or ""),
        )

    def _image(self, image: Any, owner: str) -> np.ndarray | None:
        if image is None:
            return None
        if id(image) not in self._images:
            self._keep.append(image)
            self._images[id(image)] = self._decode(image, owner)
        return self._images[id(image)]

    def _decode(self, image: Any, owner: str) -> np.ndarray | None:
        width, height = image.size
        if width * height > MAX_TEXTURE_PIXELS:
            self.losses[f"texture of {owner!r}"] = f"{width} x {height} pixels is too large"
            return None
        try:
            image.draft("RGB", (MAX_TEXTURE_SIDE, MAX_TEXTURE_SIDE))  # only JPEG does something
            rgb = _to_rgb(image)
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            self.losses[f"texture of {owner!r}"] = f"damaged image ({error})"
            return None
        rgb.thumbnail((MAX_TEXTURE_SIDE, MAX_TEXTURE_SIDE))
        return np.array(rgb, np.uint8)


def _to_rgb(image: Any) -> Any:
    import PIL.Image

    if image.mode.startswith("I") or image.mode == "F":  # 16-bit grey clips in convert()
        grey = np.asarray(image, np.float64)
        top = 65535.0 if grey.max() > 255 else 255.0
        return PIL.Image.fromarray((grey / top * 255).clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("P", "LA", "PA"):
        image = image.convert("RGBA")
    return image.convert("RGB")


def _phong_roughness(source: Any) -> float:
    """Return the GGX roughness for a Blinn-Phong exponent Ns: alpha^2 = 2 / (Ns + 2).

    Source: Walter et al. 2007, "Microfacet Models for Refraction", section 5. Roughness is
    sqrt(alpha) as in glTF. Without a highlight (Ks 0) or exponent: 0.6, a matt surface.
    """
    exponent = _first(source.glossiness)
    if exponent is None or exponent <= 0 or not np.any(np.asarray(source.specular[:3]) > 0):
        return 0.6
    return float((2.0 / (exponent + 2.0)) ** 0.25)


def _first(value: Any) -> float | None:
    if isinstance(value, list | tuple):
        value = value[0] if value else None
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"material: got the value {value!r}; wanted a number") from error
    return number if np.isfinite(number) else None


def _unit(value: Any, default: float) -> float:
    number = _first(value)
    return default if number is None else float(np.clip(number, 0.0, 1.0))


def _rgb(color: np.ndarray) -> tuple[float, float, float]:
    r, g, b = (float(c) for c in np.clip(color, 0.0, 1.0))
    return r, g, b
