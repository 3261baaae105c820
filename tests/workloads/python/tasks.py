# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: asyncio's tasks that wait for timers, for each other and for a queue, one whose future is done, one that has not
begun, and the main one, which runs. It prints as JSON the name of each task but the main one, with the function, file and
line of each of its coroutines, found by cr_await and its kin; then it stands still until a line arrives on its input.
"""

import asyncio
import json
import sys
import types


async def fetch():
    await asyncio.sleep(1000)


async def handle():
    await fetch()


async def numbers():
    yield 1
    await asyncio.sleep(1000)
    yield 2


class Later:
    def __await__(self):
        yield from asyncio.sleep(1000).__await__()


async def later():
    await Later()


@types.coroutine
def old_style():
    yield from asyncio.sleep(1000).__await__()


async def calls_old():
    await old_style()


async def gathers():
    await asyncio.gather(*[asyncio.create_task(handle(), name=f"gathered-{i}") for i in range(2)])


async def groups():
    async with asyncio.TaskGroup() as group:
        for i in range(2):
            group.create_task(handle(), name=f"grouped-{i}")


async def groups_and_sleeps():
    async with asyncio.TaskGroup() as group:
        group.create_task(handle(), name="of-sleeper")
        await asyncio.sleep(1000)


async def waits_for(task):
    await task


async def consumes(queue):
    while True:
        await queue.get()


async def ends():
    pass


async def is_called_soon(future):
    await future


def chain(coroutine):
    """Yields the place of each frame, as far as another process can follow it: not beyond a generator."""
    while coroutine is not None:
        frame = next((getattr(coroutine, name) for name in ("cr_frame", "ag_frame", "gi_frame") if hasattr(coroutine, name)), None)
        if frame is None:
            return
        code = frame.f_code
        line = frame.f_lineno if frame.f_lasti >= 0 else code.co_firstlineno
        yield [code.co_qualname, code.co_filename, line]
        if hasattr(coroutine, "gi_frame"):
            return
        coroutine = next((getattr(coroutine, name) for name in ("cr_await", "ag_await") if hasattr(coroutine, name)), None)
        if type(coroutine).__name__ == "async_generator_asend":
            coroutine = GENERATOR[0]


GENERATOR = [numbers()]  # nothing leads from async_generator_asend to it


async def loops():
    async for _ in GENERATOR[0]:
        pass


async def main():
    queue = asyncio.Queue()
    first = asyncio.create_task(handle(), name="handler-0")
    started = [first, *(asyncio.create_task(handle(), name=f"handler-{i}") for i in range(1, 3))]
    for name, coroutine in (("loops", loops()), ("later", later()), ("old", calls_old()), ("gathers", gathers()),
                            ("groups", groups()), ("sleeper", groups_and_sleeps()),
                            ("waits", waits_for(first)), ("consumes", consumes(queue)), ("s\xfc\u2603", handle())):
        started.append(asyncio.create_task(coroutine, name=name))
    started.append(asyncio.create_task(handle()))
    await asyncio.create_task(ends(), name="ended")
    await asyncio.sleep(0.1)
    done = asyncio.get_running_loop().create_future()
    asyncio.create_task(is_called_soon(done), name="ready")
    await asyncio.sleep(0)
    done.set_result(None)
    fresh = asyncio.create_task(handle(), name="fresh")
    tasks = {task.get_name(): list(chain(task.get_coro())) for task in asyncio.all_tasks() if task is not asyncio.current_task()}
    print("ready", flush=True)
    print(json.dumps(tasks), flush=True)
    sys.stdin.readline()
    await fresh


asyncio.run(main())
