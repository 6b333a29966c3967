"""Descs as images of memory, read by a C++ program: with the structs of its compiler they are the same descs."""

from __future__ import annotations

import math
import struct
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from compiled_descs import COMPILERS, compiled, compiler_of, completed, desc_of, made, shipped
from directml_header import VERSIONS, header

from dmlcheck.descs.read import read_desc
from dmlcheck.descs.records import OperatorDesc
from dmlcheck.descs.write import notation
from dmlcheck.drawing import descs as drawing
from dmlcheck.drawing.chance import seeded
from dmlcheck.drawing.draft import SMALL
from dmlcheck.files import yaml
from dmlcheck.implementations.directml.structs import image_of, layout_of, scalar_bytes
from dmlcheck.inspection.schema import header_text
from dmlcheck.specs.load import load_spec, operator_names
from dmlcheck.specs.names import ENUMS, enum_prefix

DRAWS = 3  # of each operator
BUFFER_FIELDS = (
    "DataType",
    "Flags",
    "DimensionCount",
    "Sizes",
    "Strides",
    "TotalTensorSizeInBytes",
    "GuaranteedBaseOffsetAlignment",
)
PROGRAM = """\
#include "dmlcheck_desc.h"
#include <cstring>
#include <vector>

static std::uint64_t number(std::istream& in)
{
    std::uint64_t value = 0;
    in.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}

// A file of images; each is the lengths of its parts, the offsets of its pointers, and its bytes.
static void images(const char* path)
{
    std::ifstream in(path, std::ios::binary);
    for (std::uint64_t left = number(in); left != 0; --left) {
        const std::uint64_t size = number(in), pointers = number(in), root = number(in);
        std::vector<std::uint64_t> places(pointers), memory(size / 8 + 1);
        for (auto& place : places) { place = number(in); }
        char* data = reinterpret_cast<char*>(memory.data());
        in.read(data, static_cast<std::streamsize>(size));
        for (const auto place : places) {
            std::uint64_t offset;
            std::memcpy(&offset, data + place, sizeof offset);
            const char* target = data + offset;
            std::memcpy(data + place, &target, sizeof target);
        }
        dmlcheck::write(std::cout, *reinterpret_cast<const DML_OPERATOR_DESC*>(data + root));
        std::cout << '\\0';
    }
}

static void say(const char* name, std::size_t number)
{
    std::cout << name << ' ' << number << '\\n';
}

static void layouts()
{
@LAYOUTS@
}

int main(int count, char** words)
{
    if (count > 1) { images(words[1]); } else { layouts(); }
}
"""


def layouts() -> str:
    """Return statements that say all offsets, sizes and numbers."""
    structs = {f"DML_{name}_OPERATOR_DESC": tuple(load_spec(name).fields) for name in VERSIONS}
    structs["DML_BUFFER_TENSOR_DESC"] = BUFFER_FIELDS
    said = {f"{name}.{field}": f"offsetof({name}, {field})" for name, fields in structs.items() for field in fields}
    said |= {f"{name}.size": f"sizeof({name})" for name in (*structs, "DML_TENSOR_DESC", "DML_OPERATOR_DESC")}
    said |= {value: value for name in VERSIONS for value in [f"DML_OPERATOR_{name}"]}
    said |= {value: value for enum, names in ENUMS.items() for value in (enum_prefix(enum) + name for name in names)}
    return "\n".join(f'    say("{name}", {expression});' for name, expression in said.items())


class Built(NamedTuple):
    """The program, and a folder for its input."""

    program: Path
    folder: Path

    def numbers(self) -> dict[str, int]:
        """Return the compiler's offsets, sizes and numbers by their names."""
        done = subprocess.run([self.program], capture_output=True, text=True, check=True, timeout=60)
        return {name: int(number) for name, number in (line.split() for line in done.stdout.splitlines())}

    def read_back(self, descs: list[OperatorDesc]) -> list[Any]:
        """Return the JSON that the program writes of each desc's image."""
        path = self.folder / "images"
        with path.open("wb") as file:
            file.write(struct.pack("<Q", len(descs)))
            for desc in descs:
                data, pointers, root = image_of(desc)
                head = (len(data), len(pointers), root, *pointers)
                file.write(struct.pack(f"<{len(head)}Q", *head) + data)
        done = subprocess.run([self.program, path], capture_output=True, text=True, check=True, timeout=60)
        texts = done.stdout.split("\0")[:-1]
        assert len(texts) == len(descs)
        read = []
        for text in texts:
            (self.folder / "desc.json").write_text(text, encoding="utf-8")
            read.append(yaml.read(str(self.folder / "desc.json")).value)
        return read


@pytest.fixture(scope="module", params=COMPILERS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    compiler = compiler_of(request.param)
    folder = tmp_path_factory.mktemp("structs")
    (folder / "DirectML.h").write_text(header(), encoding="utf-8")
    (folder / "dmlcheck_desc.h").write_text(header_text() + "\n", encoding="utf-8")
    (folder / "main.cpp").write_text(PROGRAM.replace("@LAYOUTS@", layouts()), encoding="utf-8")
    compiled(compiler, folder, "-O0", str(folder / "main.cpp"), "-o", str(folder / "main"))
    return Built(folder / "main", folder)


def check_read_back(built: Built, descs: list[OperatorDesc], expected: list[OperatorDesc]) -> None:
    for found, desc in zip(built.read_back(descs), expected, strict=True):
        read = read_desc(found["operator"], found["desc"])
        assert (desc.spec.operator, read.findings, read.desc is None) == (desc.spec.operator, (), False)
        # The text tells 0.0 from -0.0, which a comparison of numbers does not.
        assert repr(notation(read.desc)) == repr(notation(desc))  # type: ignore[arg-type]


# ---- layouts


@pytest.mark.slow
def test_operators_have_the_numbers_of_the_header() -> None:
    assert {name: load_spec(name).number for name in VERSIONS} == {name: at for at, name in enumerate(VERSIONS, 1)}
    assert {load_spec(name).short for name in operator_names()} == set(VERSIONS)


@pytest.mark.slow
def test_every_field_has_the_offset_and_every_struct_the_size_that_the_compiler_gives_it(built: Built) -> None:
    numbers = built.numbers()
    found = {}
    for name in VERSIONS:
        layout = layout_of(f"DML_OPERATOR_{name}")
        found |= {f"DML_{name}_OPERATOR_DESC.{member.field.name}": member.offset for member in layout.members}
        found[f"DML_{name}_OPERATOR_DESC.size"] = layout.size
    assert len(found) > 1000
    assert {name: numbers[name] for name in found} == found
    assert {name for name in numbers if "_OPERATOR_DESC." in name} - {"DML_OPERATOR_DESC.size"} == set(found)


@pytest.mark.slow
def test_tensors_have_the_layout_that_the_compiler_gives_them(built: Built) -> None:
    numbers = built.numbers()
    assert [numbers[f"DML_BUFFER_TENSOR_DESC.{name}"] for name in (*BUFFER_FIELDS, "size")] == [
        0, 4, 8, 16, 24, 32, 40, 48,
    ]  # fmt: skip
    assert (numbers["DML_TENSOR_DESC.size"], numbers["DML_OPERATOR_DESC.size"]) == (16, 16)


@pytest.mark.slow
def test_operators_and_enumerations_have_the_compilers_numbers(built: Built) -> None:
    numbers = built.numbers()
    for name in VERSIONS:
        assert numbers[f"DML_OPERATOR_{name}"] == load_spec(name).number
    for enum, names in ENUMS.items():
        assert [numbers[enum_prefix(enum) + name] for name in names] == list(range(len(names)))


# ---- images


@pytest.mark.slow
def test_an_image_of_each_operator_is_read_back_as_the_desc(built: Built) -> None:
    descs = [*map(shipped, operator_names()), *made().values()]
    assert len({desc.spec.operator for desc in descs}) == len(operator_names())
    check_read_back(built, descs, descs)


@pytest.mark.slow
def test_images_of_drawn_descs_are_read_back_as_the_descs(built: Built) -> None:
    descs = []
    for operator in operator_names():
        draws = (drawing.drawn(operator, seeded(f"{operator} {number}"), SMALL) for number in range(4 * DRAWS))
        descs += [desc for desc in draws if desc is not None][:DRAWS]
    assert {desc.spec.operator for desc in descs} == set(operator_names())
    check_read_back(built, descs, [held(desc) for desc in descs])


def held(desc: OperatorDesc) -> OperatorDesc:
    """Return a desc as its struct holds it: a number that it leaves out is 0."""
    numbers = [name for name, field in desc.spec.fields.items() if field.optional and field.type == "FLOAT"]
    whole: OperatorDesc = completed(desc)
    return whole._replace(values={**dict.fromkeys(numbers, 0.0), **whole.values})


PLAIN = {"DataType": "FLOAT32", "Sizes": [3]}
RECURRENT = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 1, 3]},
    "WeightTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 3]},
    "RecurrenceTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 16, 4]},
    "OutputSequenceTensor": {"DataType": "FLOAT32", "Sizes": [2, 1, 1, 4]},
    "ActivationDescs": [
        {"Type": "ACTIVATION_SIGMOID"},
        {"Type": "ACTIVATION_SCALED_TANH", "Alpha": 0.5, "Beta": 2.0},
        {"Type": "ACTIVATION_TANH"},
    ],
    "Direction": "FORWARD",
    "ClipThreshold": 1.5,
    "UseClipThreshold": True,
    "CoupleInputForget": False,
}
POOLING = {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
    "PooledSize": {"Width": 2, "Height": 3},
    "SpatialScale": 0.25,
    "ROITensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 5]},
}
SPECIAL: dict[str, tuple[str, dict[str, Any]]] = {
    "an array of operators": ("LSTM", RECURRENT),
    "a size": ("ROI_POOLING", POOLING),
    "a pointer to a pair": (
        "ELEMENT_WISE_SQRT",
        {"InputTensor": PLAIN, "OutputTensor": PLAIN, "ScaleBias": {"Scale": -0.5, "Bias": "-inf"}},
    ),
    "numbers with a sign": (
        "SLICE1",
        {
            "InputTensor": {"DataType": "UINT8", "Sizes": [2, 8]},
            "OutputTensor": {"DataType": "UINT8", "Sizes": [2, 3]},
            "InputWindowOffsets": [0, 1],
            "InputWindowSizes": [2, 6],
            "InputWindowStrides": [1, -2],
        },
    ),
    "strides of 0": (
        "ELEMENT_WISE_ADD",
        {
            "ATensor": {"DataType": "FLOAT16", "Sizes": [2, 3], "Strides": [0, 2], "Flags": "OWNED_BY_DML"},
            "BTensor": {"DataType": "FLOAT16", "Sizes": [2, 3], "GuaranteedBaseOffsetAlignment": 128},
            "OutputTensor": {"DataType": "FLOAT16", "Sizes": [2, 3]},
        },
    ),
    "elements of 4 bits": (
        "DEQUANTIZE",
        {
            "InputTensor": {"DataType": "INT4", "Sizes": [3, 3]},
            "QuantizationType": "SCALE_ZERO_POINT",
            "QuantizationTensors": [
                {"DataType": "FLOAT16", "Sizes": [3, 3]},
                {"DataType": "INT4", "Sizes": [3, 3]},
            ],
            "OutputTensor": {"DataType": "FLOAT16", "Sizes": [3, 3]},
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIAL)
def test_each_kind_of_value_is_read_back(built: Built, name: str) -> None:
    desc = desc_of(*SPECIAL[name])
    check_read_back(built, [desc], [desc])


@pytest.mark.slow
def test_a_tensor_that_an_array_leaves_out_has_neither_type_nor_desc(built: Built) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4]}
    desc = desc_of(
        "JOIN", {"InputTensors": [tensor, tensor], "OutputTensor": {**tensor, "Sizes": [1, 1, 4, 4]}, "Axis": 2}
    )
    desc = desc._replace(values={**desc.values, "InputTensors": (None, desc.values["InputTensors"][1])})
    (found,) = built.read_back([desc])
    assert found["desc"]["InputTensors"][0] == {"Type": "INVALID", "Desc": None}
    assert found["desc"]["InputTensors"][1]["Sizes"] == [1, 1, 2, 4]


@pytest.mark.slow
def test_what_a_desc_leaves_out_is_null_and_an_array_of_nothing_has_no_pointer(built: Built) -> None:
    desc = made()["none"]
    (found,) = built.read_back([desc.without(["OutputTensor"])])
    assert list(found["desc"]) == ["InputTensor", "QuantizationType", "QuantizationTensorCount", "QuantizationTensors"]
    assert (found["desc"]["QuantizationTensorCount"], found["desc"]["QuantizationTensors"]) == (0, [])
    assert len(image_of(desc).pointers) == len(
        ("desc", "input", "its buffer", "sizes", "output", "its buffer", "sizes")
    )


@pytest.mark.slow
def test_a_total_size_beyond_64_bits_is_the_largest_number(built: Built) -> None:
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 2], "TotalTensorSizeInBytes": 16}
    desc = desc_of("ELEMENT_WISE_IDENTITY", {"InputTensor": tensor, "OutputTensor": tensor})
    sizes = (2**32 - 1,) * 3
    huge = desc.values["InputTensor"]._replace(sizes=sizes, total_size=None)
    assert huge.implied_bytes > 2**64
    (found,) = built.read_back([desc._replace(values={**desc.values, "InputTensor": huge})])
    assert found["desc"]["InputTensor"]["TotalTensorSizeInBytes"] == 2**64 - 1


# ---- scalars


@pytest.mark.parametrize(
    ("data_type", "value", "expected"),
    [
        ("FLOAT64", -0.0, struct.pack("<d", -0.0)),
        ("FLOAT64", 2**70, struct.pack("<d", 2.0**70)),
        pytest.param("FLOAT64", 10**400, struct.pack("<d", math.inf), id="huge"),
        ("FLOAT32", 0.1, struct.pack("<f", 0.1)),
        ("FLOAT32", 1e39, struct.pack("<f", math.inf)),
        ("FLOAT16", 65504, b"\xff\x7b"),
        ("FLOAT16", 1e6, b"\x00\x7c"),
        ("FLOAT16", -65520.0, b"\x00\xfc"),
        ("FLOAT16", -math.inf, b"\x00\xfc"),
        ("UINT64", 2**64 - 1, b"\xff" * 8),
        ("INT64", -(2**63), b"\0" * 7 + b"\x80"),
        ("UINT32", 258, b"\x02\x01\0\0"),
        ("INT32", -2, b"\xfe\xff\xff\xff"),
        ("UINT16", 2**16 + 3, b"\x03\0"),
        ("INT16", -1, b"\xff\xff"),
        ("UINT8", 255, b"\xff"),
        ("INT8", -128, b"\x80"),
        ("UINT4", 15, b"\x0f"),
        ("INT4", -1, b"\xff"),
        ("INT8", 2.75, b"\x02"),
        ("INT16", math.inf, b"\0\0"),
        ("UINT8", math.nan, b"\0"),
        ("UNKNOWN", 7, b"\x07"),
        ("", 7, b"\x07"),
    ],
)
def test_a_scalar_has_the_bytes_of_its_type(data_type: str, value: float, expected: bytes) -> None:
    assert scalar_bytes(data_type, value) == expected


def test_a_nan_stays_one_in_every_float_type() -> None:
    for data_type, code in (("FLOAT16", "e"), ("FLOAT32", "f"), ("FLOAT64", "d")):
        assert math.isnan(struct.unpack(f"<{code}", scalar_bytes(data_type, math.nan))[0])


@pytest.mark.slow
def test_an_image_has_its_pointers_where_the_compiler_has_them_and_each_at_a_multiple_of_8() -> None:
    for operator in operator_names():
        data, pointers, root = image_of(shipped(operator))
        assert len(set(pointers)) == len(pointers)
        assert all(place % 8 == 0 and place + 8 <= len(data) for place in (*pointers, root))
        assert all(struct.unpack_from("<Q", data, place)[0] < len(data) for place in pointers)
