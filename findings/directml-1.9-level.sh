#!/usr/bin/env bash
# DirectML 1.9.1 says that it has DML_FEATURE_LEVEL_5_0, and creates the operators of 5_1.
#
# A program that asks CheckFeatureSupport before it uses ACTIVATION_GELU or ACTIVATION_SOFTMAX1 leaves them alone on
# 1.9.1, one that asks DMLCreateDevice1 for 5_1 gets no device at all, and one that asks nothing can use them.
#
# Version: libdirectml 1.9.1, in tensorflow-directml-plugin 0.3.0.dev221212 (Linux x86-64). The library names no version;
#   its file's name has the commit that DirectML.dll 1.9.1, in the Windows wheel of the same release, names as its own.
# Documented: Releases.md of microsoft/DirectML: 1.9.0 introduces 5_1 with these operators, and 1.10.1 repairs
#   DMLCreateDevice1, which failed without reason for levels above 5_0. That CheckFeatureSupport answers 5_0 is not
#   said there. The page of DML_FEATURE_LEVEL recommends both functions to find out what can be used.
# Seen: 2026-11-29. Without a GPU: CreateOperator only checks, so a Direct3D 12 device that merely answers questions
#   is enough. The wheel has neither libd3d12.so nor libdxcore.so, which its libdirectml needs; torch-directml's has.
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
venv/bin/pip download -q --disable-pip-version-check --no-cache-dir --no-deps --only-binary=:all: \
    --platform manylinux2010_x86_64 --python-version 3.9 --implementation cp --abi cp39 \
    tensorflow-directml-plugin==0.3.0.dev221212
echo "b8bc28d842be1259db8de0ac2e0e67c8cd23bba685db78bbed426e239d8655d6  $(echo tensorflow_directml_plugin-*.whl)" | sha256sum -c -
python3 -m zipfile -e tensorflow_directml_plugin-*.whl wheel
LD_LIBRARY_PATH="$work/wheel/torch_directml" python3 - wheel/tensorflow-plugins/directml/libdirectml.*.so <<'PY'
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


def highest_level():
    asked = (0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000, 0x5100, 0x5200)
    query = block(struct.pack("<IxxxxQ", len(asked), numbers(*asked)))
    highest = block(bytes(4))
    code = call(dml, 7, ctypes.c_int(1), ctypes.c_uint32(16), Pointer(query), ctypes.c_uint32(4), Pointer(highest))
    level = ctypes.c_uint32.from_address(highest).value
    return f"{level >> 12}_{level >> 8 & 15}" if code == 0 else answer(code)


x = tensor(2, 3)
print("DirectML 1.9.1 of tensorflow-directml-plugin 0.3.0.dev221212 has the operators of 5_1 and denies the level:")
show("highest level of CheckFeatureSupport", highest_level(), "5_0")
show("DMLCreateDevice1, minimum level 5_0", answer(create_device(0x5000)[0]), "S_OK")
show("DMLCreateDevice1, minimum level 5_1", answer(create_device(0x5100)[0]), "DXGI_ERROR_UNSUPPORTED")
show("CreateOperator, ACTIVATION_GELU of 5_1", create(desc(157, struct.pack("<QQ", x, x))), "S_OK")
show("CreateOperator, ACTIVATION_SOFTMAX1 of 5_1", create(desc(158, struct.pack("<QQIxxxxQ", x, x, 1, numbers(1)))), "S_OK")

sys.exit(f"{len(changed)} answers changed" if changed else 0)
PY
echo "The behaviour is as described."
