"""All photos and meshes of a folder to assets; run it again to go on after an interruption.

Usage:
    python examples/batch_folder.py PHOTOS OUT
"""

import sys

from seed3d.batch import run_batch


def main(folder: str, out: str, preset: str = "default") -> int:
    """Return the number of items that aren't verified assets."""
    result = run_batch(
        folder,
        out,
        preset,
        options={"export": {"formats": ["mjcf", "urdf"]}},
        report=lambda item, outcome: print(item.label, outcome["result"]["status"]),
    )
    for row in result.rows:
        if row["status"] == "failed":
            print(f"{row['input']}: {row['cause']}")
        else:
            print(f"{row['name']}: {row['mass_kg']:.3g} kg, {row['material']}")
    return len(result.failed)


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
