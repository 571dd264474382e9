# SPDX-License-Identifier: MIT
"""A loop of events, asyncio's or uvloop's: sockets, children, threads, signals, cancellation."""
import asyncio, contextvars, os, signal, sys

number = contextvars.ContextVar("number")


async def descend(n):
    if n:
        return await descend(n - 1)
    await asyncio.sleep(0)
    return number.get()


async def numbers(n):
    try:
        for i in range(n):
            number.set(i)
            yield await descend(i % 10)
    finally:
        await asyncio.sleep(0)


async def echo(reader, writer):
    while True:
        line = await reader.readline()
        if not line:
            break
        writer.write(line.upper())
        await writer.drain()
    writer.close()


async def ask(port, i):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number.set(i)
    for n in range(20):
        writer.write(b"%d a\n" % await descend(n))
        line = await reader.readline()
    writer.close()
    return line


async def cancelled():
    task = asyncio.ensure_future(asyncio.sleep(1000))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await asyncio.wait_for(task, 5)
    except asyncio.CancelledError:
        pass
    try:
        await asyncio.wait_for(asyncio.sleep(1000), 0.01)
    except asyncio.TimeoutError:
        return "in time"


async def signalled(loop):
    came = loop.create_future()
    loop.add_signal_handler(signal.SIGUSR1, lambda: came.done() or came.set_result("signal"))
    os.kill(os.getpid(), signal.SIGUSR1)
    return await came


async def main():
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(ask(port, i) for i in range(16))))
    server.close()
    print([i async for i in numbers(40)])
    walk = numbers(3)
    await walk.__anext__()
    await walk.aclose()
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input()[::-1])", stdin=-1, stdout=-1)
    print((await child.communicate(b"drawer\n"))[0], child.returncode)
    print(await asyncio.gather(*(loop.run_in_executor(None, sum, range(i * 10000)) for i in range(8))))
    print(await cancelled(), await signalled(loop))


if len(sys.argv) > 1:
    import uvloop
    uvloop.install() if sys.version_info < (3, 12) else asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
asyncio.run(main())
