"""OBJ, STL, PLY and glTF meshes to FileModel: looks alone, no physics."""

from __future__ import annotations

from pathlib import Path

from seed3d.verify.model import FileModel, merged


def read_mesh(path: Path) -> FileModel:
    """Read a mesh file, turned to Z up by its format's habit; lengths are taken as metres.

    Raises:
        InputError: The file can't be read or holds no triangle.
    """
    from seed3d.mesh.load import load_surface

    surface = load_surface(path)
    lost = [f.what for f in surface.fallbacks]
    return FileModel(
        format="mesh",
        path=path,
        name=path.stem,
        visual=merged([surface.mesh]),
        base=path.parent,
        textures=sum(m.base_color_texture is not None for m in surface.materials),
        losses=tuple(lost),
    )
