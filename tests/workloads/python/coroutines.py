# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Two asyncio tasks: a turn of first_outer first_middle first_works takes three times as long as one of
second_outer second_works. The running coroutine is the leaf; its callers are its awaiters and asyncio.
"""

import asyncio


def spin(count):
    total = 0
    for i in range(count):
        total = (total * 31 + i) & 0xFFFF
    return total


async def first_works():
    while True:
        spin(60000)
        await asyncio.sleep(0)


async def first_middle():
    await first_works()


async def first_outer():
    await first_middle()


async def second_works():
    while True:
        spin(20000)
        await asyncio.sleep(0)


async def second_outer():
    await second_works()


async def main():
    print("ready", flush=True)
    await asyncio.gather(first_outer(), second_outer())


asyncio.run(main())
