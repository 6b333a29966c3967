#!/usr/bin/env bash
# DirectML 1.13.1 aligns the zero points of integer products left or right, by operator and operand.
#
# A vector of N zero points, one for each column, is right for BTensor of MATRIX_MULTIPLY_INTEGER. A vector of M zero
# points, one for each row, is refused for ATensor: it must be {M, 1}, and {1, M} is refused. For the filter of
# CONVOLUTION_INTEGER it is the other way round: a vector of one zero point for each channel is refused, {1, K} is
# right, also {1, K, 1}, and {K, 1} is refused. Sizes of matrices are completed on the left, those of filters on the
# right. A tensor of one dimension can thus hold a single zero point for ATensor and for the filter.
#
# Version: libdirectml 1.13.1 (DML_FEATURE_LEVEL_6_2), in torch-directml 0.2.5.dev240914 (Linux x86-64). The library
#   names no version; the Windows wheel of the same release has DirectML.dll 1.13.1, which gives the same answers.
# Documented: the tables on the pages of DML_MATRIX_MULTIPLY_INTEGER_OPERATOR_DESC and
#   DML_CONVOLUTION_INTEGER_OPERATOR_DESC have one to four dimensions for all of them, with the ones on both sides of
#   the count marked as those that may be left out. By that, the vectors and {1, M} are possible readings.
# Seen: 2026-11-29. Without a GPU: CreateOperator only checks, so a Direct3D 12 device that merely answers questions
#   is enough.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TMPDIR=$work
python3 -m venv venv
venv/bin/pip download -q --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
    --platform manylinux2010_x86_64 --python-version 3.11 --implementation cp --abi cp311 \
    torch-directml==0.2.5.dev240914
echo "6afb675585d30018c813e5ba203a3437073748919af8ab3e910092a0e0ec531f  $(echo torch_directml-*.whl)" | sha256sum -c -
python3 -m zipfile -e torch_directml-*.whl wheel
LD_LIBRARY_PATH="$work/wheel/torch_directml" python3 - wheel/torch_directml/libdirectml.so <<'PY'
import ctypes, struct, sys, uuid

Pointer, kept = ctypes.c_void_p, []
Method = ctypes.CFUNCTYPE(ctypes.c_uint64, *[Pointer] * 6)


def store(at, layout, *values):
    ctypes.memmove(at, struct.pack(layout, *values), struct.calcsize(layout))
    return 0


def com(size, methods):  # an object with a table of methods, as C++ lays it out
    calls = [Method(methods.get(i, lambda *_: 0x80004001)) for i in range(size)]
    table = (Pointer * size)(*[ctypes.cast(call, Pointer) for call in calls])
    kept.append((calls, table, Pointer(ctypes.addressof(table))))
    return ctypes.addressof(kept[-1][2])


def feature(_, what, data, *__):  # ID3D12Device::CheckFeatureSupport, of a device that can do everything
    answers = {0: (0, "<7I", 1, 1, 3, 3, 3, 1, 1), 1: (4, "<3I", 0, 1, 1), 2: (16, "<I", 0xC100), 7: (0, "<I", 0x60),
               8: (0, "<6I", 1, 32, 32, 4096, 1, 1), 12: (0, ""), 23: (0, "<3I", 0, 2, 1)}
    if (what or 0) not in answers:
        return 0x80070057
    at, layout, *values = answers[what or 0]
    return store(data + at, layout, *values)


def adapter_property(_, what, size, data, *__):
    ctypes.memset(data, 1 if what == 12 else 0, size)
    return 0


one = {i: lambda *_: 1 for i in (1, 2)}
device = com(80, {**one, 0: lambda _, __, out, *___: store(out, "<Q", device), 7: lambda *_: 1, 13: feature,
                  37: lambda *_: 0, 43: lambda *_: 1, 59: lambda _, count, *__: store(count, "<I", 0)})
adapter = com(13, {**one, 0: lambda _, __, out, *___: store(out, "<Q", adapter), 3: lambda *_: 1, 4: lambda *_: 1,
                   5: lambda *_: 1, 6: adapter_property, 7: lambda _, __, size, *___: store(size, "<Q", 16)})
factory = com(8, {**one, 0: lambda _, __, out, *___: store(out, "<Q", factory),
                  4: lambda _, __, ___, out, *____: store(out, "<Q", adapter), 5: lambda *_: 1})

# DXCore's one entry point is replaced by a jump to this function.
make_factory = ctypes.CFUNCTYPE(ctypes.c_uint64, Pointer, Pointer)(lambda _, out: store(out, "<Q", factory))
entry = ctypes.cast(ctypes.CDLL("libdxcore.so").DXCoreCreateAdapterFactory, Pointer).value
if ctypes.CDLL(None).mprotect(Pointer(entry & -4096), ctypes.c_size_t(8192), 7):
    sys.exit("this system does not let a program change its own code")
store(entry, "<2sQ2s", b"\x48\xb8", ctypes.cast(make_factory, Pointer).value, b"\xff\xe0")
directml = ctypes.CDLL(sys.argv[1])
names = {0: "S_OK", 0x80070057: "E_INVALIDARG", 0x887A0004: "DXGI_ERROR_UNSUPPORTED"}


def answer(code):
    return names.get(code & 0xFFFFFFFF, hex(code & 0xFFFFFFFF))


def call(this, index, *arguments):
    method = ctypes.cast(ctypes.cast(this, ctypes.POINTER(Pointer))[0], ctypes.POINTER(Pointer))[index]
    return ctypes.CFUNCTYPE(ctypes.c_uint32, Pointer, *map(type, arguments))(method)(this, *arguments)


def create_device(level):
    made = Pointer()
    guid = uuid.UUID("6dbd6437-96fd-423f-a98c-ae5e7c2a573f").bytes_le
    return directml.DMLCreateDevice1(Pointer(device), 0, level, guid, ctypes.byref(made)), made


def block(data):
    kept.append(ctypes.create_string_buffer(data, len(data)))
    return ctypes.addressof(kept[-1])


def numbers(*values):
    return block(struct.pack(f"<{len(values)}I", *values))


def desc(kind, data):  # DML_OPERATOR_DESC and DML_TENSOR_DESC look alike
    return block(struct.pack("<IxxxxQ", kind, block(data)))


def tensor(*sizes, data_type=1):
    total = {1: 4, 5: 1, 6: 4}[data_type]  # FLOAT32, UINT8, INT32
    for size in sizes:
        total *= size
    return desc(1, struct.pack("<3IxxxxQQQIxxxx", data_type, 0, len(sizes), numbers(*sizes), 0, -(-total // 4) * 4, 0))


def create(operator):
    made = Pointer()
    guid = ctypes.create_string_buffer(uuid.UUID("26caae7a-3081-4633-9581-226fbe57695d").bytes_le, 16)
    code = call(dml, 8, Pointer(operator), Pointer(ctypes.addressof(guid)), Pointer(ctypes.addressof(made)))
    if made.value:
        call(made, 2)
    return answer(code)


code, dml = create_device(0x1000)
if code:
    sys.exit(f"no device: {answer(code)}")
changed = []


def show(what, seen, expected):
    print(f"{what}: {seen}" + ("" if seen == expected else f"  <- CHANGED, it was {expected}"))
    changed.extend([what] * (seen != expected))


def bytes_tensor(sizes):
    return tensor(*sizes, data_type=5) if sizes else 0


def product(a_zero=None, b_zero=None):  # 4 x 3 times 3 x 6
    tensors = map(bytes_tensor, ((1, 1, 4, 3), a_zero, (1, 1, 3, 6), b_zero))
    return create(desc(117, struct.pack("<5Q", *tensors, tensor(1, 1, 4, 6, data_type=6))))


def convolution(filter_zero):  # 6 channels of output
    tensors = map(bytes_tensor, ((1, 3, 5, 5), None, (6, 3, 3, 3), filter_zero))
    ones, zeros = numbers(1, 1), numbers(0, 0)
    return create(desc(119, struct.pack("<5QIxxxx4QIxxxx", *tensors, tensor(1, 6, 3, 3, data_type=6), 2, ones, ones, zeros, zeros, 1)))


print("DirectML 1.13.1 of torch-directml 0.2.5.dev240914 completes zero points on the left or on the right:")
taken, refused = "S_OK", "E_INVALIDARG"
for sizes, expected in {(1,): taken, (4,): refused, (4, 1): taken, (1, 4): refused, (1, 4, 1): taken}.items():
    show(f"MATRIX_MULTIPLY_INTEGER, M = 4, AZeroPointTensor {list(sizes)}", product(a_zero=sizes), expected)
for sizes, expected in {(1,): taken, (6,): taken, (6, 1): refused, (1, 6): taken, (1, 1, 6): taken}.items():
    show(f"MATRIX_MULTIPLY_INTEGER, N = 6, BZeroPointTensor {list(sizes)}", product(b_zero=sizes), expected)
for sizes, expected in {(1,): taken, (6,): refused, (6, 1): refused, (1, 6): taken, (1, 6, 1): taken}.items():
    show(f"CONVOLUTION_INTEGER, K = 6, FilterZeroPointTensor {list(sizes)}", convolution(sizes), expected)

sys.exit(f"{len(changed)} answers changed" if changed else 0)
PY
echo "The behaviour is as described."
