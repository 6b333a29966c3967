"""The outputs that a model writes: which files they are, and their values, read with care."""

from __future__ import annotations

from typing import NamedTuple

from dmlcheck.descs.records import OperatorDesc, TensorDesc
from dmlcheck.files.npy import Header, find, read_elements
from dmlcheck.files.plain import open_plain
from dmlcheck.folders.export_folder import tensor_file
from dmlcheck.specs.records import OUTPUT
from dmlcheck.values.layouts import Array, viewed
from dmlcheck.values.number_formats import NUMPY_TYPES

OUTPUTS = "outputs"  # the folder that the model writes to, in the folder that it is run in


class OutputFile(NamedTuple):
    """An output of a model: its name in reports, the file that it is written to, its type and its sizes."""

    name: str
    file: str
    data_type: str
    sizes: tuple[int, ...]


def outputs_of(desc: OperatorDesc) -> list[OutputFile]:
    """Return the outputs of a desc's model."""
    return [
        OutputFile(part.label, f"{OUTPUTS}/{tensor_file(part.label)}", part.tensor.data_type, part.tensor.sizes)
        for part in desc.tensors(OUTPUT)
    ]


def read_outputs(desc: OperatorDesc, folder: str) -> dict[str, Array]:
    """Return the outputs that a model wrote in a folder; ValueError, as the rest of a sentence, if one is not right.

    The files may come from anywhere: nothing outside the folder is read, nothing is unpickled, and nothing is read
    before its header agrees with the desc.
    """
    tensors = {part.label: part.tensor for part in desc.tensors(OUTPUT)}
    return {output.name: _read_output(output, tensors[output.name], folder) for output in outputs_of(desc)}


def _read_output(output: OutputFile, tensor: TensorDesc, folder: str) -> Array:
    path, problem = find(folder, output.file)
    if problem is not None:
        raise ValueError(f"wrote no {output.name}: {output.file}: {problem}")
    expected = NUMPY_TYPES[tensor.data_type]
    try:
        with open_plain(path) as file:
            header = Header(file)
            found = header.dtype.newbyteorder("="), header.shape
            elements = read_elements(file, header) if found == (expected, (tensor.extent,)) else None
    except OSError as error:
        raise ValueError(f"wrote {output.file}, which cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"wrote {output.file}, which cannot be used: {error}") from None
    if elements is None:
        wanted = f"{tensor.data_type} [{tensor.extent}]"
        raise ValueError(f"wrote {output.file} as {header.dtype} {list(header.shape)}, and {wanted} is expected")
    return viewed(tensor, elements)
