# SPDX-License-Identifier: MIT
"""Profiles of pprof, by hand: no library is needed. make() packs what it is told, sound or not;
parse() reads a file as pprof's profile.proto says, and knows nothing of ours."""
import gzip


def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v >= 0x80:
        out += bytes([v & 0x7f | 0x80])
        v >>= 7
    return out + bytes([v])


def number(field, v):
    return varint(field << 3) + varint(v)


def text(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def numbers(field, values, packed=True):
    if packed:
        return text(field, b"".join(map(varint, values)))
    return b"".join(number(field, v) for v in values)


def make(types, samples, locations, functions, mappings=(), packed=True, more=b""):
    """types: (name, unit); samples: (locations, values[, labels]); locations: id: (functions) or (mapping, address);
    functions: id: (name[, system name[, file[, line]]]); mappings: id: (start, limit, offset, file, build id)."""
    strings = [""]

    def string(s):
        if s not in strings:
            strings.append(s)
        return strings.index(s)

    out = b""
    for name, unit in types:
        out += text(1, number(1, string(name)) + number(2, string(unit)))
    for sample in samples:
        labels = sample[2] if len(sample) > 2 else {}
        message = numbers(1, sample[0], packed) + numbers(2, sample[1], packed)
        for key, v in labels.items():
            message += text(3, number(1, string(key)) + (number(3, v) if isinstance(v, int) else number(2, string(v))))
        out += text(2, message)
    for i, (start, limit, offset, file, build) in dict(mappings).items():
        out += text(3, number(1, i) + number(2, start) + number(3, limit) + number(4, offset) +
                    number(5, string(file)) + number(6, string(build)))
    for i, place in dict(locations).items():
        message = number(1, i)
        if isinstance(place, tuple):
            message += number(2, place[0]) + number(3, place[1])
        else:
            message += b"".join(text(4, number(1, f)) for f in place)
        out += text(4, message)
    for i, names in dict(functions).items():
        fields = [number(n, string(v) if isinstance(v, str) else v) for n, v in zip((2, 3, 4, 5), names)]
        out += text(5, number(1, i) + b"".join(fields))
    return out + b"".join(text(6, s) for s in strings) + more


def fields(data):
    """(field, value) of a message: numbers, or bytes."""
    at = 0

    def take():
        nonlocal at
        v = shift = 0
        while True:
            c = data[at]
            at += 1
            v |= (c & 0x7f) << shift
            shift += 7
            if c < 0x80:
                return v

    while at < len(data):
        tag = take()
        assert tag & 7 in (0, 2), tag
        v = take()
        if tag & 7 == 2:
            assert at + v <= len(data), "truncated"
            at, v = at + v, data[at:at + v]
        yield tag >> 3, v


def one(data):
    return {k: v for k, v in fields(data)}


def unpack(values):
    """Of a repeated number, packed or not."""
    for v in values:
        if isinstance(v, int):
            yield v
        else:
            yield from (n for _, n in fields(b"".join(b"\0" + bytes([c]) if i == 0 or v[i - 1] < 0x80 else bytes([c])
                                                      for i, c in enumerate(v))))


def parse(file):
    """{"types": [(name, unit)], "default": name, "samples": [(stack, values, labels)], "comments": […]} of a path or of bytes: a stack is a tuple
    of (name, system name), the outermost first."""
    data = file
    if not isinstance(file, bytes):
        with open(file, "rb") as f:
            data = f.read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    every = list(fields(data))
    strings = [v.decode() for k, v in every if k == 6]
    assert strings[0] == "" and not [k for k, _ in every if k > 15]

    def messages(field):
        return [v for k, v in every if k == field]

    functions, places = {}, {}
    for m in map(one, messages(5)):
        assert m[1] not in functions and m[1]
        functions[m[1]] = (strings[m.get(2, 0)], strings[m.get(3, 0)])
    for m in messages(4):
        i = one(m)[1]
        assert i not in places and i
        places[i] = [functions[one(v)[1]] for k, v in fields(m) if k == 4]
    types = [(strings[m.get(1, 0)], strings[m.get(2, 0)]) for m in map(one, messages(1))]
    samples = []
    for m in messages(2):
        m = list(fields(m))
        ids = list(unpack(v for k, v in m if k == 1))
        values = [v - (1 << 64) if v >> 63 else v for v in unpack(v for k, v in m if k == 2)]
        assert len(values) == len(types)
        labels = {strings[one(v)[1]]: one(v).get(3) or strings[one(v).get(2, 0)] for k, v in m if k == 3}
        samples.append((tuple(f for i in reversed(ids) for f in reversed(places[i])), values, labels))
    whole = dict(every)
    return {"types": types, "default": strings[whole.get(14, 0)], "samples": samples,
            "comments": [strings[i] for i in unpack(messages(13))]}
