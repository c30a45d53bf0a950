"""Decoding: every format and depth against pixels known by construction; every error message."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from seed3d.config import ImageConfig
from seed3d.errors import InputError
from seed3d.image.load import decode, read_file

GRADIENT = np.stack(np.meshgrid(np.arange(0, 240, 4), np.arange(0, 160, 4)), -1)  # (40, 60, 2)
RGB = np.dstack([GRADIENT, np.full((40, 60), 90)]).astype(np.uint8)

NOISE = np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8)


def encode(image, format="PNG", **options):
    buffer = io.BytesIO()
    image = image if isinstance(image, Image.Image) else Image.fromarray(image)
    image.save(buffer, format, **options)
    return buffer.getvalue()


def png(width, height, depth, kind, rows=b""):
    """A PNG file written by hand, for what Pillow doesn't write."""

    def chunk(name, body):
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def icc_profile(swap):
    """A minimal ICC v2 display profile with sRGB's primaries and gamma 2.2; `swap` exchanges
    red and green, so a file with it shows its red channel as green."""
    xyz = {
        "r": (0.4360, 0.2225, 0.0139),
        "g": (0.3851, 0.7169, 0.0971),
        "b": (0.1431, 0.0606, 0.7141),
    }
    if swap:
        xyz["r"], xyz["g"] = xyz["g"], xyz["r"]

    def fixed(values):
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)

    tags = [(b"wtpt", fixed((0.9642, 1.0, 0.8249)))]
    tags += [(f"{c}XYZ".encode(), fixed(v)) for c, v in xyz.items()]
    tags += [(f"{c}TRC".encode(), b"curv\0\0\0\0" + struct.pack(">IHxx", 1, 563)) for c in "rgb"]
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for name, data in tags:
        table += name + struct.pack(">II", start + len(body), len(data))
        body += data
    head = struct.pack(">I4x", start + len(body)) + b"\x02\x10\0\0mntrRGB XYZ " + b"\0" * 12
    head += b"acsp" + b"\0" * 28 + struct.pack(">iii", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body


# Rotation and mirroring that undoes each EXIF orientation (EXIF 2.3, table of tag 0x0112).
UPRIGHT = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: a.transpose(1, 0, 2)[::-1, ::-1],
    8: lambda a: np.rot90(a),
}


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", UPRIGHT)
def test_exif_orientation_gives_the_upright_image(orientation, format):
    exif = Image.Exif()
    exif[0x0112] = orientation
    plain = decode(encode(RGB, format, quality=95), "a").rgb
    turned = decode(encode(RGB, format, quality=95, exif=exif), "a").rgb
    assert np.array_equal(turned, UPRIGHT[orientation](plain))


@pytest.mark.parametrize(
    ("format", "options", "error"),
    [
        ("PNG", {}, 0),
        ("BMP", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("JPEG", {"quality": 98, "subsampling": 0}, 4),
    ],
)
def test_formats_keep_rgb(format, options, error):
    photo = decode(encode(RGB, format, **options), "a")
    assert np.abs(photo.rgb.astype(int) - RGB).max() <= error
    assert photo.alpha is None
    assert photo.fallbacks == ()


def test_16_bit_grey_is_scaled_not_clipped():
    value = np.linspace(0, 65535, 40 * 60).reshape(40, 60).astype(np.uint16)
    photo = decode(encode(value), "a")
    assert np.array_equal(photo.rgb[..., 1], np.rint(value / 257.0).astype(np.uint8))


def test_16_bit_rgb_and_grey_alpha():
    rgb16 = (RGB.astype(np.uint16) * 257).astype(">u2")
    rows = b"".join(b"\0" + row.tobytes() for row in rgb16)
    assert np.array_equal(decode(png(60, 40, 16, 2, rows), "a").rgb, RGB)
    la16 = (RGB[..., :2].astype(np.uint16) * 257).astype(">u2")
    photo = decode(png(60, 40, 16, 4, b"".join(b"\0" + row.tobytes() for row in la16)), "a")
    assert np.array_equal(photo.rgb[..., 2], RGB[..., 0])
    assert np.array_equal(photo.alpha, RGB[..., 1])


def test_grey_alpha_palette_and_one_bit():
    grey_alpha = decode(encode(Image.fromarray(RGB[..., :2].copy(), "LA")), "a")
    assert np.array_equal(grey_alpha.rgb[..., 0], RGB[..., 0])
    assert np.array_equal(grey_alpha.alpha, RGB[..., 1])
    palette = Image.fromarray((RGB[..., 0] // 80).astype(np.uint8), "P")  # indices 0, 1, 2
    palette.putpalette([255, 0, 0, 10, 200, 30, 0, 0, 255])
    photo = decode(encode(palette, transparency=0), "a")
    assert np.array_equal(photo.alpha, np.where(RGB[..., 0] < 80, 0, 255))
    assert photo.rgb[0, 30].tolist() == [10, 200, 30]
    one_bit = decode(encode(Image.fromarray(RGB[..., 0] >= 120)), "a")
    assert np.array_equal(one_bit.rgb[..., 0], np.where(RGB[..., 0] >= 120, 255, 0))


def test_transparent_colour_of_16_bit_grey():
    value = np.full((40, 60), 30000, np.uint16)
    value[:10] = 777
    image = Image.fromarray(value)
    photo = decode(encode(image, transparency=777), "a")
    assert np.array_equal(photo.alpha, np.where(value == 777, 0, 255))


def test_cmyk_jpeg_is_not_inverted():
    cmyk = np.zeros((40, 60, 4), np.uint8)
    cmyk[..., 1:3] = 255  # full magenta and yellow ink: red
    photo = decode(encode(Image.fromarray(cmyk, "CMYK"), "JPEG", quality=95), "a")
    assert np.abs(photo.rgb.astype(int) - [255, 0, 0]).max() <= 8


@pytest.mark.parametrize("format", ["GIF", "WEBP"])
def test_first_frame_of_an_animation(format):
    frames = [Image.new("RGB", (60, 40), c) for c in ((200, 0, 0), (0, 0, 200))]
    data = encode(frames[0], format, save_all=True, append_images=frames[1:], duration=50)
    photo = decode(data, "clip")
    assert np.abs(photo.rgb.astype(int) - [200, 0, 0]).max() <= 8
    assert "clip has 2 frames; the first one is used" in photo.fallbacks[0].what


def test_colour_profile_is_applied():
    data = encode(RGB, icc_profile=icc_profile(swap=True))
    swapped = decode(data, "a").rgb.astype(int)
    assert np.abs(swapped[..., [1, 0, 2]] - RGB).max() <= 12  # gamma 2.2 against sRGB's curve
    plain = decode(encode(RGB, icc_profile=icc_profile(swap=False)), "a").rgb.astype(int)
    assert np.abs(plain - RGB).max() <= 12


def test_broken_colour_profile_is_reported_not_fatal():
    photo = decode(encode(RGB, icc_profile=b"nonsense"), "a.png")
    assert np.array_equal(photo.rgb, RGB)
    assert "colour profile of a.png can't be used" in photo.fallbacks[0].what


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"empty file \(0 bytes\); wanted a PNG"),
        (b"<?xml version='1.0'?><svg xmlns='x'/>", "got an SVG drawing; wanted a PNG"),
        (b"<!DOCTYPE html><html></html>", "got an HTML page; wanted a PNG"),
        (b"%PDF-1.7 ...", "got a PDF document"),
        (b"glTF\x02\0\0\0", "GLB model; use `seed3d simready`"),
        (b"\0\0\0\x18ftypheic", "got a HEIC, AVIF or video file"),
        (b"hello", r"got 5 bytes that are no known image"),
        (encode(NOISE)[:6000], "damaged or truncated PNG file"),
        (encode(NOISE, "JPEG")[:2000], "damaged or truncated JPEG file"),
        (encode(RGB[:1, :1]), "got 1 x 1 pixels; wanted at least 32 x 32"),
        (encode(RGB[:, :31]), "got 31 x 40 pixels; wanted at least 32 x 32"),
        (png(10_000, 10_000, 8, 2), r"10000 x 10000 = 100 million pixels; wanted at most 64"),
        (png(20_000, 10_000, 8, 2), r"got too many pixels .* wanted at most 64 million"),
        (encode(np.zeros((40, 40), np.float32), "TIFF"), "got floating-point pixels"),
        (encode(np.full((40, 40), 70_000, np.int32), "TIFF"), "integer pixels from 70000 to 70000"),
    ],
)
def test_bad_bytes_are_explained(data, message):
    with pytest.raises(InputError, match=message) as info:
        decode(data, "photo.png")
    assert str(info.value).startswith("photo.png: ")


def test_pixel_limit_is_an_option():
    with pytest.raises(InputError, match=r"image\.max_pixels"):
        decode(encode(RGB), "a", ImageConfig(max_pixels=2399))
    assert decode(encode(RGB), "a", ImageConfig(max_pixels=2400)).rgb.shape == (40, 60, 3)


def test_paths_are_explained(tmp_path):
    with pytest.raises(InputError, match="got a folder; wanted an image file"):
        read_file(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_file(tmp_path / "none.png")
    (tmp_path / "a.png").write_bytes(b"123")
    assert read_file(tmp_path / "a.png") == b"123"


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF"])
def test_damaged_files_decode_or_raise_our_error(format):
    rng = np.random.default_rng(0)
    data = encode(RGB, format)
    for _ in range(40):
        damaged = np.frombuffer(data, np.uint8).copy()
        at = rng.integers(0, min(len(damaged), 300), 6)
        damaged[at] = rng.integers(0, 256, 6)
        try:
            decode(damaged.tobytes()[: rng.integers(50, len(data) + 1)], "a")
        except InputError as error:
            assert "wanted" in str(error)
