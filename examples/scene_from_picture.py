"""A photo of several objects (transparent background) to a scene.

python examples/scene_from_picture.py table.png out/table
"""

import sys

from seed3d.scene.from_photo import scene_from_photo


def main(photo: str, out: str) -> None:
    """Photo to scene."""
    scene = scene_from_photo(photo)  # or masks=[...], boxes=[(left, top, right, bottom), ...]
    print("\n".join(scene.notes))
    scene.settle()
    scene.save(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
