"""A program that sums three INT32, as the protocol wants it, but for numbers and words that ask it to misbehave.

What the first element of a case's input is says what happens in it; the first word of the command line, what happens
at the start. It needs nothing of dmlcheck or NumPy.
"""
# ruff: noqa: T201 - what it prints are its answers

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import sys

DIE, SIGNAL, HANG, RUBBISH, LONG, STDERR, DTYPE, SHAPE, MISSING, TWICE = range(101, 111)
ERROR, UNSUPPORTED, WRONG_ID, NEITHER, CHATTY, CUT, CHILD, LINK, NUMBER, DEEP, CLOSE, FLOOD, DEAF = range(111, 124)
# What a program that says that it refuses descs answers to those that are not valid.
VALIDATING = {
    "strict": {"invalid": "there is no such axis"},
    "terse": {"invalid": ""},
    "native": {"error": "CreateOperator returned E_INVALIDARG"},
    "lax": {"ok": True},  # and writes nothing
    "broken": {"error": "out of memory"},
    "unable": {"unsupported": "axes"},
    "double": {"invalid": "no", "error": "no"},
}
FOREVER = "import os, time; time.sleep(600); open(os.environ['DMLCHECK_WOKE'], 'w').close()"


def sleep() -> None:
    """Sleep until ended; a file says so where it is not, and somebody waited for it."""
    exec(FOREVER)  # noqa: S102 - the same words as those of the child


def load(path: str) -> list[int]:
    """Read three INT32 of a .npy file."""
    with open(path, "rb") as file:
        data = file.read()
    return list(struct.unpack("<3i", data[-12:]))


def save(path: str, values: list[int], dtype: str = "<i4", shape: str = "(1,)") -> None:
    """Write a .npy file."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(struct.pack(f"<{len(values)}i", *values))


def say(value: object) -> None:
    """Write a line."""
    print(value if isinstance(value, str) else json.dumps(value), flush=True)


def run(asked: dict) -> None:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one of many misbehaviours
    """Answer one case."""
    number = asked["id"]
    values = load(asked["inputs"]["InputTensor"])
    output = asked["outputs"]["OutputTensor"]
    what = values[0]
    right = {"id": number, "ok": True}
    if what == DIE:
        print("\x1b[31mdevice removed\x1b[0m", file=sys.stderr, flush=True)
        os._exit(3)
    if what == SIGNAL:
        os.abort()
    if what == HANG:
        sleep()
    if what == RUBBISH:
        say("Segmentation fault? \x07 no")
        return
    if what == LONG:
        with contextlib.suppress(OSError):
            for _ in range(1600):
                sys.stdout.write("x" * 65536)
        return
    if what == STDERR:
        for _ in range(800):
            sys.stderr.write("y" * 65535 + "\n")
    if what == CHILD:
        child = subprocess.Popen([sys.executable, "-c", FOREVER])  # holds both outputs open
        with open(os.environ["DMLCHECK_CHILD"], "w", encoding="ascii") as file:
            file.write(str(child.pid))
        os._exit(4)
    if what == ERROR:
        say({"id": number, "error": "E_INVALIDARG\nat once", "more": 1})
        return
    if what == UNSUPPORTED:
        say({"id": number, "unsupported": "no sums of 112"})
        return
    if what == WRONG_ID:
        say({"id": number + 1, "ok": True})
        return
    if what == NEITHER:
        say({"id": number, "ok": 1})
        return
    if what == NUMBER:
        say("17")
        return
    if what == DEEP:
        say("[" * 200_000)
        return
    if what == CLOSE:
        os.close(1)
        sleep()
    if what == FLOOD:
        with contextlib.suppress(OSError):
            while True:
                say({"id": number - 1, "ok": True})
    if what == MISSING:
        say(right)
        return
    if what == LINK:
        save(output + "x", [sum(values)])
        os.rename(output + "x", os.environ["DMLCHECK_CHILD"])
        os.symlink(os.environ["DMLCHECK_CHILD"], output)
        say(right)
        return
    if what == CUT:
        save(output, [], shape="(1,)")
    elif what == DTYPE:
        save(output, [sum(values)], dtype="<f4")
    elif what == SHAPE:
        save(output, [sum(values)] * 2, shape="(2,)")
    else:
        save(output, [sum(values)])
    if what == DEAF:
        os.close(0)
        say(right)
        sleep()
    say("\n" + json.dumps(right) if what == CHATTY else right)
    if what == TWICE:
        say(right)


def main(mode: str) -> None:
    """Answer until there is nothing more to ask."""
    if mode == "die":
        print("no device", file=sys.stderr)
        sys.exit(7)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["request"] == "hello":
            hello = {"name": "sums", "version": "1.5", "device": "CPU", "later": []}
            answers = {
                "silent": None,
                "rubbish": "Loading...",
                "newer": {"dmlcheck": 2, "name": "sums"},
                "nameless": {"version": "1"},
                "reference": {"name": "reference"},
                "numbered": {"name": "sums", "version": 1.5},
                "misspelt": {"name": "sums", "operators": ["REDUSE"]},
                "untyped": {"name": "sums", "types": ["FLOAT8"]},
                "unlisted": {"name": "sums", "operators": "REDUCE"},
                "argmax": {"name": "sums", "operators": ["ARGMAX"]},
                "unsure": {"name": "sums", "validates": "yes"},
                **{mode: {**hello, "validates": True} for mode in VALIDATING},
                "float": {"name": "sums", "operators": ["DML_OPERATOR_REDUCE"], "types": ["FLOAT32"]},
            }
            answer = answers.get(mode, hello)
            if answer is None:
                sleep()
            say(answer)
        elif mode in VALIDATING and asked["desc"]["Axes"] != [0]:
            say({"id": asked["id"], **VALIDATING[mode]})
        else:
            run(asked)
    if mode == "lingering":
        sleep()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
