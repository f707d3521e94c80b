"""A server that speaks the protocol by itself, and breaks it in the way that its argument names.

    python rogue.py FAULT

It opens and closes like any other; the fault comes with each `rollout`. Without an argument the faults that are in the
content of an answer can be had from one process: the seed of the first case is the fault's place in `ROLLOUTS`.
"""

import os
import struct
import sys
import time

import msgpack

NUMBER = {"dtype": "float32", "shape": []}
FLAG = {"dtype": "bool", "shape": []}
LEAVES = {
    "observation": NUMBER,
    "action": {"dtype": "int64", "shape": [], "low": 0, "high": 1},
    "reward": {"dtype": "float64", "shape": []},
    "terminated": FLAG,
    "truncated": FLAG,
}
DRAWS = {"coin": {"dtype": "int8", "shape": [], "at": "both"}}


FORMATS = {"<f4": "f", "<f8": "d", "|b1": "?", "|i1": "b", "<i4": "i"}


def ext(code, *content):
    return msgpack.ExtType(code, msgpack.packb(list(content), use_bin_type=True))


def array(dtype, *values, shape=None):
    shape = [len(values)] if shape is None else shape
    return ext(1, dtype, shape, struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values))


def episode(timesteps, ended=()):
    return {
        "leaves": {
            "observation": array("<f4", *[0] * timesteps),
            "reward": array("<f8", *[0] * timesteps),
            "terminated": array("|b1", *[timestep in ended for timestep in range(timesteps)]),
            "truncated": array("|b1", *[False] * timesteps),
        },
        "draws": [],
    }


def changed(timesteps, **leaves):
    played = episode(timesteps)
    played["leaves"].update(leaves)
    return [played]


def drawn(draws):
    return [dict(episode(5), draws=draws)]


# Each asks for one case of four actions.
ROLLOUTS = {
    "fine": lambda: [episode(5)],
    "fine, ended early": lambda: [episode(3, [2])],
    "fine, with draws": lambda: drawn([[["coin", array("|i1", 1, shape=[])]]]),
    "a timestep too many": lambda: [episode(6)],
    "no timestep": lambda: [episode(0)],
    "stops without an end": lambda: [episode(3)],
    "goes on after the end": lambda: [episode(5, [2])],
    "two answers": lambda: [episode(5), episode(5)],
    "a map of answers": lambda: {"0": episode(5)},
    "an answer that is a number": lambda: [7],
    "leaves that are a list": lambda: [{"leaves": [], "draws": []}],
    "a leaf too many": lambda: changed(5, wings=array("<f4", *[0] * 5)),
    "a leaf too few": lambda: [{"leaves": {"observation": array("<f4", *[0] * 5)}, "draws": []}],
    "another dtype": lambda: changed(5, observation=array("<f8", *[0] * 5)),
    "another shape": lambda: changed(5, observation=array("<f4", *[0] * 10, shape=[5, 2])),
    "leaves of different length": lambda: changed(5, observation=array("<f4", *[0] * 4)),
    "a leaf without timesteps": lambda: changed(5, observation=array("<f4", 0, shape=[])),
    "a leaf that is a list": lambda: changed(5, observation=[0.0] * 5),
    "a leaf of objects": lambda: changed(5, observation=ext(1, "|O", [5], bytes(40))),
    "bytes that do not fill the shape": lambda: changed(5, observation=ext(1, "<f4", [5], bytes(19))),
    "a negative size": lambda: changed(5, observation=ext(1, "<f4", [-5], bytes(20))),
    "an array of two parts": lambda: changed(5, observation=ext(1, "<f4", [5])),
    "booleans of 7": lambda: changed(5, terminated=ext(1, "|b1", [5], bytes([7] * 5))),
    "an unknown extension": lambda: changed(5, observation=msgpack.ExtType(9, b"?")),
    "draws of too many timesteps": lambda: drawn([[]] * 6),
    "draws of an unknown name": lambda: drawn([[["dice", array("|i1", 1, shape=[])]]]),
    "draws of another dtype": lambda: drawn([[["coin", array("<i4", 1, shape=[])]]]),
    "draws of another shape": lambda: drawn([[["coin", array("|i1", 1)]]]),
    "draws that are a number": lambda: drawn(7),
    "draws without values": lambda: drawn([["coin"]]),
}

# Answers to `render`.
PICTURES = {
    "a fine picture": lambda: {"frame": ext(1, "|u1", [1, 2, 3], bytes(6))},
    "a picture of signed bytes": lambda: {"frame": ext(1, "|i1", [1, 2, 3], bytes(6))},
    "a picture without colours": lambda: {"frame": ext(1, "|u1", [2, 3], bytes(6))},
    "a picture without pixels": lambda: {"frame": ext(1, "|u1", [0, 2, 3], b"")},
    "a picture that is too wide": lambda: {"frame": ext(1, "|u1", [1, 4097, 3], bytes(3 * 4097))},
    "a picture that is a list": lambda: {"frame": [0, 0, 0]},
    "no picture": lambda: [],
}


def frame(message):
    data = msgpack.packb(message, use_bin_type=True)
    return struct.pack(">I", len(data)) + data


def fault(name, request):
    """The bytes to answer with, and what to do afterwards."""
    good = {"id": request["id"], "ok": [episode(5)]}
    whole = frame(good)
    return {
        "another id": (frame(dict(good, id="0" * 16)), None),
        "no id": (frame({"ok": good["ok"]}), None),
        "an answer of no kind": (frame({"id": request["id"]}), None),
        "an error that is a word": (frame({"id": request["id"], "error": "no"}), None),
        "a list": (frame([1, 2, 3]), None),
        "bytes that are no message": (struct.pack(">I", 4) + b"\xc1\xc1\xc1\xc1", None),
        "text": (b"0.5 reward\n", None),
        "a frame of 4 GiB": (b"\xff\xff\xff\xff", None),
        "half a frame, then the end": (whole[: len(whole) // 2], lambda: os._exit(0)),
        "half a frame, then silence": (whole[: len(whole) // 2], lambda: time.sleep(60)),
        "half a header, then the end": (b"\0\0", lambda: os._exit(1)),
        "silence": (b"", lambda: time.sleep(60)),
        "a closed stream": (b"", lambda: (os.close(1), time.sleep(60))),
        "the end": (b"", lambda: os._exit(0)),
    }[name]


def read(count):
    data = b""
    while len(data) < count:
        chunk = os.read(0, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data


def main(name):
    if name == "answers before it is asked":
        os.write(1, frame({"id": "0" * 16, "ok": [episode(5)]}))
    while True:
        request = msgpack.unpackb(read(struct.unpack(">I", read(4))[0]), raw=False, strict_map_key=False)
        if request["call"] == "open":
            spec = {"protocol": 2, "leaves": LEAVES, "capabilities": ["draws"], "draws": DRAWS}
            os.write(1, frame({"id": request["id"], "ok": spec}))
        elif request["call"] == "close":
            os.write(1, frame({"id": request["id"], "ok": None}))
            return
        elif request["call"] == "render":
            os.write(1, frame({"id": request["id"], "ok": PICTURES[name]()}))
        elif name in ROLLOUTS:
            os.write(1, frame({"id": request["id"], "ok": ROLLOUTS[name]()}))
        elif not name:
            chosen = list(ROLLOUTS.values())[request["with"]["cases"][0]["seed"]]
            os.write(1, frame({"id": request["id"], "ok": chosen()}))
        else:
            data, afterwards = fault(name, request)
            os.write(1, data)
            if afterwards:
                afterwards()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
