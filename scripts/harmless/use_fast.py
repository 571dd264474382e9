# SPDX-License-Identifier: MIT
import asyncio, sys, threading, traceback
import fast


def square(i):
    return sum(fast.walk(i)) + len(fast.apply(str, i % 4))


def main():
    print(fast.apply(square, 30))
    threads = [threading.Thread(target=fast.without_lock, args=(200000,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(fast.without_lock(1000), asyncio.run(fast.Held("late").later()))
    try:
        fast.apply(lambda i: fast.Held(i).fail(), 3)
    except LookupError:
        print(traceback.format_exc())
    seen = []
    sys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
    fast.apply(square, 5)
    sys.setprofile(None)
    print(len(seen), seen)


main()
