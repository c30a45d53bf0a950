"""Seed3D: one photo of an object to a simulation-ready 3D asset.

>>> import seed3d
>>> asset = seed3d.generate("mug.jpg")
>>> verdict = asset.save("out/mug")
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Asset",
    "Config",
    "Scene",
    "__version__",
    "generate",
    "load",
    "load_preset",
    "save",
    "simready",
]

if TYPE_CHECKING:
    from seed3d.config import Config, load_preset
    from seed3d.export.load import load
    from seed3d.pipeline import generate, save, simready
    from seed3d.scene.scene import Scene
    from seed3d.types import Asset

_HOME = {
    "Asset": "seed3d.types",
    "Config": "seed3d.config",
    "Scene": "seed3d.scene.scene",
    "generate": "seed3d.pipeline",
    "load": "seed3d.export.load",
    "load_preset": "seed3d.config",
    "save": "seed3d.pipeline",
    "simready": "seed3d.pipeline",
}


def __getattr__(name: str) -> Any:
    """Import public names when they're first used, so that importing seed3d costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'seed3d' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)
