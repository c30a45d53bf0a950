"""An asset's folder as zip files, one per format."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from seed3d.errors import ExportError, near_miss

PARTS = {
    "urdf": ("*.urdf", "meshes/*", "textures/*"),
    "mjcf": ("*.xml", "meshes/*", "textures/*"),
    "usd": ("usd/*", "usd/textures/*"),
    "glb": ("*.glb",),
}
"""Which files a format consists of; report.json and preview.png go into every zip."""
ALWAYS = ("report.json", "preview.png")


def zip_asset(folder: Path, name: str, form: str) -> bytes:
    """Return a zip with the files of one format, or of all; same files, same bytes.

    Args:
        folder: The asset's folder.
        name: Folder name inside the zip.
        form: urdf, mjcf, usd, glb or all.

    Raises:
        ExportError: Unknown format, or the asset was made without it.
    """
    if form != "all" and form not in PARTS:
        raise ExportError(f"unknown format {form!r}.{near_miss(form, [*PARTS, 'all'])}")
    patterns = ("**/*",) if form == "all" else (*PARTS[form], *ALWAYS)
    files = sorted({p for pattern in patterns for p in folder.glob(pattern) if p.is_file()})
    if form != "all" and not any(folder.glob(PARTS[form][0])):
        raise ExportError(f"{name} was made without {form}. Make it again with that format")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in files:
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()
