"""Rules for the paths inside an asset: relative, inside the folder, and there."""

from __future__ import annotations

import re
from pathlib import Path

from seed3d.types import Check
from seed3d.verify.model import FileModel

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tga")


def check_references(model: FileModel, folder: Path) -> Check:
    """Check that every path a file names is relative, stays in the folder and exists."""
    wanted = "relative paths inside the folder, all present"
    for reference in model.references:
        problem = path_problem(reference, model.base, folder)
        if problem:
            return Check("paths", False, problem, wanted, model.format)
    count = len(model.references)
    return Check("paths", True, f"{count} path{'s' if count != 1 else ''}", wanted, model.format)


def path_problem(reference: str, base: Path, folder: Path) -> str:
    """Return what is wrong with a path written in a file of `base`, or an empty text."""
    if re.match(r"^[A-Za-z][A-Za-z0-9+.-]+://", reference):
        return f"{reference}: needs a resolver"
    if reference.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", reference):
        return f"{reference}: absolute"
    target = (base / reference.replace("\\", "/")).resolve()
    if not target.is_relative_to(folder.resolve()):
        return f"{reference}: leaves the folder"
    return "" if target.is_file() else f"{reference}: missing"


def check_texture(model: FileModel, required: bool) -> Check:
    """Check that the visible surface has a base-colour texture and every image can be decoded.

    Args:
        model: The file.
        required: A file without any texture fails; else it is only stated.
    """
    wanted = "at least one base-colour texture that decodes" if required else "every image decodes"
    for reference in model.references:
        problem = _image_problem(model.base / reference)
        if problem:
            return Check("texture", False, problem, wanted, model.format)
    if model.losses:
        return Check("texture", False, "; ".join(model.losses), wanted, model.format)
    count = model.textures
    value = f"{count} texture{'s' if count != 1 else ''}"
    return Check("texture", count > 0 or not required, value, wanted, model.format)


def _image_problem(path: Path) -> str:
    from PIL import Image, UnidentifiedImageError

    if path.suffix.lower() not in IMAGES or not path.is_file():
        return ""
    try:
        with Image.open(path) as image:
            image.load()
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError) as error:
        return f"{path.name}: {error}"
    return ""
