# SPDX-License-Identifier: MIT
"""python_odd.py LIBCUDA CASE: what few Python programs do, with kernels of a mock libcuda. It prints the
same with and without a profiler; where it launches from is said in lines "launched: NAME"."""
import atexit, ctypes, os, signal, struct, sys, threading, time

cuda = None
keep = ctypes.CDLL(None).strdup  # the driver keeps pointers to names
keep.restype = ctypes.c_void_p
kernel = ctypes.c_void_p(keep(b"k"))


def launch():
    cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)


def begin():
    """Until frames have been held against what the interpreter says."""
    global cuda
    cuda = ctypes.CDLL(sys.argv[1])
    cuda.cuInit(0)
    for _ in range(500):
        launch()


def said(name, call):
    print("launched:", name)
    call()


def lines():
    """Code of one name and size at one address, whose lines differ within it."""
    begin()
    for i in range(60):
        space = {"launch": launch}
        exec("def f():\n" + "\n" * (i % 3) + "    launch()\n", space)
        said("<string>:%d@f" % (2 + i % 3), space["f"])


def names():
    """… and whose names differ in the middle."""
    begin()
    for i in range(60):
        name, space = "compute_%04d_forward_layer" % (i % 3), {"launch": launch}
        exec("def %s():\n    launch()\n" % name, space)
        said("<string>:2@" + name, space[name])


def cells():
    """Cells of IPython, and files that only look like them."""
    begin()
    for file, shown in (("<ipython-input-3-0a1b2c>", "<cell 3>"), ("<ipython-input-1234-f>", "<cell 1234>"),
                        ("<ipython-input-7>",) * 2, ("<ipython-input--7>",) * 2, ("<ipython-input-",) * 2):
        space = {"launch": launch}
        exec(compile("def f():\n    launch()\n", file, "exec"), space)
        said(shown + ":2@f", space["f"])


class Text(str):
    pass


def replaced(**fields):
    code, was = launch.__code__, os.path.basename(__file__)
    line = code.co_firstlineno + 1
    if "co_name" in fields and hasattr(code, "co_qualname"):
        fields["co_qualname"] = fields["co_name"]
    code = code.replace(**fields)
    said("%s:%d@%s" % (fields.get("co_filename", "…/" + was), line, fields.get("co_name", "launch")),
         lambda: exec(code))


def texts():
    """Names that are long, wide, and of classes of the program's own."""
    begin()
    if sys.version_info < (3, 8):
        return
    for text in "x", "é" * 90, "\u4e2d" * 30, "\U0001f600" * 9:
        replaced(co_filename=Text(text))
        replaced(co_name=Text(text))
        replaced(co_filename=text, co_name="of " + text)
    for i in range(3):
        exec(launch.__code__.replace(co_filename=Text("y" * 20000000 + str(i))))


def audited():
    """What is audited is the program's doing alone."""
    seen = set()
    if sys.version_info >= (3, 9):
        sys.addaudithook(lambda event, args: seen.add((event, str(args[1:2]))))
    begin()
    said("…/python_odd.py:%d@launch" % (launch.__code__.co_firstlineno + 1), launch)
    print(("object.__getattr__", "('f_code',)") in seen)


def forbidden():
    """A container that does not let a process read its memory through the kernel."""
    libc, number = ctypes.CDLL(None), {"x86_64": 310, "aarch64": 270}[os.uname().machine]
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *r) for r in rules))
    libc.prctl(38, 1, 0, 0, 0)
    libc.prctl(22, 2, ctypes.c_char_p(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))), 0, 0)
    begin()
    said("…/python_odd.py:%d@launch" % (launch.__code__.co_firstlineno + 1), launch)


def deep():
    """The first look is from further within than is looked."""
    def fall(n):
        if n:
            fall(n - 1)
        else:
            begin()
    fall(400)
    said("…/python_odd.py:%d@launch" % (launch.__code__.co_firstlineno + 1), launch)


class AtEnd:
    """Deleted when the interpreter has freed the states of other threads: their memory becomes others',
    and one of them, which does not know, works for the GPU (a signal's handler in C)."""

    def __init__(self, thread, tid):
        self.keep = (thread.ident, "/proc/self/task/%d" % tid, ctypes.PyDLL(None), ctypes.memset, os.path.exists,
                     time.monotonic, range, os.write)
        self.keep[2].malloc.restype = ctypes.c_void_p
        self.keep[2].pthread_kill.argtypes = [ctypes.c_ulong, ctypes.c_int]

    def __del__(self):
        ident, task, libc, memset, exists, now, numbers, write = self.keep
        for size in numbers(200, 4000, 8):
            for _ in numbers(8):
                memset(libc.malloc(size), 0x41, size)
        libc.pthread_kill(ident, 10)
        until = now() + 0.5  # 3.14 and newer do not end it
        while exists(task) and now() < until:
            pass
        write(1, b"ended\n")


def state_of(tid):
    with open("/proc/self/task/%d/stat" % tid) as stat:
        return stat.read().rpartition(")")[2].split()[0]


def ending():
    begin()
    libc = ctypes.CDLL(None)
    libc.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    libc.signal(signal.SIGUSR1, ctypes.cast(cuda.cuMemcpyHtoD_v2, ctypes.c_void_p))
    tids = []
    thread = threading.Thread(target=lambda: (tids.append(libc.gettid()), libc.pause()), daemon=True)
    thread.start()
    while not tids or state_of(tids[0]) != "S":
        pass
    sys.kept_to_the_end = AtEnd(thread, tids[0])


def leaving():
    """The first launches come from exit handlers: one with the interpreter's lock, one without."""
    def launch(library):
        library.cuInit(0)
        library.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
    atexit.register(launch, ctypes.PyDLL(sys.argv[1]))
    atexit.register(launch, ctypes.CDLL(sys.argv[1]))


def waiting():
    """The main thread executes nothing while another one launches: it reads from a pipe."""
    ends = os.pipe()

    def work():
        doing = "/proc/self/task/%d/syscall" % os.getpid()
        waits = False
        while not waits:
            with open(doing) as call:
                waits = call.read().split()[1:2] == [hex(ends[0])]
        begin()
        os.write(ends[1], b"x")
    thread = threading.Thread(target=work)
    thread.start()
    os.read(ends[0], 1)
    thread.join()


{f.__name__: f for f in (lines, names, cells, texts, audited, forbidden, deep, ending, leaving, waiting)}[sys.argv[2]]()
