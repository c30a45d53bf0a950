"""Light for renders: a few directional lights over a sky and a ground."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from seed3d.types import Camera

RGB = tuple[float, float, float]


@dataclass(frozen=True)
class DirectionalLight:
    """Parallel light. A white matte plane that faces it looks `color` bright."""

    azimuth_rad: float
    """Where the light comes from, as a camera's azimuth."""
    elevation_rad: float
    color: RGB = (1.0, 1.0, 1.0)
    """Linear."""
    shadows: bool = True

    @property
    def direction(self) -> np.ndarray:
        """Unit vector (3,) from the origin towards the light, canonical frame."""
        ce = np.cos(self.elevation_rad)
        x, y = np.cos(self.azimuth_rad), np.sin(self.azimuth_rad)
        return np.array([ce * x, ce * y, np.sin(self.elevation_rad)])


@dataclass(frozen=True)
class Lighting:
    """Everything that lights a scene, linear RGB, canonical frame."""

    lights: tuple[DirectionalLight, ...]
    sky: RGB = (0.4, 0.4, 0.42)
    """Radiance of the upper hemisphere."""
    ground: RGB = (0.25, 0.24, 0.23)
    """Radiance of the lower hemisphere."""
    exposure: float = 1.0
    """Factor on the result, before the clip."""
    name: str = field(default="", compare=False)

    @staticmethod
    def studio(azimuth_rad: float = 0.0) -> Lighting:
        """Neutral light for previews: key, fill and rim around a viewer at `azimuth_rad`."""
        return Lighting(
            (
                DirectionalLight(azimuth_rad - 0.6, 0.85, (0.62, 0.61, 0.6)),
                DirectionalLight(azimuth_rad + 1.0, 0.35, (0.2, 0.2, 0.21), shadows=False),
                DirectionalLight(azimuth_rad + 2.8, 0.6, (0.22, 0.22, 0.23), shadows=False),
            ),
            sky=(0.44, 0.44, 0.45),
            ground=(0.24, 0.24, 0.24),
            name="studio",
        )

    @staticmethod
    def ambient(level: float = 1.0) -> Lighting:
        """Even light without direction: a matte surface shows its base colour times `level`."""
        even = (level, level, level)
        return Lighting((), even, even, name="ambient")

    @staticmethod
    def random(rng: np.random.Generator, camera: Camera | None = None) -> Lighting:
        """Draw a photo-like light: key, up to two fills, sky and bounce, well exposed.

        Args:
            rng: Source of every draw.
            camera: Where given, the key mostly comes from the viewer's side, as in photos.
        """
        base = 0.0 if camera is None else camera.azimuth_rad
        spread = np.pi if camera is None else 2.0
        key_share = rng.uniform(0.25, 0.8)  # overcast to hard light
        key = DirectionalLight(
            base + rng.uniform(-spread, spread),
            rng.uniform(0.3, 1.35),
            _tint(rng, key_share, 0.12),
        )
        fills = tuple(
            DirectionalLight(
                rng.uniform(-np.pi, np.pi),
                rng.uniform(0.0, 1.2),
                _tint(rng, rng.uniform(0.03, 0.25), 0.15),
                shadows=bool(rng.random() < 0.5),
            )
            for _ in range(rng.integers(0, 3))
        )
        ambient = 1.0 - key_share
        lighting = Lighting(
            (key, *fills),
            sky=_tint(rng, ambient * rng.uniform(0.8, 1.3), 0.1),
            ground=_tint(rng, ambient * rng.uniform(0.25, 0.8), 0.1),
            name="random",
        )
        target = rng.uniform(0.75, 1.15)
        return replace(lighting, exposure=target / lighting.brightness(camera))

    def brightness(self, camera: Camera | None = None) -> float:
        """Return the light meter's reading: the mean of white matte faces, before exposure.

        The faces point up and at the camera; without a camera, up and half way to each light.
        """
        up = np.array([0.0, 0.0, 1.0])
        if camera is not None:
            others = [-camera.rotation[2], up - camera.rotation[2]]
        else:
            others = [up + light.direction for light in self.lights]
        normals = np.stack([up, *(n / np.linalg.norm(n) for n in others)])
        return float(self.irradiance(normals).mean())

    def irradiance(self, normals: np.ndarray) -> np.ndarray:
        """Return light (N, 3) on unshadowed white matte faces with unit normals (N, 3)."""
        total = hemisphere(normals[:, 2], self.sky, self.ground)
        for light in self.lights:
            cosine = np.clip(normals @ light.direction, 0.0, None)
            total = total + cosine[:, None] * np.array(light.color)
        return total


def hemisphere(up: np.ndarray, sky: RGB, ground: RGB) -> np.ndarray:
    """Return the light (N, 3) of a two-coloured environment on matte faces; up (N,) is normal z.

    The share of the sky seen (cosine weighted) is (1 + up) / 2, exactly.
    """
    share = ((1.0 + up) / 2.0)[:, None].astype(np.float32)
    return np.array(ground, np.float32) * (1 - share) + np.array(sky, np.float32) * share


def _tint(rng: np.random.Generator, level: float, amount: float) -> RGB:
    """A colour between warm and cool of mean `level`."""
    warm = rng.uniform(-amount, amount)
    color = level * np.array([1.0 + warm, 1.0 + 0.1 * warm, 1.0 - 1.1 * warm])
    return (float(color[0]), float(color[1]), float(color[2]))
