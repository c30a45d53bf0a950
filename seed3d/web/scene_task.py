"""What the worker does for the scene tab."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def make_scene(
    progress: Any, sources: list[str], folder: str, count: int, upright: bool, seed: int = 0
) -> dict[str, Any]:
    """Drop assets of other jobs on a floor, settle, check, write, zip."""
    from seed3d.scene import Scene
    from seed3d.web.downloads import zip_asset
    from seed3d.web.tasks import ASSET

    out = Path(folder)
    with progress("load"):
        scene = Scene("scene", seed)
        scene.drop([Path(source) / ASSET for source in sources], count, upright=upright)
    with progress("settle"):
        settled = scene.settle()
    with progress("verify"):
        checks = scene.check()
    with progress("export"):
        scene.save(out / "scene", checks=checks)
    with progress("pack"):
        archive = out / "scene.zip"
        archive.write_bytes(zip_asset(out / "scene", "scene", "all"))
    problems = [
        f"{engine}: {text}"
        for engine, found in checks["engines"].items()
        for text in found["problems"]
    ]
    return {"count": count, "passed": bool(checks["passed"]), "problems": problems,
            "penetration_mm": float(settled["penetration_mm"]), "zip": str(archive),
            "picture": str(out / "scene" / "overview.png")}  # fmt: skip
