"""Several assets in one world: placed, settled, checked, written for every engine."""

from __future__ import annotations

from seed3d.scene.scene import Scene

__all__ = ["Scene"]
