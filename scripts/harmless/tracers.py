# SPDX-License-Identifier: MIT
"""What hooks of the interpreter see is what they see without us: each event, in its order."""
import atexit, cProfile, faulthandler, gc, pstats, signal, sys, threading, tracemalloc, weakref
import shop

seen = []


def note(frame, event, arg):
    if frame.f_code.co_filename.endswith("shop.py"):
        frame.f_trace_opcodes = True
        seen.append((frame.f_code.co_name, event, frame.f_lineno))
    return note


def tell(what):
    print(what, len(seen), seen[:3], hash(tuple((s[1], s[-1]) for s in seen if isinstance(s[-1], int))) != 0)
    for s in seen:
        print("  ", *s)
    seen.clear()


def work():
    basket = shop.Basket().add("apple", 1, 5).add("melon", 20)
    with shop.opened(basket):
        list(basket.walk())
    return shop.depth(10)


def monitored():
    monitoring = getattr(sys, "monitoring", None)
    if not monitoring:
        return
    e, tool = monitoring.events, monitoring.PROFILER_ID
    print([monitoring.get_tool(i) for i in range(6)])
    monitoring.use_tool_id(tool, "note")
    for event in e.LINE, e.PY_START, e.PY_RETURN, e.PY_YIELD, e.CALL, e.RAISE:
        monitoring.register_callback(tool, event, lambda code, *rest, event=event: seen.append(
            (event, code.co_name)) if code.co_filename.endswith("shop.py") else None)
    monitoring.set_events(tool, e.LINE | e.PY_START | e.PY_RETURN | e.PY_YIELD | e.CALL | e.RAISE)
    work()
    monitoring.set_events(tool, 0)
    monitoring.free_tool_id(tool)
    tell("monitoring")


def main():
    sys.settrace(note)
    work()
    sys.settrace(None)
    tell("trace")
    threading.setprofile(note)
    sys.setprofile(note)
    shop.in_threads(1)
    work()
    sys.setprofile(None)
    threading.setprofile(None)
    tell("profile")
    monitored()
    profile = cProfile.Profile()
    profile.runcall(work)
    for (_, line, name), (n, total, *_) in sorted(pstats.Stats(profile).stats.items()):
        print(line, name, n, total)
    tracemalloc.start(20)
    kept = [bytes(1000) for _ in range(100)]
    size, n = next((s.size, s.count) for s in tracemalloc.take_snapshot().statistics("lineno") if s.count >= 100)
    print(size, n, len(kept))
    tracemalloc.stop()
    hooks = []
    sys.addaudithook(lambda event, args: hooks.append(event) if event in ("compile", "exec") else None)
    eval("1 + 1")
    print(hooks)
    gc.callbacks.append(lambda phase, info: hooks.append(phase))
    gc.collect()
    gc.callbacks.clear()
    print(hooks)
    signal.signal(signal.SIGALRM, lambda number, frame: hooks.append(frame.f_code.co_name))
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while len(hooks) < 5:
        pass
    print(hooks[-1])
    faulthandler.dump_traceback(all_threads=True)
    print([signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGSEGV)])
    print(threading.enumerate(), sys.gettrace(), sys.getprofile(), len(sys._current_frames()))
    class Held: pass
    held = Held()
    weakref.finalize(held, print, "finalized")
    atexit.register(print, "at exit", work())


main()
