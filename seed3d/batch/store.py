"""The output: a local folder, or an fsspec URL."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from seed3d.batch.find import STATE
from seed3d.batch.places import filesystem, is_url, local_path
from seed3d.errors import ExportError
from seed3d.report import REPORT

RUNTIME = f"{STATE}/runtime"
_WORK = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.tmp")


class Store(Protocol):
    """Where assets and records go. Paths are relative, with forward slashes."""

    def read(self, path: str) -> bytes | None:
        """Content of a file, None where there is none."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file; it's there complete or as it was before."""

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files that may be there, and local folders that become empty."""

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """Write an asset; of an older one only what Seed3D didn't write stays."""

    def has(self, name: str, paths: Iterable[str]) -> bool:
        """Whether all these files are in the asset's folder."""
        ...

    def clean(self) -> None:
        """Remove what killed writers left."""


def open_store(out: str | Path) -> Store:
    """Return the store of a path or URL."""
    return UrlStore(str(out)) if is_url(str(out)) else FolderStore(local_path(str(out)))


def old_files(store: Store, name: str) -> list[str]:
    """Files that Seed3D wrote to an asset's folder, by its report; the report is last."""
    data = store.read(f"{name}/{REPORT}")
    return [*json.loads(data).get("files", {}), REPORT] if data else []


class FolderStore:
    """A local or mounted folder; renames make writes atomic."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def read(self, path: str) -> bytes | None:
        """See Store."""
        try:
            return (self.folder / path).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes) -> None:
        """See Store."""
        target, work = self.folder / path, self.folder / RUNTIME
        for folder in (target.parent, work):
            folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix="write-", dir=work)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)

    def remove(self, paths: Iterable[str]) -> None:
        """See Store."""
        for path in paths:
            (self.folder / path).unlink(missing_ok=True)
            for parent in (self.folder / path).parents:
                if parent == self.folder or not parent.is_dir() or any(parent.iterdir()):
                    break
                parent.rmdir()

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """See Store."""
        from seed3d.export import write_files

        write_files(files, self.folder / name)

    def has(self, name: str, paths: Iterable[str]) -> bool:
        """See Store."""
        return all((self.folder / name / path).is_file() for path in paths)

    def clean(self) -> None:
        """Remove work folders; an asset that was being replaced is put back first."""
        for path in self.folder.glob(".*.tmp"):
            match = _WORK.fullmatch(path.name)
            if match is None or not path.is_dir():
                continue
            target = self.folder / match[1]
            if (path / "old").is_dir() and not target.exists():
                (path / "old").rename(target)
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.folder / RUNTIME).glob("write-*"):
            path.unlink(missing_ok=True)


class UrlStore:
    """An object store. An asset without its record is half-written and will be done again."""

    def __init__(self, url: str) -> None:
        self.fs, self.base = filesystem(url.rstrip("/"))
        self.base = self.base.rstrip("/")

    def read(self, path: str) -> bytes | None:
        """See Store."""
        try:
            return self.fs.cat_file(f"{self.base}/{path}")
        except FileNotFoundError:
            return None

    def write(self, path: str, data: bytes) -> None:
        """See Store."""
        target = f"{self.base}/{path}"
        try:
            self.fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
            self.fs.pipe_file(target, data)
        except OSError as error:
            raise ExportError(f"{target}: could not be written ({error})") from error

    def remove(self, paths: Iterable[str]) -> None:
        """See Store."""
        for path in paths:
            if self.fs.exists(f"{self.base}/{path}"):
                self.fs.rm_file(f"{self.base}/{path}")

    def put(self, name: str, files: Mapping[str, bytes]) -> None:
        """See Store."""
        stale = set(old_files(self, name)) - set(files)
        for path, data in files.items():
            self.write(f"{name}/{path}", data)
        self.remove(f"{name}/{path}" for path in sorted(stale))

    def has(self, name: str, paths: Iterable[str]) -> bool:
        """See Store."""
        found: Any = self.fs.find(f"{self.base}/{name}")
        present = {str(path) for path in found}
        return all(f"{self.base}/{name}/{path}" in present for path in paths)

    def clean(self) -> None:
        """Nothing: every file is written at once, and `put` overwrites."""
