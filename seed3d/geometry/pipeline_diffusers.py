"""Image to shape as a diffusers pipeline: `save_pretrained`, `from_pretrained`, call."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from diffusers import DiffusionPipeline
from diffusers.utils import BaseOutput

from seed3d.config import Config
from seed3d.geometry.autoencoder import BlockAutoencoder
from seed3d.geometry.dit import ShapeDiT
from seed3d.geometry.generate import shape_with
from seed3d.geometry.head import PhotoHead
from seed3d.geometry.model import ShapeModel, load_model
from seed3d.types import Shape, Subject


@dataclass
class ImageToShapeOutput(BaseOutput):
    """Result of the pipeline."""

    shape: Shape


class ImageToShapePipeline(DiffusionPipeline):
    """The bundled kind of model; its photo encoder ships with the package.

    Args:
        autoencoder: Latents to TSDF grid.
        dit: Flow transformer.
        head: Photo to camera, size, material and category.
        shift: Time shift of the flow, as trained.
    """

    def __init__(
        self, autoencoder: BlockAutoencoder, dit: ShapeDiT, head: PhotoHead, shift: float = 2.0
    ) -> None:
        super().__init__()
        self.register_modules(autoencoder=autoencoder, dit=dit, head=head)
        self.register_to_config(shift=shift)

    @classmethod
    def bundled(cls, name: str = "seed3d-tiny") -> ImageToShapePipeline:
        """The pipeline of a model in the manifest.

        Raises:
            CheckpointError: No such model, or its file is damaged.
        """
        model = load_model(name)
        return cls(model.autoencoder, model.dit, model.head, model.shift)

    @classmethod
    def from_pretrained(cls, path: str | Path, **options: Any) -> ImageToShapePipeline:
        """Load what `save_pretrained` wrote; options as of diffusers."""
        # Tables that are computed and not stored need a real device from the start.
        return super().from_pretrained(path, **{"low_cpu_mem_usage": False, **options})

    @property
    def model(self) -> ShapeModel:
        """The parts as the geometry stage takes them."""
        return ShapeModel(
            self.autoencoder.eval(), self.dit.eval(), self.head.eval(), float(self.config.shift)
        )

    def __call__(
        self, image: Any, config: Config | None = None, seed: int | None = None
    ) -> ImageToShapeOutput:
        """Photo to canonical shape.

        Args:
            image: Path, bytes, PIL image, or a prepared Subject.
            config: Options of the image and geometry stages; the defaults where None.
            seed: Of the noise; the configuration's where None.

        Raises:
            InputError: The image can't be read.
            StageError: The decoded field is empty.
        """
        config = config or Config()
        subject = image if isinstance(image, Subject) else _prepared(image, config)
        number = config.seed if seed is None else seed
        return ImageToShapeOutput(shape=shape_with(self.model, subject, config.geometry, number))


def _prepared(image: Any, config: Config) -> Subject:
    from seed3d.image.load import read_file
    from seed3d.image.prepare import prepare

    if isinstance(image, bytes):
        data = image
    elif isinstance(image, str | Path):
        data = read_file(Path(image))
    else:
        buffer = BytesIO()
        image.save(buffer, format="PNG")
        data = buffer.getvalue()
    return prepare(data, config.image)
