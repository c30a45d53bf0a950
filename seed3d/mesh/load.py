"""Read GLB, glTF, OBJ, PLY and STL files into a `Surface`."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

from seed3d.errors import InputError
from seed3d.mesh.folder import ModelFolder
from seed3d.mesh.gltf_check import check_gltf, read_header
from seed3d.mesh.gltf_unpack import unpack_gltf
from seed3d.mesh.obj_text import prepare_obj
from seed3d.mesh.surface import surface_from_trimesh
from seed3d.types import Fallback, Surface

UP_AXIS = {".glb": "y", ".gltf": "y", ".obj": "y", ".ply": "z", ".stl": "z"}
"""Supported suffixes, and the up axis that each format usually has."""

MAX_FILE_BYTES = 512 * 1024 * 1024
"""Largest model file that is read [byte]."""

# What trimesh, numpy and Pillow raise on damaged files. Anything else is a bug and passes.
_DAMAGED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    NotImplementedError,
    OSError,
    EOFError,
    RecursionError,
    MemoryError,
    struct.error,
)


def load_surface(
    data: bytes | Path | str,
    suffix: str | None = None,
    *,
    folder: Path | None = None,
    up: str | None = None,
    normals: str = "file",
) -> Surface:
    """Read a model file into one `Surface` in the world frame (Z up, X forward).

    All node transforms are applied; lengths stay in the file's unit. Materials keep base
    colour, metallic and roughness (factors and textures); opacity and emission are dropped.

    Args:
        data: The file's path or its bytes.
        suffix: Format, such as ``".glb"``; None takes the path's.
        folder: Where textures and material libraries may be read from, nothing outside of it;
            None takes the path's folder, and for bytes reads none.
        up: Up axis of the file, ``"y"`` or ``"z"``; None takes the format's, `UP_AXIS`.
        normals: ``"file"`` or ``"angle"``, see `surface_from_trimesh`.

    Returns:
        The surface; `fallbacks` names textures and looks that could not be read.

    Raises:
        InputError: Missing, empty, too large, damaged or compressed file, unsupported format,
            no faces, or coordinates that are not finite.
    """
    path = None if isinstance(data, bytes) else Path(data)
    kind = _kind(suffix if suffix is not None else path.suffix if path else "")
    name = path.name if path else f"model{kind}"
    content = data if isinstance(data, bytes) else _read(Path(data))
    if not content.strip():
        raise InputError(f"{name}: the file is empty")
    if len(content) > MAX_FILE_BYTES:
        raise InputError(f"{name}: got {len(content)} bytes; wanted at most {MAX_FILE_BYTES}")
    if up is not None and up not in ("y", "z"):
        raise InputError(f"{name}: up axis {up!r}; wanted 'y' or 'z'")
    assets = ModelFolder(folder if folder is not None else path.parent if path else None)
    try:
        scene, losses = _parse(content, kind, assets)
        surface = surface_from_trimesh(
            scene,
            up or UP_AXIS[kind],
            linear_vertex_color=kind in (".glb", ".gltf"),
            normals=normals,
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    losses |= assets.losses
    lost = tuple(Fallback("load", f"{what}: {why}") for what, why in losses.items())
    return replace(surface, fallbacks=lost + surface.fallbacks)


def _kind(suffix: str) -> str:
    kind = suffix.lower() if suffix.startswith(".") else f".{suffix.lower()}"
    if kind not in UP_AXIS:
        raise InputError(f"got a {suffix!r} file; wanted one of {', '.join(sorted(UP_AXIS))}")
    return kind


def _read(path: Path) -> bytes:
    if not path.is_file():
        what = "a folder" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}; wanted a model file")
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise InputError(f"{path.name}: got {size} bytes; wanted at most {MAX_FILE_BYTES}")
    return path.read_bytes()


def _parse(content: bytes, kind: str, assets: ModelFolder) -> tuple[Any, dict[str, str]]:
    import trimesh

    resolver: Any = assets  # trimesh asks for get(), [] and keys(), not for its base class
    losses: dict[str, str] = {}
    if kind in (".glb", ".gltf"):
        header, blob = read_header(content, binary=kind == ".glb")
        losses = check_gltf(header, blob)
        plain = unpack_gltf(header, blob, assets)
        if plain is not None:
            content, kind = plain, ".glb"
    elif kind == ".obj":
        content = prepare_obj(content, assets)
    try:
        scene = trimesh.load_scene(
            io.BytesIO(content), file_type=kind[1:], resolver=resolver, process=False
        )
    except _DAMAGED as error:
        raise InputError(
            f"the file can't be read as {kind[1:].upper()}: {type(error).__name__}: {error}"
        ) from error
    return scene, losses
