"""Random descs of ROI_ALIGN, ROI_ALIGN1 and ROI_ALIGN_GRAD, with their inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from made_descs import of_arrays

from dmlcheck.descs.records import OperatorDesc

Array = np.ndarray[Any, Any]
Made = tuple[OperatorDesc, dict[str, Array]]

REGIONS = ("ROI_ALIGN", "ROI_ALIGN1")


def sampling(generator: np.random.Generator, operator: str) -> dict[str, Any]:
    """Return fields of how regions are sampled; half of them are like those that ONNX's RoiAlign has."""
    scale = float(generator.choice([1, 0.25, 1.3]))
    fields: dict[str, Any] = {
        "ReductionFunction": "AVERAGE",
        "InterpolationMode": "LINEAR",
        "SpatialScaleX": scale,
        "SpatialScaleY": scale,
        "MinimumSamplesPerOutput": int(generator.integers(1, 4)),
    }
    fields["MaximumSamplesPerOutput"] = fields["MinimumSamplesPerOutput"]
    if operator != "ROI_ALIGN_GRAD":
        fields["OutOfBoundsInputValue"] = 0
    if operator != "ROI_ALIGN":
        fields |= {"InputPixelOffset": 0.5, "OutputPixelOffset": -0.5, "AlignRegionsToCorners": False}
    if generator.random() < 0.5:
        fields["ReductionFunction"] = str(generator.choice(["AVERAGE", "MAX"]))
        fields["InterpolationMode"] = str(generator.choice(["LINEAR", "NEAREST_NEIGHBOR"]))
        fields["SpatialScaleY"] = float(generator.choice([1, 0.5]))
        fields["MaximumSamplesPerOutput"] += int(generator.integers(0, 3))
        if operator != "ROI_ALIGN_GRAD":
            fields["OutOfBoundsInputValue"] = 2.5
        if operator != "ROI_ALIGN":
            offsets = ((0, 0), (0, -0.5), (0.25, -0.75))[int(generator.integers(3))]
            fields |= dict(zip(("InputPixelOffset", "OutputPixelOffset"), offsets, strict=True))
            fields["AlignRegionsToCorners"] = bool(generator.random() < 0.4)
    return fields


def drawn(generator: np.random.Generator, operator: str) -> tuple[dict[str, Array], tuple[int, ...], dict[str, Any]]:
    """Return images, regions inside and across their edges, their numbers of images, output sizes, and fields."""
    sizes = tuple(generator.integers(1, 7, 4).tolist())
    count = int(generator.integers(1, 4))
    fields = sampling(generator, operator)
    scales = [fields["SpatialScaleX"], fields["SpatialScaleY"]] * 2
    corners = generator.integers(-4, 20, (count, 4)) / 3
    ordered = np.sort(corners.reshape(count, 2, 2), axis=1).reshape(count, 4)
    corners = np.where(generator.random((count, 1)) < 0.85, ordered, corners) / scales
    kind = generator.choice(["float32", "float32", "float16"])
    tensors = {"Input": generator.normal(size=sizes).astype(kind), "ROI": corners.astype(kind)}
    tensors["BatchIndices"] = generator.integers(0, sizes[0], count).astype(np.uint32)
    output = (count, sizes[1], *generator.integers(1, 4, 2).tolist())
    return tensors, output, fields


def aligned(operator: str, count: int = 120) -> Iterator[Made]:
    """Yield descs of an operator with their inputs, always the same ones."""
    generator = np.random.default_rng(sum(map(ord, operator)))
    for _ in range(count):
        tensors, sizes, fields = drawn(generator, operator)
        output = {"OutputTensor": {"DataType": tensors["Input"].dtype.name.upper(), "Sizes": list(sizes)}}
        yield of_arrays(operator, tensors, output, **fields)


def returning(count: int = 80) -> Iterator[tuple[Made, Made]]:
    """Yield descs of ROI_ALIGN1 and of its gradient, with their inputs, always the same ones."""
    generator = np.random.default_rng(17)
    for _ in range(count):
        tensors, sizes, fields = drawn(generator, "ROI_ALIGN1")
        tensors = {name: x.astype(np.float32) if x.dtype.kind == "f" else x for name, x in tensors.items()}
        fields["OutOfBoundsInputValue"] = 0
        forward = of_arrays("ROI_ALIGN1", tensors, _float32("Output", sizes), **fields)
        del fields["OutOfBoundsInputValue"]
        given = {"InputGradient": generator.integers(-9, 10, sizes).astype(np.float32)}
        outputs = _float32("OutputGradient", tensors["Input"].shape)
        outputs |= _float32("OutputROIGradient", tensors["ROI"].shape)
        yield forward, of_arrays("ROI_ALIGN_GRAD", tensors | given, outputs, **fields)


def _float32(name: str, sizes: tuple[int, ...]) -> dict[str, Any]:
    return {f"{name}Tensor": {"DataType": "FLOAT32", "Sizes": list(sizes)}}
