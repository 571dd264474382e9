# SPDX-License-Identifier: MIT
"""Stacks that are switched away from, of Python and of C below it, and dropped unfinished."""
import functools
import gc
import sys
import threading
import greenlet


def descend(n, switch):
    return switch() if not n else descend(n - 1, switch) + 1


def through_c(n, switch):
    """A switch with frames of sorted() and of a generator in between."""
    return sorted(range(2), key=lambda i: descend(n, switch) if i else 0)


def body(i, n_rounds, _=None):
    found = 0
    for n in range(n_rounds):
        found += descend(10 * i + n % 7, functools.partial(main_of().switch, i))
        through_c(n % 5, functools.partial(main_of().switch, i))
    return ("done", i, found)


def main_of():
    g = greenlet.getcurrent()
    while g.parent:
        g = g.parent
    return g


def rounds(n_greenlets, n_rounds):
    found = []
    pending = [greenlet.greenlet(functools.partial(body, i, n_rounds)) for i in range(n_greenlets)]
    while pending:
        for g in list(pending):
            result = g.switch(1)
            if g.dead:
                found.append(result)
                pending.remove(g)
    return sorted(found)


def with_errors():
    def fails():
        try:
            main_of().switch()
        finally:
            descend(5, lambda: 0)
        raise KeyError("after")
    g = greenlet.greenlet(fails)
    g.switch()
    try:
        g.switch()
    except KeyError as e:
        return repr(e)


def dropped(n):
    for _ in range(n):
        g = greenlet.greenlet(lambda: descend(30, main_of().switch))
        g.switch()
        del g
    gc.collect()
    return n


def traced():
    seen = []
    greenlet.settrace(lambda event, args: seen.append(event))
    rounds(2, 2)
    greenlet.settrace(None)
    return len(seen), sorted(set(seen))


def by_generator():
    def numbers():
        for i in range(50):
            yield descend(i % 9, main_of().switch)
    g = greenlet.greenlet(lambda: sum(numbers()))
    result = g.switch()
    while not g.dead:
        result = g.switch(2)
    return result


def main():
    print(rounds(8, 200))
    print(with_errors(), dropped(200), traced(), by_generator())
    found = [None] * 4
    def work(i):
        found[i] = rounds(3, 100)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(found)
    sys.setrecursionlimit(20000)
    print(greenlet.greenlet(lambda: descend(2000, lambda: 0)).switch())


main()
