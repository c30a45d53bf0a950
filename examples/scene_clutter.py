"""Drop a random heap and let it settle.

python examples/scene_clutter.py out/heap out/mug out/bottle    # asset folders
"""

import sys

import seed3d


def main(out: str, *assets: str) -> None:
    """Drop, settle, save."""
    scene = seed3d.Scene("heap", seed=7)
    scene.drop(assets, count=4)
    result = scene.settle("mujoco", seconds=4)
    print(f"at rest: {result['at_rest']}, deepest overlap {result['penetration_mm']:.3f} mm")
    scene.save(out, overview_size=256)


if __name__ == "__main__":
    main(*sys.argv[1:])
