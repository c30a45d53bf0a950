"""Facts about a glTF file that must be known before its geometry is read."""

from __future__ import annotations

import importlib.util
import json
import struct
from typing import Any

from seed3d.errors import InputError, MissingDependencyError
from seed3d.mesh.folder import image_loss

_DRACO = "KHR_draco_mesh_compression"
_NOT_APPLIED = {
    "KHR_texture_transform": "texture transforms are not applied",
    "KHR_texture_basisu": "KTX2 textures are not read",
}
MAX_ACCESSOR_ITEMS = 50_000_000
"""Most items of one accessor; an accessor without data would be filled with zeros."""

MAX_NODES = 100_000
"""Most nodes of a scene."""


def read_header(data: bytes, binary: bool) -> tuple[dict[str, Any], bytes]:
    """Return the JSON of a .glb or .gltf and the .glb's binary chunk.

    Raises:
        InputError: Damaged container or JSON.
    """
    return _split_glb(data) if binary else (_parse(data), b"")


def check_gltf(header: dict[str, Any], blob: bytes) -> dict[str, str]:
    """Refuse what can't be read right, and return what of the look will be lost.

    Args:
        header: The glTF JSON.
        blob: The .glb's binary chunk, empty for a .gltf.

    Raises:
        InputError: Damaged container or absurd sizes in the header.
        MissingDependencyError: Draco geometry without the package that reads it.
    """
    extensions = {*_strings(header, "extensionsUsed"), *_strings(header, "extensionsRequired")}
    if _DRACO in extensions and importlib.util.find_spec("DracoPy") is None:
        raise MissingDependencyError(
            f"GLB: the geometry is compressed with Draco ({_DRACO}); reading it needs the package "
            "DracoPy: pip install 'seed3d[compressed]', or save the file without compression"
        )
    for accessor in _dicts(header, "accessors"):
        count = accessor.get("count", 0)
        if not isinstance(count, int) or not 0 <= count <= MAX_ACCESSOR_ITEMS:
            raise InputError(
                f"GLB: an accessor claims {count!r} items; wanted 0 to {MAX_ACCESSOR_ITEMS}"
            )
    _check_tree(header)
    losses = {name: what for name, what in _NOT_APPLIED.items() if name in extensions}
    return losses | _image_losses(header, blob)


def _split_glb(data: bytes) -> tuple[dict[str, Any], bytes]:
    if len(data) < 20 or data[:4] != b"glTF":
        raise InputError("GLB: got no 'glTF' header; the file is damaged or of another format")
    version, length, json_length, json_type = struct.unpack_from("<III4s", data, 4)
    if version != 2:
        raise InputError(f"GLB: got version {version}; wanted 2")
    if json_type != b"JSON" or 20 + json_length > len(data) or length > len(data):
        raise InputError(
            f"GLB: the file has {len(data)} of {length} bytes; it is cut off or damaged"
        )
    blob = data[20 + json_length + 8 :]
    return _parse(data[20 : 20 + json_length]), blob


def _parse(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"glTF: the JSON header can't be read ({error})") from error
    if not isinstance(header, dict):
        raise InputError(f"glTF: the header is a {type(header).__name__}; wanted an object")
    return header


def _check_tree(header: dict[str, Any]) -> None:
    """Refuse a node graph that isn't a forest: it can unfold without end."""
    nodes = _dicts(header, "nodes")
    if len(nodes) > MAX_NODES:
        raise InputError(f"GLB: got {len(nodes)} nodes; wanted at most {MAX_NODES}")
    seen: set[Any] = set()
    for node in nodes:
        for child in node.get("children") or []:
            if child in seen:
                raise InputError(f"GLB: node {child} has two parents; wanted a tree")
            seen.add(child)


def _image_losses(header: dict[str, Any], blob: bytes) -> dict[str, str]:
    views = _dicts(header, "bufferViews")
    losses = {}
    for i, image in enumerate(_dicts(header, "images")):
        view = image.get("bufferView")
        if not isinstance(view, int) or not 0 <= view < len(views) or not blob:
            continue
        start, size = views[view].get("byteOffset", 0), views[view].get("byteLength", 0)
        if views[view].get("buffer", 0) == 0 and image.get("mimeType") != "image/ktx2":
            loss = image_loss(blob[start : start + size])
            if loss:
                losses[f"embedded image {i}"] = loss
    return losses


def _dicts(header: dict[str, Any], key: str) -> list[dict[str, Any]]:
    items = header.get(key, [])
    if not isinstance(items, list) or not all(isinstance(i, dict) for i in items):
        raise InputError(f"glTF: {key!r} is not a list of objects; the file is damaged")
    return items


def _strings(header: dict[str, Any], key: str) -> list[str]:
    items = header.get(key, [])
    if not isinstance(items, list):
        raise InputError(f"glTF: {key!r} is not a list; the file is damaged")
    return [str(i) for i in items]
