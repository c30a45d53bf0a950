"""Numbers, images and XML to bytes, the same on every run."""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np


def number(value: float) -> str:
    """Return a decimal text of 12 significant digits, 0 for -0."""
    value = float(value) + 0.0  # -0.0 + 0.0 is 0.0
    return f"{value:.12g}"


def numbers(values: Iterable[float]) -> str:
    """Return `number` of each value, joined by single spaces."""
    return " ".join(number(v) for v in values)


def float32(values: np.ndarray) -> np.ndarray:
    """Round to float32 with no negative zeros.

    Every mesh file holds these values: OBJ as 9 digits (which identify a float32), GLB and USD
    as binary float32. So a loaded asset gives the same files again.
    """
    return np.asarray(values, np.float32) + np.float32(0.0)


def rows(prefix: str, values: np.ndarray) -> list[str]:
    """Return one text line per row of a float32 array (N, K), 9 significant digits."""
    template = prefix + " %.9g" * values.shape[1]
    return [template % tuple(row) for row in values.tolist()]


def index_rows(template: str, values: np.ndarray) -> list[str]:
    """Return one text line per row of an integer array (N, K)."""
    return [template % tuple(row) for row in values.tolist()]


def png(image: np.ndarray) -> bytes:
    """Return an image (H, W, 3 or 4) uint8, or (H, W) uint8, as PNG."""
    return _png(image.tobytes(), image.shape, image.dtype.str)


@lru_cache(maxsize=4)  # every format wants the same few textures, and deflate is slow
def _png(pixels: bytes, shape: tuple[int, ...], dtype: str) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    image = Image.fromarray(np.frombuffer(pixels, dtype).reshape(shape))
    image.save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()


def element(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    """Append a child with attributes in the order given; `class_` stands for `class`."""
    clean = {key.rstrip("_"): value for key, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, clean)


def xml(root: ElementTree.Element) -> bytes:
    """Return an indented XML document, UTF-8."""
    ElementTree.indent(root, space="  ")
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()
