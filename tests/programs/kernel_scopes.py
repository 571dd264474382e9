# SPDX-License-Identifier: MIT
# What Triton's layer calls for kernels with scopes inside, on a mock libcuda whose "device memory" is that of this process:
# kernel_scopes.py LIBCUDA WHAT. It says what it sees.
import ctypes
import json
import os
import struct
import sys
import threading

from triton._C.libproton import proton as p

cuda = ctypes.CDLL(sys.argv[1])
cuda.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint32] * 7 + [ctypes.c_void_p] * 3
DEFER, DEFER_UNTIL_ASKED = 1, 2
NAME = ctypes.create_string_buffer(b"add")
FUNCTION, STREAM, CAPTURED, BROKEN = 0x5000, 0, 1, 9
WHOLE, LOAD, ADD = 0, 1, 2
cuda.cuInit(0)


def metadata(path="add.json", warps=2, bytes=256, optimizations="", sampled=None):
    mode = "default:metric_type=METRIC_TYPE.CYCLE:sampling_strategy=SAMPLING_STRATEGY.%s:sampling_options=%s" % (
        "NONE" if sampled is None else "SELECTIVE", sampled or ""
    ) + ":granularity=GRANULARITY.WARP:buffer_size=0:optimizations=" + optimizations
    with open(path, "w") as file:
        json.dump({"num_warps": warps, "profile_scratch_size": bytes, "instrumentation_mode": mode,
                   "target": {"backend": "cuda", "arch": 90}}, file)
    return path


def kernel(path=None, function=FUNCTION, name="add"):
    p.init_function_metadata(function, name, [(LOAD, "load"), (WHOLE, "whole"), (ADD, "add")],
                             [(LOAD, WHOLE), (ADD, WHOLE)], path or metadata())


def record(ends, scope, clock):
    return struct.pack("<II", ends << 31 | scope << 23 | clock >> 32, clock & 0xFFFFFFFF)


# A warp: whole 100 cycles, load 30 and add 40 of it.
WARP = b"".join(record(*r) for r in (
    (0, WHOLE, 1000), (0, LOAD, 1010), (1, LOAD, 1040), (0, ADD, 1050), (1, ADD, 1090), (1, WHOLE, 1100)))


def buffer(blocks=2, warps=2, bytes=256, recording=None, records=WARP, took_ns=199):
    recording = range(warps) if recording is None else recording
    segment = (bytes - 40 - 4 * warps) // len(recording) // 8 * 8
    words = b"".join(struct.pack("<I", len(records) // 4 * (w in recording)) for w in range(warps))
    words += b"".join(records.ljust(segment, b"\0") for _ in recording)

    def block(i):  # each a microsecond later, on a multiprocessor of its own
        head = struct.pack("<4I3Q", 0xDEADBEEF, i, 10 + i, segment * len(recording), *(1000 * i + n for n in (1, 1 + took_ns, 101 + took_ns)))
        return (head + words).ljust(bytes, b"\0")

    return ctypes.create_string_buffer(b"".join(map(block, range(blocks))), bytes * blocks)


def launch(data, stream=STREAM, function=FUNCTION, size=None):
    at = ctypes.addressof(data)
    size = len(data) if size is None else size
    p.enter_instrumented_op(stream, function, at, size)
    cuda.cuLaunchKernel(ctypes.addressof(NAME), 1, 1, 1, 1, 1, 1, 0, stream, None, None)
    p.exit_instrumented_op(stream, function, at, size)


class Scope:
    def __init__(self, name):
        self.name, self.id = name, p.record_scope()

    def __enter__(self):
        p.enter_scope(self.id, self.name)

    def __exit__(self, *_):
        p.exit_scope(self.id, self.name)


def start(name="s", mode="cuda", data="tree"):
    return p.start(name, "shadow", data, "instrumentation", mode)


def plain():
    session = start()
    kernel()
    data = buffer()
    with Scope("outer"):
        launch(data)
        launch(data)
    op = p.record_scope()
    p.enter_op(op, "add 64")
    launch(data)
    p.exit_op(op, "add 64")
    print(p.get_data(session).count('"cycles"'))
    p.finalize(session)


def traced():
    """All launches of a session, one by one, whoever else has one."""
    session = start("t", data="trace")
    kernel()
    data = buffer()
    with Scope("outer"):
        launch(data)
    p.deactivate(session)
    launch(data)
    other = p.start("o", "shadow", "tree", "cupti")
    p.activate(session)
    op = p.record_scope()
    p.enter_op(op, "add 64")
    launch(data)
    p.exit_op(op, "add 64")
    try:
        p.finalize(session, "hatchet")
    except ValueError as error:
        print(error)
    p.finalize(session, "chrome_trace")
    print(len(json.load(open("t.chrome_trace"))["traceEvents"]))
    p.finalize(other)
    p.finalize(start("n", data="trace"))
    start("u", data="trace")
    launch(data)


def inside():
    """Somebody else has the session."""
    kernel()
    launch(buffer())


def shifted():
    session = start(mode="cuda:default:optimizations=time_shift,clock32")
    kernel(metadata(optimizations="clock32,time_shift"))
    launch(buffer())
    p.finalize(session)


def long():
    """Clocks of 32 bits may have wrapped meanwhile, and nobody sees it."""
    session = start(mode="cuda:default:optimizations=clock32")
    kernel(metadata(optimizations="clock32"))
    launch(buffer())
    launch(buffer(took_ns=4_410_000_000))
    p.finalize(session)


def sampled():
    session = start(mode="cuda:mma:sampling_strategy=selective:sampling_options=2,0")
    kernel(metadata(warps=4, sampled="2,0,2"))
    launch(buffer(warps=4, recording=[0, 2]))
    p.finalize(session)


def later():
    """Nothing of the launching thread waits: the copies are let through when all is launched."""
    session = start()
    kernel()
    data = buffer()
    cuda.mock_defer(DEFER)
    for _ in range(50):
        launch(data)
    print(p.is_data_phase_complete(session, 0))
    cuda.mock_let_through(20)
    p.destroy_function_metadata(FUNCTION)
    kernel(metadata(bytes=1024))  # the address is another kernel's: copies that wait are of the one before
    threading.Timer(0.1, cuda.mock_let_through, (100,)).start()
    p.finalize(session)


def full():
    """More than copies have room for: the launching thread reads the oldest first. Sizes do not divide the room."""
    session = start()
    kernel(metadata(bytes=4096))
    data = buffer(blocks=3750, bytes=4096)
    cuda.mock_defer(DEFER_UNTIL_ASKED)
    for _ in range(9):
        launch(data)
    large = buffer(blocks=18750, bytes=4096)
    launch(large)  # … than all of the room
    p.finalize(session)


def lost():
    session = start()
    kernel()
    data = buffer()
    launch(data)
    launch(data, stream=CAPTURED)
    launch(data, stream=BROKEN)
    launch(data, function=0x6000)
    launch(data, size=100)
    p.finalize(session)
    cuda.mock_defer(DEFER)
    session = start("t")
    launch(data)  # it never ends


def misused():
    session = start()
    kernel()
    data = buffer()
    p.exit_instrumented_op(0, FUNCTION, 0, 0)
    p.exit_instrumented_op(None, FUNCTION, None, 0)
    p.enter_instrumented_op(0, FUNCTION, 0, 0)
    p.destroy_function_metadata(0x7000)
    launch(data, size=0)
    try:
        p.enter_instrumented_op(1, 2, 3)
    except TypeError as error:
        print("TypeError")
    kernel("nothing.json")
    kernel(metadata("bad.json", warps=0))
    with open("text.json", "w") as file:
        file.write("no json")
    kernel("text.json")
    p.init_function_metadata(FUNCTION, "add", [(300, "a")], [], metadata())
    p.init_function_metadata(FUNCTION, "add", [(1, "a"), (2, "b")], [(1, 2), (2, 1)], metadata())
    launch(buffer(records=record(0, 1, 5) + record(1, 1, 8)))  # in a circle: each is where it is entered
    kernel(metadata(bytes=0))
    launch(data)  # it has none inside: the buffer is that of the launch before
    kernel()
    launch(data)
    p.finalize(session)


def modes():
    for mode in ("", "tpu", "cuda:default:nonsense", "cuda:default:buffer_size=x", "cuda:none", "cuda:default:granularity=cta",
                 "cuda:default:buffer_type=local", "cuda:default:optimizations=clock32,none",
                 "cuda:default:buffer_strategy=flush", "cuda:default:sampling_options=0,a",
                 "cuda:default:sampling_options=7-4", "cuda:default:sampling_options=0-3", "cuda:default:buffer_size=-1"):
        try:
            start(mode=mode)
        except (RuntimeError, ValueError) as error:
            print(type(error).__name__, error)
    for mode in ("cuda", "cuda:", "cuda:mma", "cuda:default:buffer_type=shared_mem", "cuda:default:buffer_type=global:optimizations=clock32, sched_stores",
                 "cuda:default:granularity=GRANULARITY.WARP:sampling_strategy=SAMPLING_STRATEGY.NONE"):
        p.finalize(start(mode=mode))


def sessions():
    ordinary = p.start("o", "shadow", "tree", "cupti")
    a, b = start("a"), start("b")
    kernel()
    data = buffer()
    launch(data)
    p.deactivate(a)
    launch(data)
    p.activate(a)
    p.finalize(b)
    launch(data)
    p.finalize_all()


def threads():
    session = start()
    kernel()

    def run():
        data = buffer()
        for _ in range(20):
            launch(data)

    all_of_them = [threading.Thread(target=run) for _ in range(64)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    p.finalize(session)


def forked():
    session = start()
    kernel()
    data = buffer()
    cuda.mock_defer(DEFER)
    launch(data)
    child = os.fork()
    if child == 0:
        launch(data)
        kernel()
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    cuda.mock_let_through(100)
    p.finalize(session)


globals()[sys.argv[2]]()
