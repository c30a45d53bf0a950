"""Files that a model names (textures, material libraries), read from its own folder only."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

MAX_ASSET_BYTES = 256 * 1024 * 1024
"""Largest side file (texture, buffer, material library) that is read [byte]."""

MAX_TEXTURE_PIXELS = 64_000_000
"""Largest texture that is decoded [pixel]; checked on the header."""

IMAGE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".bmp", ".tga", ".tif", ".tiff", ".gif", ".webp"}
)


class ModelFolder:
    """The resolver that trimesh asks for side files.

    Names may use backslashes, percent escapes and another case than the disk. What is outside
    of the folder, missing, too large or not decodable is not handed out but noted in `losses`.
    """

    def __init__(self, folder: Path | None, extra: dict[str, bytes] | None = None) -> None:
        """Serve the files under `folder` (None: no files) and the named blobs in `extra`."""
        self.folder = folder.resolve() if folder is not None else None
        self.extra = dict(extra or {})
        self.losses: dict[str, str] = {}
        self.file_name = "model"

    def get(self, name: str) -> bytes:
        """Return the bytes of a side file.

        Raises:
            FileNotFoundError: Not there, or not allowed; the reason is in `losses`.
        """
        if name in self.extra:
            return self.extra[name]
        data, loss = self._read(name)
        if data is None:
            self.losses[name] = loss
            raise FileNotFoundError(f"{name}: {loss}")
        return data

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self.extra or self._find(name)[0] is not None

    def keys(self) -> Iterator[str]:
        """Iterate over the names of the blobs that were added by hand."""
        return iter(self.extra)

    def _find(self, name: str) -> tuple[Path | None, str]:
        if self.folder is None:
            return None, "there is no folder to look in"
        clean = unquote(name.strip().strip('"').replace("\\", "/"))
        if "\0" in clean:
            return None, "not a file name"
        asked = self.folder / clean
        # Authors' absolute paths ("C:/work/wood.jpg") mean the file beside the model.
        beside = self.folder / clean.rsplit("/", 1)[-1]
        outside = False
        for path in (asked, beside):
            found = _any_case(path)
            if found is None:
                continue
            if found.resolve().is_relative_to(self.folder):
                return found, ""
            outside = True
        return None, "it is outside of the model's folder" if outside else "the file is missing"

    def _read(self, name: str) -> tuple[bytes | None, str]:
        path, loss = self._find(name)
        if path is None:
            return None, loss
        size = path.stat().st_size
        if size > MAX_ASSET_BYTES:
            return None, f"the file has {size} bytes; at most {MAX_ASSET_BYTES} are read"
        data = path.read_bytes()
        if path.suffix.lower() in IMAGE_SUFFIXES:
            loss = image_loss(data)
            if loss:
                return None, loss
        return data, ""


def image_loss(data: bytes) -> str:
    """Return why an encoded image can't be used as a texture, or "" when it can (header only)."""
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data)) as image:
            width, height = image.size
    except PIL.Image.DecompressionBombError as error:
        return str(error)
    except (OSError, SyntaxError, ValueError) as error:
        return f"not a readable image ({error})"
    if width * height > MAX_TEXTURE_PIXELS:
        return f"{width} x {height} pixels; at most {MAX_TEXTURE_PIXELS} are decoded"
    return ""


def _any_case(path: Path) -> Path | None:
    """Return the existing file of that name, else one that differs in case only, else None."""
    try:
        if path.is_file():
            return path
        if not path.parent.is_dir():
            return None
        wanted = path.name.casefold()
        matches = (p for p in sorted(path.parent.iterdir()) if p.name.casefold() == wanted)
        return next((p for p in matches if p.is_file()), None)
    except OSError:  # a name too long for the file system, or a folder we may not read
        return None
