"""Place things by relation: on a board, in a box, beside each other.

python examples/scene_shelf.py out/shelf
"""

import sys
import tempfile
from pathlib import Path

import trimesh

import seed3d


def brick(folder: Path) -> seed3d.Asset:
    """A small asset; use `seed3d.load("out/mug")` for one of yours."""
    path = folder / "brick.stl"
    trimesh.creation.box((0.10, 0.06, 0.04)).export(path)
    return seed3d.simready(path, seed3d.load_preset("smoke"))


def main(out: str) -> None:
    """Build, settle, save."""
    with tempfile.TemporaryDirectory() as folder:
        asset = brick(Path(folder))
    scene = seed3d.Scene("shelf", seed=1)
    for number, height in enumerate((0.3, 0.7)):
        scene.add_block(f"board_{number}", (0.3, 0.9, 0.02), (0, 0, height))
    first = scene.add(asset, on="board_0", at=(0, -0.2), yaw_deg=0)
    scene.add(asset, beside=first, side="left", gap=0.03)
    scene.add(asset, on=first, at=(0, 0), yaw_deg=20)
    scene.add(asset, on="board_1")  # a random free spot, the same for the same seed
    scene.settle(seconds=2)
    scene.save(out, overview_size=256)


if __name__ == "__main__":
    main(sys.argv[1])
