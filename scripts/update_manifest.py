"""Add or replace the manifest entry of a weight file, after training or converting it.

python scripts/update_manifest.py checkpoints/seed3d_tiny.safetensors seed3d-tiny \
        --licence Apache-2.0 --source "scripts/train.py, commit 1234567" \
        --trained-on "Sweet Home 3D furniture" --score "0.61 silhouette IoU, 200 held-out renders"
"""

from __future__ import annotations

import argparse
from pathlib import Path

from seed3d.checkpoints import register


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="weight file, written by save_state")
    parser.add_argument("name", help="name by which --model finds it")
    parser.add_argument("--licence", required=True, help="SPDX name")
    parser.add_argument("--source", required=True, help="project, package or script it comes from")
    parser.add_argument("--trained-on", required=True, help="training data")
    parser.add_argument("--score", required=True, help="a measured number and what was measured")
    args = parser.parse_args()
    info = register(
        args.file,
        args.name,
        licence=args.licence,
        source=args.source,
        trained_on=args.trained_on,
        score=args.score,
    )
    print(f"{info.name}: {info.file}, {info.bytes} bytes, SHA-256 {info.sha256}")


if __name__ == "__main__":
    main()
