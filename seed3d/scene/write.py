"""The one place that writes a scene to disk."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from seed3d.errors import ExportError
from seed3d.export.write import write_files


def write_scene(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write a scene's files: the folder is complete or as it was before.

    Raises:
        ExportError: The folder holds other things than an older scene, or the disk refused.
    """
    target = folder.resolve()
    if not target.is_dir() or not any(target.iterdir()):
        return write_files(files, folder)
    if not _is_scene(target):
        raise ExportError(
            f"{folder}: got a folder that holds other things; wanted an empty one or an older "
            "scene. Choose another one with -o."
        )
    with tempfile.TemporaryDirectory(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    ) as work:
        new = write_files(files, Path(work) / "new")
        old = Path(work) / "old"
        try:
            target.rename(old)
            try:
                new.rename(target)
            finally:
                if not target.exists():
                    old.rename(target)
            _keep_foreign(old, target)
        except OSError as error:
            raise ExportError(f"{folder}: could not be written ({error.strerror})") from error
    return folder


def _keep_foreign(old: Path, target: Path) -> None:
    """Files in the older scene that Seed3D didn't write are the user's."""
    ours = set(json.loads((old / "report.json").read_text(encoding="utf-8"))["files"])
    for path in sorted(old.rglob("*")):
        relative = path.relative_to(old)
        written = relative.as_posix() in ours or relative.as_posix() == "report.json"
        if path.is_file() and not written and not (target / relative).exists():
            (target / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / relative)


def _is_scene(folder: Path) -> bool:
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(report, dict) and report.get("format") == "seed3d-scene-report"
