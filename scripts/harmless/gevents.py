# SPDX-License-Identifier: MIT
"""A patched program: threads are greenlets, sockets and children wait in the loop."""
from gevent import monkey
monkey.patch_all()
import queue, socket, subprocess, sys, threading, time
import gevent, gevent.event, gevent.pool, gevent.server, gevent.threadpool


def descend(n, end):
    return end() if not n else descend(n - 1, end)


def echo(client, _):
    while True:
        data = client.recv(100)
        if not data:
            return
        client.sendall(descend(20, data.upper))


def ask(port, i):
    with socket.create_connection(("127.0.0.1", port)) as s:
        found = b""
        for n in range(20):
            s.sendall(b"%d a%d;" % (i, n))
            found += descend(i, lambda: s.recv(100))
        return len(found)


def main():
    server = gevent.server.StreamServer(("127.0.0.1", 0), echo)
    server.start()
    pool = gevent.pool.Pool(16)
    print(pool.map(lambda i: ask(server.server_port, i), range(32)))
    server.stop()

    lines, threads = queue.Queue(), []
    for i in range(8):
        threads.append(threading.Thread(target=lambda i=i: (time.sleep(0.001 * i), lines.put(i))))
        threads[-1].start()
    print(sorted(lines.get() for _ in threads))

    killed = gevent.spawn(lambda: descend(50, lambda: gevent.sleep(1000)))
    gevent.sleep(0)
    killed.kill()
    try:
        with gevent.Timeout(0.01):
            descend(10, lambda: gevent.sleep(1000))
    except gevent.Timeout:
        print("in time", killed.dead)
    native = gevent.threadpool.ThreadPool(3)
    print(native.map(lambda n: descend(n, lambda: n * n), range(20)))
    print(subprocess.check_output([sys.executable, "-c", "print('child')"]))
    failed = gevent.spawn(lambda: descend(3, lambda: 1 // 0))
    failed.join()
    print(repr(failed.exception))


main()
