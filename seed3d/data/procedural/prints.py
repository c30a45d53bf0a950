"""Printed textures: labels, box art, covers, patterns, screens."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.data.procedural.looks import (
    Color,
    chance,
    contrast,
    new_image,
    pick,
    rgb8,
    tint,
    uni,
    word,
)

Rect = tuple[float, float, float, float]


def text_lines(rng: np.random.Generator, draw: Any, area: Rect, color: Color, rows: int) -> None:
    """Fill an area (x0, y0, x1, y1) [px] with fake lines of small print."""
    x0, y0, x1, y1 = area
    step = (y1 - y0) / max(rows, 1)
    for i in range(rows):
        x, end = x0, x0 + (x1 - x0) * uni(rng, 0.55, 1.0)
        top, bottom = y0 + i * step, y0 + (i + 0.45) * step
        while x < end:
            width = uni(rng, 0.04, 0.16) * (x1 - x0)
            draw.rectangle([x, top, min(x + width, end), max(bottom, top)], fill=rgb8(color))
            x += width + 0.03 * (x1 - x0)


def big_word(rng: np.random.Generator, draw: Any, area: Rect, color: Color) -> None:
    """Write a brand name as large as fits into an area [px]."""
    from PIL import ImageFont

    name = word(rng)
    x0, y0, x1, y1 = area
    size = max(int(min((y1 - y0), 1.5 * (x1 - x0) / len(name))), 6)
    font = ImageFont.load_default(size)
    draw.text(((x0 + x1) / 2, (y0 + y1) / 2), name, rgb8(color), font=font, anchor="mm")


def blob(rng: np.random.Generator, draw: Any, area: Rect, color: Color) -> None:
    """Draw one emblem into an area: disc, star, blob, stripes, leaf pair."""
    x0, y0, x1, y1 = area
    cx, cy, r = (x0 + x1) / 2, (y0 + y1) / 2, min(x1 - x0, y1 - y0) / 2
    kind = pick(rng, ["disc", "ring", "star", "blob", "bars"])
    if kind == "disc":
        draw.ellipse([cx - r, cy - r, cx + r, cy + r], fill=rgb8(color))
    elif kind == "ring":
        draw.ellipse(
            [cx - r, cy - r, cx + r, cy + r], outline=rgb8(color), width=max(int(r / 4), 1)
        )
    elif kind == "bars":
        for k in range(4):
            x = x0 + (x1 - x0) * k / 4
            draw.rectangle(
                [x, y1 - (y1 - y0) * uni(rng, 0.3, 1), x + (x1 - x0) / 6, y1], fill=rgb8(color)
            )
    else:
        n = int(rng.integers(5, 8))
        a = np.arange(2 * n) / (2 * n) * 2 * np.pi - np.pi / 2
        low = 0.45 if kind == "star" else 0.8
        radius = np.where(np.arange(2 * n) % 2, low * r, r)
        if kind == "blob":
            radius = r * rng.uniform(0.6, 1.0, 2 * n)
        draw.polygon(
            [(cx + q * np.cos(t), cy + q * np.sin(t)) for q, t in zip(radius, a, strict=True)],
            fill=rgb8(color),
        )


def panel(rng: np.random.Generator, draw: Any, area: Rect, ground: Color, accent: Color) -> None:
    """Draw one packaging panel: brand, emblem, band, small print."""
    x0, y0, x1, y1 = area
    w, h = x1 - x0, y1 - y0
    ink = contrast(ground)
    draw.rectangle(area, fill=rgb8(ground))
    if chance(rng, 0.7):
        t = uni(rng, 0.05, 0.3)
        top = pick(rng, [0.0, 1 - t, uni(rng, 0.2, 0.6)])
        draw.rectangle([x0, y0 + top * h, x1, y0 + (top + t) * h], fill=rgb8(accent))
    order = pick(rng, [(0.06, 0.32, 0.78), (0.3, 0.5, 0.08), (0.12, 0.42, 0.8)])
    big_word(
        rng, draw, (x0 + 0.08 * w, y0 + order[0] * h, x1 - 0.08 * w, y0 + (order[0] + 0.2) * h), ink
    )
    emblem = tint(rng, "bright", "pastel", "glaze")
    m = uni(rng, 0.12, 0.3)
    blob(rng, draw, (x0 + m * w, y0 + order[1] * h, x1 - m * w, y0 + (order[1] + 0.34) * h), emblem)
    text_lines(
        rng,
        draw,
        (x0 + 0.1 * w, y0 + order[2] * h, x1 - 0.1 * w, y0 + (order[2] + 0.14) * h),
        ink,
        4,
    )


def wrap_label(
    rng: np.random.Generator,
    base: Color,
    low: float,
    high: float,
    width: int = 256,
    height: int = 192,
) -> np.ndarray:
    """Texture of a turned body: `base`, with a printed band for v in [low, high]; front at u 0.5."""
    ground, accent = tint(rng, "bright", "neutral", "pastel"), tint(rng, "bright", "dark", "glaze")
    image, draw = new_image(base, width, height)
    y0, y1 = (1 - high) * height, (1 - low) * height
    draw.rectangle([0, y0, width, y1], fill=rgb8(ground))
    half = width * uni(rng, 0.14, 0.22)
    back = width * 0.2
    panel(rng, draw, (width / 2 - half, y0, width / 2 + half, y1), ground, accent)
    text_lines(
        rng,
        draw,
        (0.04 * width, y0 + 0.15 * (y1 - y0), back, y1 - 0.1 * (y1 - y0)),
        contrast(ground),
        9,
    )
    x = width * 0.82
    for _ in range(9):  # bar code
        draw.rectangle(
            [x, y0 + 0.4 * (y1 - y0), x + uni(rng, 0, 2), y0 + 0.8 * (y1 - y0)],
            fill=rgb8(contrast(ground)),
        )
        x += uni(rng, 2, 5)
    return np.asarray(image)


def box_art(rng: np.random.Generator, size: int = 256) -> np.ndarray:
    """Texture for `box(atlas=True)`: front and back panels, small print sides, plain top."""
    ground = tint(rng, "bright", "neutral", "pastel", "glaze")
    accent = tint(rng, "bright", "dark", "neutral")
    height = size * 3 // 4
    image, draw = new_image(ground, size, height)
    w, h = size / 3, height / 2
    panel(rng, draw, (0, 0, w - 1, h), ground, accent)
    panel(rng, draw, (2 * w, 0, size, h), ground, accent)
    ink = contrast(ground)
    text_lines(rng, draw, (1.1 * w, 0.15 * h, 1.9 * w, 0.85 * h), ink, 9)
    text_lines(rng, draw, (0.1 * w, 1.2 * h, 0.9 * w, 1.7 * h), ink, 6)
    draw.rectangle([w, h, 3 * w, 2 * h], fill=rgb8(ground))
    big_word(rng, draw, (1.1 * w, 1.3 * h, 1.9 * w, 1.7 * h), ink)
    return np.asarray(image)


def pattern(
    rng: np.random.Generator, color: Color, width: int = 192, height: int = 128
) -> np.ndarray:
    """Decor for crockery and textiles: bands, stripes, dots, zigzag, motif at the front."""
    second = tint(rng, "glaze", "bright", "neutral")
    image, draw = new_image(color, width, height)
    kind = pick(rng, ["bands", "stripes", "dots", "zigzag", "motif", "motif", "half"])
    if kind == "bands":
        for _ in range(int(rng.integers(1, 5))):
            y = uni(rng, 0, height)
            draw.rectangle([0, y, width, y + uni(rng, 2, 16)], fill=rgb8(second))
    elif kind == "stripes":
        n = int(rng.integers(6, 20))
        for k in range(n):
            draw.rectangle(
                [k * width / n, 0, (k + uni(rng, 0.3, 0.5)) * width / n, height], fill=rgb8(second)
            )
    elif kind == "dots":
        n, r = int(rng.integers(6, 14)), uni(rng, 2, 6)
        for i in range(n):
            for j in range(n // 2 + 1):
                x, y = (i + 0.5 * (j % 2)) * width / n, (j + 0.5) * height / (n // 2 + 1)
                draw.ellipse([x - r, y - r, x + r, y + r], fill=rgb8(second))
    elif kind == "zigzag":
        n, y = int(rng.integers(5, 14)), uni(rng, 0.3, 0.7) * height
        points = [(k * width / (2 * n), y + (8 if k % 2 else -8)) for k in range(2 * n + 1)]
        draw.line(points, fill=rgb8(second), width=int(rng.integers(3, 9)))
    elif kind == "half":
        draw.rectangle([0, height * uni(rng, 0.4, 0.7), width, height], fill=rgb8(second))
    else:
        r = 0.3 * height
        area = (width / 2 - r, height * 0.2, width / 2 + r, height * 0.2 + 1.6 * r)
        blob(rng, draw, area, second)
        big_word(rng, draw, (area[0], area[3], area[2], area[3] + 20), second)
    return np.asarray(image)


def panels(
    rng: np.random.Generator, color: Color, width: int = 192, height: int = 96
) -> np.ndarray:
    """Ball covers (height, width, 3): gores, patches, belts or seams over an equirectangular map."""
    second, third = tint(rng, "bright", "neutral", "dark"), tint(rng, "bright", "dark")
    image, draw = new_image(color, width, height)
    kind = pick(rng, ["gores", "patches", "belt", "seams"])
    if kind == "gores":
        n = int(rng.integers(3, 6)) * 2
        for k in range(0, n, 2):
            fill = rgb8(pick(rng, [second, third]))
            draw.rectangle([k * width / n, 0, (k + 1) * width / n, height], fill=fill)
    elif kind == "patches":
        for row, n in ((0.0, 1), (0.3, 5), (0.68, 5), (1.0, 1)):
            for k in range(n):
                x, y = ((k + 0.5 * (row > 0.5)) / n * width) % width, row * height
                r = height * 0.1
                grow = 1 / max(np.sin(np.pi * row), 0.12)
                a = np.arange(5) / 5 * 2 * np.pi
                draw.polygon(
                    [(x + r * grow * np.cos(t), y + r * np.sin(t)) for t in a], fill=rgb8(second)
                )
    elif kind == "belt":
        draw.rectangle([0, 0.4 * height, width, 0.6 * height], fill=rgb8(second))
        big_word(
            rng, draw, (0.3 * width, 0.38 * height, 0.7 * width, 0.62 * height), contrast(second)
        )
    else:
        u = np.arange(width + 1)
        for phase in (0, 0.5):
            y = height * (0.5 + 0.3 * np.sin(2 * np.pi * (2 * u / width + phase)))
            draw.line(
                [(float(a), float(b)) for a, b in zip(u, y, strict=True)],
                fill=rgb8(second),
                width=3,
            )
        draw.line([(0, height / 2), (width, height / 2)], fill=rgb8(second), width=2)
    return np.asarray(image)


def screen(rng: np.random.Generator, width: int = 192, height: int = 128) -> np.ndarray:
    """A display: switched off, a desktop with windows, or a picture."""
    kind = pick(rng, ["off", "off", "desk", "icons"])
    ground = (0.03, 0.03, 0.04) if kind == "off" else tint(rng, "bright", "pastel", "dark")
    image, draw = new_image(ground, width, height)
    if kind == "desk":
        for _ in range(int(rng.integers(1, 4))):
            x, y = uni(rng, 0, 0.5) * width, uni(rng, 0, 0.5) * height
            w, h = uni(rng, 0.3, 0.5) * width, uni(rng, 0.3, 0.5) * height
            draw.rectangle([x, y, x + w, y + h], fill=(245, 245, 248))
            draw.rectangle([x, y, x + w, y + 7], fill=rgb8(tint(rng, "bright", "dark")))
            text_lines(rng, draw, (x + 5, y + 14, x + w - 5, y + h - 4), (0.3, 0.3, 0.35), 6)
    elif kind == "icons":
        n = 4
        size = 0.3 * width / n
        for i in range(n):
            for j in range(max(int(n * height / width), 1)):
                x, y = (i + 0.5) * width / n, (j + 0.5) * width / n
                draw.rounded_rectangle(
                    [x - size, y - size, x + size, y + size],
                    5,
                    fill=rgb8(tint(rng, "bright", "pastel")),
                )
    return np.asarray(image)


def dial(rng: np.random.Generator, size: int = 160) -> np.ndarray:
    """A clock face (size, size, 3) with numerals or ticks, and hands."""
    from PIL import ImageFont

    ground = tint(rng, "neutral", "neutral", "dark", "pastel")
    ink = contrast(ground)
    image, draw = new_image(ground, size, size)
    c, numerals = size / 2, chance(rng, 0.6)
    font = ImageFont.load_default(size // 9)
    for hour in range(1, 13):
        a = np.radians(30 * hour - 90)
        x, y = c + 0.38 * size * np.cos(a), c + 0.38 * size * np.sin(a)
        if numerals:
            draw.text((x, y), str(hour), rgb8(ink), font=font, anchor="mm")
        else:
            end = (c + 0.46 * size * np.cos(a), c + 0.46 * size * np.sin(a))
            draw.line([(x, y), end], fill=rgb8(ink), width=4 if hour % 3 == 0 else 2)
    for reach, width in ((0.22, 6), (0.34, 4)):
        a = uni(rng, 0, 2 * np.pi)
        draw.line(
            [(c, c), (c + reach * size * np.cos(a), c + reach * size * np.sin(a))],
            fill=rgb8(ink),
            width=width,
        )
    return np.asarray(image)
