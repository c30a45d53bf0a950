"""glTF with packed geometry (meshopt, quantised or sparse accessors) to a plain GLB.

trimesh reads Draco by itself where DracoPy is installed. What is here it would misread.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from typing import Any

import numpy as np

from seed3d.errors import InputError, MissingDependencyError
from seed3d.mesh.folder import ModelFolder

MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
_TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_LIMITS = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
MAX_BYTES = 1024 * 1024 * 1024
"""Most bytes of a bufferView after unpacking."""


def unpack_gltf(header: dict[str, Any], blob: bytes, folder: ModelFolder) -> bytes | None:
    """Return a GLB of plain float accessors, or None where the file is plain already.

    Args:
        header: The glTF JSON.
        blob: The GLB's binary chunk, empty for a .gltf.
        folder: Where external buffers are.

    Raises:
        InputError: Damaged buffers or compressed streams.
        MissingDependencyError: meshopt without the package that reads it.
    """
    header = json.loads(json.dumps(header))
    views = header.get("bufferViews", [])
    packed = any(_meshopt(v) is not None for v in views)
    floats = _float_accessors(header)
    sparse = [i for i, a in enumerate(header.get("accessors", [])) if "sparse" in a]
    if not packed and not floats and not sparse:
        return None
    try:
        return _rewrite(header, blob, folder, floats, sparse)
    except (KeyError, IndexError, TypeError, ValueError, binascii.Error, struct.error) as error:
        raise InputError(
            f"glTF: the packed geometry is damaged ({type(error).__name__}: {error})"
        ) from error


def _rewrite(
    header: dict[str, Any], blob: bytes, folder: ModelFolder, floats: set[int], sparse: list[int]
) -> bytes:
    source = _Buffers(header, blob, folder)
    out = bytearray()
    views = [_append(out, source.view(v), v) for v in header.get("bufferViews", [])]
    for i in sorted(floats | set(sparse)):
        accessor = header["accessors"][i]
        values = _values(accessor, header, source)
        if i in floats and accessor["componentType"] != 5126:
            values = _as_float(values, accessor)
            accessor["componentType"] = 5126
            accessor.pop("normalized", None)
            accessor.pop("min", None)
            accessor.pop("max", None)
        views.append(_append(out, np.ascontiguousarray(values).tobytes(), {}))
        accessor["bufferView"], accessor["byteOffset"] = len(views) - 1, 0
        accessor.pop("sparse", None)
    header["bufferViews"] = views
    header["buffers"] = [{"byteLength": len(out)}]
    for key in ("extensionsUsed", "extensionsRequired"):
        if key in header:
            done = {*MESHOPT, "KHR_mesh_quantization"}
            header[key] = [e for e in header[key] if e not in done]
    return _glb(header, bytes(out))


class _Buffers:
    """The bytes behind bufferViews, meshopt streams decoded."""

    def __init__(self, header: dict[str, Any], blob: bytes, folder: ModelFolder) -> None:
        self.header, self.blob, self.folder = header, blob, folder
        self._buffers: dict[int, bytes] = {}
        self._views: dict[int, bytes] = {}

    def view(self, view: dict[str, Any]) -> bytes:
        """Return the bytes of a bufferView."""
        key = id(view)
        if key not in self._views:
            extension = _meshopt(view)
            if extension is None:
                start = int(view.get("byteOffset", 0))
                data = self._buffer(int(view.get("buffer", 0)))
                self._views[key] = data[start : start + int(view["byteLength"])]
            else:
                self._views[key] = self._decoded(extension)
        return self._views[key]

    def _buffer(self, index: int) -> bytes:
        if index not in self._buffers:
            uri = self.header["buffers"][index].get("uri")
            if uri is None:
                self._buffers[index] = self.blob if index == 0 else b""
            elif uri.startswith("data:"):
                self._buffers[index] = base64.b64decode(uri.split(",", 1)[1])
            else:
                try:
                    self._buffers[index] = self.folder.get(uri)
                except FileNotFoundError as error:
                    raise InputError(f"glTF: buffer {error}") from error
        return self._buffers[index]

    def _decoded(self, extension: dict[str, Any]) -> bytes:
        count, stride = int(extension["count"]), int(extension["byteStride"])
        if not (count >= 0 and stride > 0 and count * stride <= MAX_BYTES):
            raise InputError(f"glTF: a meshopt stream claims {count} x {stride} bytes")
        start = int(extension.get("byteOffset", 0))
        data = self._buffer(int(extension["buffer"]))[start : start + int(extension["byteLength"])]
        return decode_meshopt(
            data, count, stride, extension["mode"], extension.get("filter", "NONE")
        )


def decode_meshopt(data: bytes, count: int, stride: int, mode: str, filter_: str) -> bytes:
    """Decode one stream of EXT_meshopt_compression.

    Raises:
        MissingDependencyError: The package meshoptimizer isn't there.
        InputError: Damaged stream, unknown mode or filter.
    """
    try:
        import meshoptimizer as mo
    except ImportError as error:
        raise MissingDependencyError(
            "the geometry is compressed with meshopt; reading it needs the package meshoptimizer: "
            "pip install 'seed3d[compressed]', or save the file without compression"
        ) from error
    if mode != "ATTRIBUTES" and stride not in (2, 4):
        raise InputError(f"glTF: meshopt indices of {stride} bytes; wanted 2 or 4")
    stream = np.frombuffer(data, np.uint8)
    try:
        if mode == "ATTRIBUTES":
            raw = mo.decode_vertex_buffer(count, stride, stream).view(np.uint8)
        elif mode in ("TRIANGLES", "INDICES"):
            decode = mo.decode_index_buffer if mode == "TRIANGLES" else mo.decode_index_sequence
            # The package hands out 32-bit words whatever size the decoder filled.
            return decode(count, stride, stream).view(f"<u{stride}")[:count].tobytes()
        else:
            raise InputError(f"glTF: meshopt mode {mode!r}; wanted ATTRIBUTES, TRIANGLES, INDICES")
    except (RuntimeError, ValueError) as error:
        raise InputError(f"glTF: damaged meshopt stream ({error})") from error
    flat = np.ascontiguousarray(raw).reshape(-1)[: count * stride].copy()
    filters = {
        "OCTAHEDRAL": mo.decode_filter_oct,
        "QUATERNION": mo.decode_filter_quat,
        "EXPONENTIAL": mo.decode_filter_exp,
    }
    if filter_ == "NONE":
        return flat.tobytes()
    if filter_ not in filters:
        raise InputError(f"glTF: meshopt filter {filter_!r}; wanted NONE, {', '.join(filters)}")
    return np.ascontiguousarray(filters[filter_](flat, count, stride)).tobytes()


def _meshopt(view: Any) -> dict[str, Any] | None:
    extensions = view.get("extensions", {}) if isinstance(view, dict) else {}
    return next((extensions[e] for e in MESHOPT if e in extensions), None)


def _float_accessors(header: dict[str, Any]) -> set[int]:
    """Accessors that hold coordinates as integers (KHR_mesh_quantization, normalised UVs)."""
    accessors, found = header.get("accessors", []), set()
    for mesh in header.get("meshes", []):
        for primitive in mesh.get("primitives", []):
            for name, index in primitive.get("attributes", {}).items():
                if not isinstance(index, int) or not 0 <= index < len(accessors):
                    continue
                kind = accessors[index].get("componentType")
                coordinate = name in ("POSITION", "NORMAL") or name.startswith("TEXCOORD_")
                wide_color = name.startswith("COLOR_") and kind == 5123
                stored = "bufferView" in accessors[index] or "sparse" in accessors[index]
                if stored and kind in _LIMITS and (coordinate or wide_color):
                    found.add(index)
    return found


def _values(accessor: dict[str, Any], header: dict[str, Any], source: _Buffers) -> np.ndarray:
    """Elements (N, K) of an accessor, sparse ones put in."""
    width = _WIDTHS[accessor["type"]]
    count, kind = int(accessor["count"]), np.dtype(_TYPES[accessor["componentType"]])
    values = np.zeros((count, width), kind)
    if "bufferView" in accessor:
        view = header["bufferViews"][accessor["bufferView"]]
        stride = int(view.get("byteStride", 0)) or kind.itemsize * width
        values = _strided(
            source.view(view), accessor.get("byteOffset", 0), count, width, kind, stride
        )
    if "sparse" in accessor:
        sparse, values = accessor["sparse"], values.copy()
        where, what = sparse["indices"], sparse["values"]
        index_kind = np.dtype(_TYPES[where["componentType"]])
        number = int(sparse["count"])
        at = _strided(
            source.view(header["bufferViews"][where["bufferView"]]),
            where.get("byteOffset", 0), number, 1, index_kind, index_kind.itemsize,
        )  # fmt: skip
        values[at[:, 0]] = _strided(
            source.view(header["bufferViews"][what["bufferView"]]),
            what.get("byteOffset", 0), number, width, kind, kind.itemsize * width,
        )  # fmt: skip
    return values


def _strided(
    data: bytes, offset: int, count: int, width: int, kind: np.dtype, stride: int
) -> np.ndarray:
    if count and offset + stride * (count - 1) + kind.itemsize * width > len(data):
        raise InputError("glTF: an accessor reaches beyond its buffer; the file is cut off")
    return np.ndarray((count, width), kind, data, offset, (stride, kind.itemsize))


def _as_float(values: np.ndarray, accessor: dict[str, Any]) -> np.ndarray:
    """Integers to float32 as the format says: c / limit where normalised, at least -1."""
    real = values.astype(np.float32)
    if accessor.get("normalized"):
        real = np.maximum(real / np.float32(_LIMITS[accessor["componentType"]]), np.float32(-1.0))
    return real


def _append(out: bytearray, data: bytes, view: dict[str, Any]) -> dict[str, Any]:
    """Add bytes at a multiple of 4 and return their bufferView."""
    out += b"\0" * (-len(out) % 4)
    new = {"buffer": 0, "byteOffset": len(out), "byteLength": len(data)}
    if "byteStride" in view:
        new["byteStride"] = view["byteStride"]
    out += data
    return new


def _glb(header: dict[str, Any], blob: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    blob += b"\0" * (-len(blob) % 4)
    total = 12 + 8 + len(text) + 8 + len(blob)
    return (
        b"glTF" + struct.pack("<II", 2, total)
        + struct.pack("<I4s", len(text), b"JSON") + text
        + struct.pack("<I4s", len(blob), b"BIN\0") + blob
    )  # fmt: skip
