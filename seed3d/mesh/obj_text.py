"""OBJ and MTL text brought to the subset that trimesh's reader handles without loss.

Done here: negative (relative) indices, polygons (concave ones too), faces that mix "v", "v/vt" and
"v//vn", several material libraries, options inside ``map_Kd``.
"""

from __future__ import annotations

import re

from seed3d.errors import InputError
from seed3d.mesh.folder import ModelFolder
from seed3d.mesh.polygon import Point, triangulate

MTL_NAME = "all-materials.mtl"
"""The one library name that prepared text refers to."""

_OPTIONS = re.compile(
    r"\s-(?:blendu|blendv|cc|clamp|imfchan|texres|boost|type|bm)\s+\S+"
    r"|\s-mm\s+\S+\s+\S+"
    r"|\s-[ost]\s+-?[\d.eE+-]+(?:\s+-?[\d.eE+-]+){0,2}(?=\s)",
    re.IGNORECASE,
)


def prepare_obj(data: bytes, folder: ModelFolder) -> bytes:
    """Return OBJ text of triangles with absolute indices and one library, `MTL_NAME`.

    The joined text of all libraries is put into `folder.extra`.

    Raises:
        InputError: A face names a vertex that doesn't exist, or isn't numbers.
    """
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\\\n", " ")
    lines, libraries = [], []
    for line in map(str.strip, text.split("\n")):
        if line.startswith("mtllib"):
            libraries.append(line[6:].strip())
        else:
            lines.append(line)
    folder.extra[MTL_NAME] = _join_libraries(libraries, folder).encode()
    return "\n".join([f"mtllib {MTL_NAME}", *_rewrite_faces(lines)]).encode()


def _join_libraries(names: list[str], folder: ModelFolder) -> str:
    parts = []
    for name in dict.fromkeys(names):
        # One name with spaces, or several names: the file system decides.
        for single in [name] if name in folder else name.split() or [name]:
            if single in folder:
                parts.append(folder.get(single).decode("utf-8", errors="replace"))
            else:
                folder.losses[single] = "the material library is missing"
    return _clean_mtl("\n".join(parts))


def _clean_mtl(text: str) -> str:
    lines = []
    for line in map(str.strip, text.splitlines()):
        if line.lower().startswith(("map_", "bump", "disp", "refl", "norm")):
            key, rest = [*line.split(None, 1), ""][:2]
            lines.append(f"{key} {_OPTIONS.sub(' ', f' {rest} ').strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)


def _rewrite_faces(lines: list[str]) -> list[str]:
    """Return the lines with every face as triangles of complete, positive references."""
    shapes = {_shape(line) for line in lines if line.startswith(("f ", "f\t"))}
    has_uv = any(uv for uv, _ in shapes)
    has_normal = all(normal for _, normal in shapes)
    count = {"v": 0, "vt": 0, "vn": 0}
    total = sum(line.startswith(("v ", "v\t")) for line in lines)
    points = _points(lines)
    out: list[str] = []
    if has_uv:  # vertex 1 of the UV list stands for "none"; it must exist before any face
        count["vt"] = 1
        out.append("vt 0 0")
    for line in lines:
        key, rest = [*line.split(None, 1), "", ""][:2]
        if key in count:
            count[key] += 1
            out.append(line)
        elif key == "f":
            corners = rest.split("#", 1)[0].split()
            out.extend(_triangles(corners, count | {"all": total}, has_uv, has_normal, points))
        elif key not in ("l", "p", "s", "#"):
            out.append(line)
    return out


def _shape(face_line: str) -> tuple[bool, bool]:
    """Return whether the first reference of a face line has a UV and a normal index."""
    fields = face_line.split(None, 2)[1:2]
    parts = fields[0].split("/") if fields else [""]
    return len(parts) > 1 and bool(parts[1]), len(parts) > 2 and bool(parts[2])


def _triangles(
    corners: list[str],
    count: dict[str, int],
    has_uv: bool,
    has_normal: bool,
    points: list[Point],
) -> list[str]:
    refs = [_reference(c, count, has_uv, has_normal) for c in corners]
    places = [points[int(r.split("/", 1)[0]) - 1] for r in refs]
    return [f"f {refs[i]} {refs[j]} {refs[k]}" for i, j, k in triangulate(places)]


def _points(lines: list[str]) -> list[Point]:
    """Positions of all vertices; what isn't three numbers is left to the reader to refuse."""
    points: list[Point] = []
    for line in lines:
        if line.startswith(("v ", "v\t")):
            try:
                x, y, z = (float(n) for n in line.split()[1:4])
            except ValueError:
                x = y = z = 0.0
            points.append((x, y, z))
    return points


def _reference(corner: str, count: dict[str, int], has_uv: bool, has_normal: bool) -> str:
    parts = [*corner.split("/"), "", ""]
    vertex = _absolute(parts[0], count["v"], 0, corner)
    if vertex > count["all"]:
        raise InputError(f"OBJ: the face corner {corner!r} names a vertex beyond {count['all']}")
    if not has_uv and not has_normal:
        return str(vertex)
    uv = str(_absolute(parts[1], count["vt"], 1, corner) if parts[1] else 1) if has_uv else ""
    if not has_normal:
        return f"{vertex}/{uv}"
    return f"{vertex}/{uv}/{_absolute(parts[2], count['vn'], 0, corner)}"


def _absolute(text: str, count: int, added: int, corner: str) -> int:
    try:
        index = int(text)
    except ValueError as error:
        raise InputError(
            f"OBJ: got the face corner {corner!r}; wanted v, v/vt or v/vt/vn"
        ) from error
    index = index + added if index > 0 else count + 1 + index
    if index < 1:
        raise InputError(f"OBJ: the face corner {corner!r} names an entry that doesn't exist")
    return index
