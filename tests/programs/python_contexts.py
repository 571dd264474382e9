# SPDX-License-Identifier: MIT
# Launches kernels of a mock libcuda from all kinds of Python code, and says of each from where, as the
# interpreter knows it: python_contexts.py LIBCUDA held|released. Runs on Python 3.7 and newer.
import collections, concurrent.futures, ctypes, functools, json, os, signal, sys, threading

load = ctypes.PyDLL if sys.argv[2] == "held" else ctypes.CDLL  # the interpreter's lock, at a launch
cuda = load(sys.argv[1])
cuda.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint32] * 7 + [ctypes.c_void_p] * 3
keep = ctypes.CDLL(None).strdup  # the driver keeps pointers to names
keep.restype = ctypes.c_void_p
names = {}
expected = collections.Counter()
lock = threading.Lock()
LIBRARIES = "/site-packages/", "/dist-packages/", "/lib/python3", "<frozen "


def place(frame, line):
    code = frame.f_code
    return "%s:%d@%s" % (code.co_filename, line, getattr(code, "co_qualname", code.co_name))


def launch(name):
    frame = sys._getframe()
    path = [place(frame, launch.__code__.co_firstlineno + LAUNCHING)]
    while frame.f_back:
        frame = frame.f_back
        if not any(l in frame.f_code.co_filename for l in LIBRARIES):
            path.insert(0, place(frame, frame.f_lineno))
    with lock:
        expected["\n".join(path + [name])] += 1
        text = names.get(name) or names.setdefault(name, keep(name.encode()))
    cuda.cuLaunchKernel(text, 1, 1, 1, 1, 1, 1, 0, None, None, None)


with open(__file__, encoding="utf-8") as source:
    lines = source.read().split("\n")
LAUNCHING = lines.index("    cuda.cuLaunchKernel(text, 1, 1, 1, 1, 1, 1, 0, None, None, None)") + 1 \
    - launch.__code__.co_firstlineno


class Layer:
    def __init__(self, depth):
        self.inner = Layer(depth - 1) if depth else None

    def __call__(self):
        launch("gemm")
        if self.inner:
            self.inner()
        launch("relu")


def généré(n):
    for i in range(n):
        launch("softmax")
        yield i


def made(i):
    """Code whose memory is used again, for other names."""
    space = {"launch": launch}
    exec(compile("%sdef f%d():\n    launch('k%d')\n" % ("\n" * (i % 7), i // 9, i % 3), "made%d.py" % (i % 5),
                 "exec"), space)
    space["f%d" % (i // 9)]()


def fall(n):
    return fall(n - 1) if n else launch("deep")


def work():
    for _ in range(20):
        Layer(5)()
    consumed = généré(3)
    next(consumed)
    list(consumed)
    [launch("listed") for _ in range(3)]
    (lambda: launch("lambda"))()
    functools.reduce(lambda a, b: launch("reduced"), range(3))
    for i in range(200):
        made(i)


def traced(frame, event, arg):
    return traced


def on_signal(number, frame):
    launch("handler")


cuda.cuInit(0)
# Until the main thread has held against the interpreter what is read: none of this is expected.
warm = keep(b"warm")
for _ in range(2000):
    cuda.cuLaunchKernel(warm, 1, 1, 1, 1, 1, 1, 0, None, None, None)
work()
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
with concurrent.futures.ThreadPoolExecutor(2) as pool:  # the library's frames are left out
    list(pool.map(launch, ["pooled"] * 4))
signal.signal(signal.SIGUSR1, on_signal)
os.kill(os.getpid(), signal.SIGUSR1)
sys.settrace(traced)
Layer(2)()
sys.settrace(None)
fall(200)
print(json.dumps(expected))
