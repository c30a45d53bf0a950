"""Bytes of an image file to upright 8-bit sRGB pixels, with limits checked before decoding."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seed3d.config import ImageConfig
from seed3d.errors import InputError
from seed3d.types import Fallback

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF")
WANTED = "wanted a PNG, JPEG, WebP, BMP, TIFF or GIF image"
MIN_SIDE = 32
"""Smallest width and height [pixel] that can show an object's shape."""

# First bytes of what people rename or pass by mistake; only for a better message.
_LOOKALIKES = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"glTF", "a GLB model; use `seed3d simready` for meshes"),
    (b"\x76\x2f\x31\x01", "an OpenEXR image"),
    (b"8BPS", "a Photoshop file"),
    (b"version https://git-lfs", "a Git LFS pointer; run `git lfs pull`"),
)
# What Pillow raises on damaged files, measured by damaging files of every format.
_DECODE_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    struct.error,
    zlib.error,
    KeyError,
    TypeError,
)


@dataclass(frozen=True)
class Photo:
    """A decoded image, upright."""

    rgb: np.ndarray
    """(H, W, 3) uint8 sRGB. Meaningless where alpha is 0."""
    alpha: np.ndarray | None
    """(H, W) uint8, 255 is opaque; None where the file has no transparency."""
    fallbacks: tuple[Fallback, ...] = ()


def read_file(path: Path) -> bytes:
    """Return the bytes of an image file.

    Raises:
        InputError: Missing, a folder, empty or unreadable.
    """
    if path.is_dir():
        raise InputError(f"{path}: got a folder; wanted an image file. Give the files in it")
    if not path.exists():
        raise InputError(f"{path}: no such file; wanted an image file. Check the path")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: can't be read ({error.strerror}); wanted a readable image file."
            " Check its permissions"
        ) from error
    return data


def decode(data: bytes, name: str, config: ImageConfig | None = None) -> Photo:
    """Decode an image.

    EXIF orientation and an embedded colour profile are applied; 16-bit is scaled to 8-bit; of an
    animation or multi-page file the first frame is taken.

    Args:
        data: The file's bytes.
        name: Name for messages.
        config: For its pixel limit, checked on the header.

    Raises:
        InputError: Not an image, damaged, too small or too large.
    """
    config = config or ImageConfig()
    if not data:
        raise InputError(f"{name}: got an empty file (0 bytes); {WANTED}. Copy the file again")
    notes: list[Fallback] = []
    image = _open(data, name, config)
    _check_size(image.size, name, config)
    try:
        frames = getattr(image, "n_frames", 1)
        image.load()
    except _DECODE_ERRORS as error:
        raise InputError(
            f"{name}: damaged or truncated {image.format} file ({error}); wanted a complete one."
            " Save or download it again"
        ) from error
    if frames > 1 and image.format != "MPO":  # MPO: a phone's JPEG with extra views
        notes.append(Fallback("image", f"{name} has {frames} frames; the first one is used"))
    image = _upright(image, name, notes)
    rgb, alpha = _to_rgb_alpha(image, name, notes)
    return Photo(np.asarray(rgb), None if alpha is None else np.asarray(alpha), tuple(notes))


def _open(data: bytes, name: str, config: ImageConfig) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Pillow's own, lower limit; ours is checked next, with a message of ours.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError as error:
        raise InputError(
            f"{name}: got {_lookalike(data)}; {WANTED}. Convert it, or check that the file"
            " is what its name says"
        ) from error
    except Image.DecompressionBombError as error:
        raise InputError(
            f"{name}: got too many pixels ({error}); wanted at most {config.max_pixels / 1e6:g}"
            " million (image.max_pixels). Make the image smaller"
        ) from error
    except _DECODE_ERRORS as error:
        raise InputError(
            f"{name}: damaged image header ({error}); {WANTED}. Save or download it again"
        ) from error


def _lookalike(data: bytes) -> str:
    head = data[:512].lstrip().lower()
    if b"<svg" in head:
        return "an SVG drawing"
    if head.startswith(b"<!doctype html") or b"<html" in head:
        return "an HTML page"
    if data[4:8] == b"ftyp":
        return "a HEIC, AVIF or video file"
    for magic, what in _LOOKALIKES:
        if data.startswith(magic):
            return what
    return f"{len(data)} bytes that are no known image (they start with {data[:8]!r})"


def _check_size(size: tuple[int, int], name: str, config: ImageConfig) -> None:
    width, height = size
    if width * height > config.max_pixels:
        raise InputError(
            f"{name}: got {width} x {height} = {width * height / 1e6:.0f} million pixels; wanted at"
            f" most {config.max_pixels / 1e6:g} million (image.max_pixels). Make the image smaller;"
            f" {config.size} pixels across the object are enough"
        )
    if min(size) < MIN_SIDE:
        raise InputError(
            f"{name}: got {width} x {height} pixels; wanted at least {MIN_SIDE} x {MIN_SIDE}."
            " Use a larger photo of the object"
        )


def _upright(image: Image, name: str, notes: list[Fallback]) -> Image:
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except _DECODE_ERRORS as error:
        what = f"the EXIF data of {name} can't be read ({error}); taken as upright"
        notes.append(Fallback("image", what))
        return image


def _to_rgb_alpha(
    image: Image, name: str, notes: list[Fallback]
) -> tuple[Image | np.ndarray, Image | np.ndarray | None]:
    if image.mode == "I" or image.mode.startswith("I;16"):
        return _from_16_bit(image, name)
    if image.mode == "F":
        raise InputError(
            f"{name}: got floating-point pixels, whose range is unknown; wanted 8- or 16-bit"
            " integers. Export it as PNG or JPEG"
        )
    alpha = None
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        alpha = rgba.getchannel("A")
        # Grey and alpha: the profile, if any, is one of a grey image.
        image = image.convert("L") if image.mode == "LA" else rgba.convert("RGB")
    elif image.mode in ("P", "1", "YCbCr", "HSV", "RGBX"):
        image = image.convert("RGB")
    return _to_srgb(image, name, notes), alpha


def _from_16_bit(image: Image, name: str) -> tuple[np.ndarray, np.ndarray | None]:
    value = np.asarray(image).astype(np.int64)
    if value.min() < 0 or value.max() > 65535:
        raise InputError(
            f"{name}: got integer pixels from {value.min()} to {value.max()}; wanted 0 to 65535"
            " (16-bit). Export it as 8- or 16-bit PNG"
        )
    grey = ((value + 128) // 257).astype(np.uint8)  # 65535 / 255 = 257, rounded to the nearest
    clear = image.info.get("transparency")
    alpha = np.where(value == clear, 0, 255).astype(np.uint8) if isinstance(clear, int) else None
    return np.repeat(grey[..., None], 3, axis=2), alpha


def _to_srgb(image: Image, name: str, notes: list[Fallback]) -> Image:
    from PIL import ImageCms

    data = image.info.get("icc_profile")
    if data:
        try:
            profile = ImageCms.ImageCmsProfile(io.BytesIO(data))
            if "srgb" in ImageCms.getProfileDescription(profile).lower():
                return image.convert("RGB")
            srgb = ImageCms.createProfile("sRGB")
            converted = ImageCms.profileToProfile(image, profile, srgb, outputMode="RGB")
            if converted is not None:
                return converted
        except (ImageCms.PyCMSError, OSError, ValueError) as error:
            what = f"the colour profile of {name} can't be used ({error}); colours taken as sRGB"
            notes.append(Fallback("image", what))
    try:
        return image.convert("RGB")
    except ValueError as error:
        raise InputError(
            f"{name}: got {image.mode} pixels that can't be converted ({error}); wanted grey,"
            " RGB, CMYK or palette. Export it as PNG or JPEG"
        ) from error
