# SPDX-License-Identifier: MIT
"""What is tested, covered and debugged: branches, generators, threads, coroutines, exceptions, children."""
import asyncio
import contextlib
import subprocess
import sys
import threading


class Basket:
    def __init__(self):
        self.items = []

    def add(self, name, price, n=1):
        if n < 1:
            raise ValueError("no %s" % name)
        elif n > 3:
            price *= 0.5
        self.items.append((name, price * n))
        return self

    @property
    def total(self):
        return sum(price for _, price in self.items)

    def walk(self):
        for name, price in self.items:
            if price > 10:
                yield name.upper()
            else:
                yield name


def depth(n):
    if n:
        return 1 + depth(n - 1)
    return 0


@contextlib.contextmanager
def opened(basket):
    try:
        yield basket
    finally:
        basket.items.append(("bag", 0))


def in_threads(n):
    found = [0] * n

    def work(i):
        found[i] = depth(50 + i) + sum(len(name) for name in Basket().add("pear", i, 2).walk())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


async def deliver(i):
    await asyncio.sleep(0)
    if i == 2:
        raise RuntimeError("lost")
    return i


async def deliver_all():
    return await asyncio.gather(*(deliver(i) for i in range(4)), return_exceptions=True)


def in_child():
    return subprocess.check_output([sys.executable, "-I", "-c", "print(sum(range(10)))"])


def main():
    basket = Basket().add("apple", 1, 5).add("melon", 20)
    with opened(basket):
        names = list(basket.walk())
    print(names, basket.total)
    try:
        basket.add("nut", 1, 0)
    except ValueError as e:
        print("refused:", e)
    print(in_threads(4))
    print(asyncio.run(deliver_all()))
    print(in_child())


if __name__ == "__main__":
    main()
