"""A training set as one small file, to carry to another machine.

Photos become WebP, masks lossless WebP, grids LZMA of the int8 TSDF: about a tenth of the records'
size. Unpacking gives records that differ from the originals only by the photos' compression.
"""

from __future__ import annotations

import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.errors import InputError

QUALITY = 80


def pack(records: Path, target: Path, views: int = 2, progress: Callable[[Any], Any] = iter) -> int:
    """Write every record's grid, attributes and first `views` photos; returns the bytes written."""
    from seed3d.train.data import record_paths

    part = target.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
        for path in progress(record_paths(records)):
            with np.load(path) as record:
                archive.writestr(zipfile.ZipInfo(f"{path.stem}.tsdf"), _squeezed(record["tsdf"]))
                about = {"attributes": json.loads(record["attributes"].tobytes()),
                         "cameras": record["cameras"][:views].tolist()}  # fmt: skip
                archive.writestr(zipfile.ZipInfo(f"{path.stem}.json"), json.dumps(about))
                for i in range(min(views, len(record["rgb"]))):
                    archive.writestr(
                        zipfile.ZipInfo(f"{path.stem}.{i}.rgb"), _webp(record["rgb"][i])
                    )
                    archive.writestr(zipfile.ZipInfo(f"{path.stem}.{i}.mask"),
                                     _webp(record["mask"][i], lossless=True))  # fmt: skip
    part.replace(target)
    return target.stat().st_size


def unpack(source: Path, records: Path) -> int:
    """Write the records of a packed set; returns their number.

    Raises:
        InputError: The file is no packed set.
    """
    if not zipfile.is_zipfile(source):
        raise InputError(f"{source}: got no packed training set; make one with `seed3d data pack`")
    records.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(source) as archive:
        names = [Path(n).stem for n in archive.namelist() if n.endswith(".json")]
        for name in names:
            if Path(name).name != name:
                raise InputError(f"{source}: got the entry {name!r}; wanted plain names")
            about = json.loads(archive.read(f"{name}.json"))
            cameras = np.array(about["cameras"], np.float32)
            photos = range(len(cameras))
            np.savez(
                records / f"{name}.npz",
                tsdf=_swollen(archive.read(f"{name}.tsdf")),
                rgb=np.stack([_pixels(archive.read(f"{name}.{i}.rgb"), "RGB") for i in photos]),
                mask=np.stack([_pixels(archive.read(f"{name}.{i}.mask"), "L") for i in photos]),
                cameras=cameras,
                attributes=np.frombuffer(
                    json.dumps(about["attributes"], sort_keys=True).encode(), np.uint8
                ),
            )
    return len(names)


def _squeezed(grid: np.ndarray) -> bytes:
    """LZMA of the differences along x, which are small: (R, R, R) int8."""
    steps = np.diff(grid, axis=0, prepend=np.zeros_like(grid[:1]))  # wraps, as adding does
    side = np.uint16(len(grid)).tobytes()
    return side + lzma.compress(steps.tobytes(), preset=6)


def _swollen(data: bytes) -> np.ndarray:
    side = int(np.frombuffer(data[:2], np.uint16)[0])
    steps = np.frombuffer(lzma.decompress(data[2:]), np.int8).reshape((side,) * 3)
    return np.cumsum(steps, axis=0, dtype=np.int8)


def _webp(image: np.ndarray, lossless: bool = False) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "WEBP", quality=QUALITY, lossless=lossless, method=4)
    return buffer.getvalue()


def _pixels(data: bytes, mode: str) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert(mode))
