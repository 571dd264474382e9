# SPDX-License-Identifier: MIT
"""How many instructions each kernel of a cubin has (16 bytes each, of sm_70 and later), without what pads its end; and the loop of it
that reads the clock: instructions but for those that multiply and add (FFMA), and how many of them store into shared memory; and how many
instructions follow the first addition to memory before one waits for what it gives (0: there is none)."""
import struct
import sys

NOP, BRA, CS2R = 0x918, 0x947, 0x805
ATOMG = (0x3a8, 0x9a8)
STS = (0x388, 0x988)
FFMA = 0x23  # with each kind of operand


def target_of(code, i):
    """Of a branch, in instructions."""
    low, high = struct.unpack_from("<QQ", code, 16 * i)
    offset = (high & 0x3ffff) << 38 | (low >> 34 & 0x3fffffff) << 8 | low >> 16 & 0xff
    return i + 1 + ((offset ^ 1 << 55) - (1 << 55)) // 4


def loop_of(code, opcodes):
    loops = []
    for i, opcode in enumerate(opcodes):
        if opcode == BRA and target_of(code, i) < i:
            body = opcodes[target_of(code, i):i + 1]
            stores = sum(o in STS for o in body)
            if CS2R in body and stores:
                loops.append((sum(o & 0xff != FFMA for o in body), stores))
    return min(loops, default=(0, 0))


def waited_for(code, opcodes):
    """What an instruction gives sets one of six flags; others wait for those of a mask."""
    control = [struct.unpack_from("<Q", code, 16 * i + 8)[0] >> 41 for i in range(len(opcodes))]
    for i, opcode in enumerate(opcodes):
        if opcode in ATOMG:
            flag = control[i] >> 5 & 7
            waits = (k for k in range(i + 1, len(opcodes)) if control[k] >> 11 >> flag & 1)
            return next(waits, len(opcodes)) - i
    return 0


def main(path):
    cubin = open(path, "rb").read()
    (sections_at,) = struct.unpack_from("<Q", cubin, 40)
    n, names_in = struct.unpack_from("<HH", cubin, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, sections_at + 64 * i) for i in range(n)]
    for section in sections:
        name = cubin[sections[names_in][4] + section[0]:].split(b"\0")[0].decode()
        if not name.startswith(".text."):
            continue
        code = cubin[section[4]:section[4] + section[5]]
        opcodes = [struct.unpack_from("<H", code, i)[0] & 0xfff for i in range(0, len(code), 16)]
        loop = loop_of(code, opcodes)
        waited = waited_for(code, opcodes)
        while opcodes and opcodes[-1] in (NOP, BRA):
            opcodes.pop()
        print(name[len(".text."):], len(opcodes), *loop, waited)


main(sys.argv[1])
