# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Truth: the task "worker" sleeps for 0.3 s in rests() and computes for 0.1 s of CPU time in computes(), again and again, for
main(), which gathers it and waits all the time. The task "listener" waits in listens() all the time. In between both, the event
loop waits."""

import asyncio
import time


async def rests():
    await asyncio.sleep(0.3)


def computes():
    until = time.thread_time() + 0.1
    while time.thread_time() < until:
        pass


async def works():
    while True:
        await rests()
        computes()


async def listens(event):
    await event.wait()


async def main():
    listener = asyncio.create_task(listens(asyncio.Event()), name="listener")
    await asyncio.gather(asyncio.create_task(works(), name="worker"))
    await listener


print("ready", flush=True)
asyncio.run(main())
