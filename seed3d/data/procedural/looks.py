"""Colours, materials and small printed textures, all from a random generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from seed3d.types import SurfaceMaterial

T = TypeVar("T")
Color = tuple[float, float, float]

_HEX = {
    "neutral": "f4f1ea e8e4da d9d4c7 bfb8aa 8f8a80 5b5853 2e2d2c 17181a ffffff c9ccd0",
    "bright": "d7263d f46036 f9c80e 1b998b 2e86de 6c5ce7 e84393 27ae60 0a3d62 ff7f11 c0392b 16a085",
    "pastel": "f7cac9 b5ead7 c7ceea ffdac1 e2f0cb a2d2ff ffc8dd cdb4db fdf0d5 bde0fe",
    "glaze": "2f4858 33658a 86bbd8 758e4f f6ae2d 8d5b4c 3d405b 81b29a e07a5f f2cc8f a44a3f ede6d6",
    "dark": "111315 1d1f21 26282b 33363a 14213d 2b2d42 3a3335",
    "wood_light": "d8b98a cfa978 e0c79c c49a6c dbbf94 e6d3b3",
    "wood_dark": "7a4f2a 5c3a21 8b5a2b 4a2f1b 6b4226 93633a 3b2314",
    "fabric": "6d7a86 9aa5a0 b7a58f 4b5a6a 7c6a5d 2f3e46 a44a3f cfc6b8 8c8c88 354f52 d8d2c4 7b2d26",
    "leather": "5a3220 3b2417 8a4b2a 1f1a17 a8653a 2c2a29 c49a6c",
}
PALETTE: dict[str, list[Color]] = {
    name: [
        (int(h[:2], 16) / 255, int(h[2:4], 16) / 255, int(h[4:], 16) / 255) for h in text.split()
    ]
    for name, text in _HEX.items()
}


def uni(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a uniform number in [low, high)."""
    return float(rng.uniform(low, high))


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """Return one of the options."""
    return options[int(rng.integers(len(options)))]


def chance(rng: np.random.Generator, share: float) -> bool:
    """Return True with the given probability."""
    return bool(rng.random() < share)


def tint(rng: np.random.Generator, *palettes: str) -> Color:
    """Return a colour near one of the named palettes' entries (sRGB in [0, 1])."""
    base = np.array(pick(rng, [c for p in palettes for c in PALETTE[p]]))
    shade = np.clip(base * rng.uniform(0.88, 1.1) + rng.normal(0, 0.025, 3), 0.02, 0.98)
    return (float(shade[0]), float(shade[1]), float(shade[2]))


def paint(
    color: Color,
    roughness: float = 0.5,
    metallic: float = 0.0,
    texture: np.ndarray | None = None,
    name: str = "",
) -> SurfaceMaterial:
    """Return a material; a texture replaces the colour."""
    base = (1.0, 1.0, 1.0) if texture is not None else color
    return SurfaceMaterial(base, metallic, roughness, texture, None, name)


def metal(rng: np.random.Generator, name: str = "stainless") -> SurfaceMaterial:
    """Return bare metal: steel, stainless, aluminium, brass."""
    base = {
        "stainless": (0.76, 0.76, 0.75),
        "steel": (0.56, 0.57, 0.58),
        "aluminium": (0.84, 0.85, 0.86),
        "brass": (0.85, 0.68, 0.36),
    }[name]
    shade = uni(rng, 0.85, 1.08)
    color = (min(base[0] * shade, 0.97), min(base[1] * shade, 0.97), min(base[2] * shade, 0.97))
    return paint(color, uni(rng, 0.18, 0.45), 1.0, name=name)


def plastic(rng: np.random.Generator, *palettes: str) -> SurfaceMaterial:
    """Return plain plastic of a colour from the palettes (any bright, neutral, dark)."""
    return paint(
        tint(rng, *(palettes or ("bright", "neutral", "dark"))), uni(rng, 0.25, 0.6), name="plastic"
    )


def glass(rng: np.random.Generator) -> SurfaceMaterial:
    """Return opaque-rendered glass: pale or bottle-tinted, glossy."""
    color = pick(rng, [(0.86, 0.9, 0.91), (0.8, 0.87, 0.86), (0.9, 0.93, 0.95), (0.83, 0.86, 0.9)])
    if chance(rng, 0.25):
        color = pick(
            rng, [(0.2, 0.36, 0.2), (0.4, 0.22, 0.08), (0.3, 0.45, 0.62), (0.62, 0.3, 0.4)]
        )
    return paint(color, uni(rng, 0.05, 0.15), name="glass")


def wood(rng: np.random.Generator, dark: bool | None = None) -> SurfaceMaterial:
    """Return wood with grain along u."""
    dark = chance(rng, 0.45) if dark is None else dark
    color = tint(rng, "wood_dark" if dark else "wood_light")
    return paint(color, uni(rng, 0.35, 0.7), texture=grain(rng, color), name="wood")


def cloth(rng: np.random.Generator, *palettes: str) -> SurfaceMaterial:
    """Return woven fabric."""
    color = tint(rng, *(palettes or ("fabric",)))
    return paint(color, uni(rng, 0.8, 0.98), texture=weave(rng, color), name="fabric")


def to_bytes(image: np.ndarray) -> np.ndarray:
    """Return (H, W, 3) in [0, 1] as uint8."""
    return (np.clip(image, 0, 1) * 255 + 0.5).astype(np.uint8)


def grain(rng: np.random.Generator, color: Color, size: int = 128) -> np.ndarray:
    """Wood grain (size, size, 3) along u: rings of a distorted distance field."""
    u, v = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
    bend = sum(
        uni(rng, 0.01, 0.06)
        * np.sin(2 * np.pi * (uni(rng, 0.3, 1.6) * u + uni(rng, 0, 2) * v) + uni(rng, 0, 6.3))
        for _ in range(3)
    )
    rings = np.sin(2 * np.pi * uni(rng, 5, 14) * (v + bend))
    fine = np.repeat(rng.normal(0, 1, (size, size // 16)), 16, axis=1)
    value = 1 + uni(rng, 0.02, 0.09) * rings + uni(rng, 0.015, 0.05) * fine
    return to_bytes(np.array(color) * value[..., None])


def weave(rng: np.random.Generator, color: Color, size: int = 128) -> np.ndarray:
    """Woven cloth (size, size, 3): plain, striped or checked."""
    n = int(rng.integers(12, 40))
    u, v = np.meshgrid(np.arange(size) / size, np.arange(size) / size)
    value = 1 + 0.06 * np.sign(np.sin(2 * np.pi * n * u) * np.sin(2 * np.pi * n * v))
    image = np.array(color) * (value + rng.normal(0, 0.03, (size, size)))[..., None]
    kind = pick(rng, ["plain", "plain", "stripe", "check"])
    second, k = np.array(tint(rng, "neutral", "fabric")), int(rng.integers(3, 9))
    if kind != "plain":
        share = (np.sin(2 * np.pi * k * u) > 0.3).astype(float)
        if kind == "check":
            share = (share + (np.sin(2 * np.pi * k * v) > 0.3)) / 2
        image = image * (1 - 0.7 * share[..., None]) + second * 0.7 * share[..., None]
    return to_bytes(image)


def speckle(rng: np.random.Generator, color: Color, second: Color, size: int = 128) -> np.ndarray:
    """Two-tone glaze (size, size, 3): `second` below or above a wavy line, with speckles."""
    u, v = np.meshgrid(np.arange(size) / size, 1 - np.arange(size) / size)
    line = uni(rng, 0.3, 0.7) + uni(rng, 0, 0.04) * np.sin(
        2 * np.pi * (int(rng.integers(1, 5)) * u)
    )
    share = np.clip((v - line) * uni(rng, 15, 80) + 0.5, 0, 1)[..., None]
    image = np.array(color) * share + np.array(second) * (1 - share)
    dots = rng.random((size, size)) < uni(rng, 0, 0.03)
    image[dots] *= uni(rng, 0.3, 0.8)
    return to_bytes(image)


def contrast(color: Sequence[float]) -> Color:
    """Return black-ish or white-ish, whichever reads on `color`."""
    return (0.08, 0.08, 0.1) if sum(color) > 1.5 else (0.96, 0.96, 0.94)


def word(rng: np.random.Generator) -> str:
    """Return a made-up brand name."""
    syllables = [
        pick(rng, ["B", "C", "D", "F", "G", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Z"])
        + pick(rng, ["a", "e", "i", "o", "u"])
        for _ in range(int(rng.integers(1, 4)))
    ]
    return "".join(syllables).upper() + pick(rng, ["", "N", "X", "S", "L", "R"])


def rgb8(color: Sequence[float]) -> tuple[int, int, int]:
    """Return a colour as 8-bit integers."""
    r, g, b = (int(np.clip(c, 0, 1) * 255 + 0.5) for c in color[:3])
    return (r, g, b)


def new_image(color: Sequence[float], width: int, height: int) -> tuple[Any, Any]:
    """Return a PIL image of one colour and its drawing context."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), rgb8(color))
    return image, ImageDraw.Draw(image)
