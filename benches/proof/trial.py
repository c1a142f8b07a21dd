"""Tries one fault after the other under load, and writes the table."""

import asyncio
import time

from .disk import DiskFull
from .faults import all_faults
from .stage import Stage
from .users import Heard, User

GOAL_S, FAILS_S = 5, 30
BEFORE_S = AFTER_S = 1.0
COLUMNS = ("fault", "sent", "acknowledged", "lost", "refused", "longest answer", "first success after")


def try_faults(program, work, options, say):
    """The rows of the table, and what was missed."""
    rows, missed = [], []
    stage = Stage(program, work)
    try:
        begin(stage, options)
        for fault in all_faults(options.quick):
            try_one(stage, fault, rows, missed, say)
    finally:
        stage.stop()
    if not options.quick:
        try_disk(program, work, options, rows, missed, say)
    return rows, missed


def begin(stage, options):
    """The service, and users who know nothing yet."""
    stage.serve()
    stage.people = stage.tenant()
    stage.users = [User(stage.people, number, stage.port) for number in range(1, options.users + 1)]


def try_disk(program, work, options, rows, missed, say):
    """The one that needs a disk of its own."""
    fault = DiskFull(5)
    stage, folder = DiskFull.stage(program, work)
    if stage is None:
        say(f"  {fault.title.format(seconds=fault.seconds)}: {folder}")
        rows.append(dict.fromkeys(COLUMNS, "") | {"fault": fault.title.format(seconds=fault.seconds), "sent": folder})
        return
    try:
        begin(stage, options)
        try_one(stage, fault, rows, missed, say)
    finally:
        stage.stop()
        DiskFull.leave(folder)


def try_one(stage, fault, rows, missed, say):
    """One fault; a row of the table."""
    title = fault.title.format(seconds=fault.seconds)
    fault.prepare(stage)
    heard, lost = asyncio.run(live_through(stage, fault))
    wrong = fault.settle(stage)
    took = heard.recovered_in()
    wrong += [f"{len(lost)} acknowledged are lost: {', '.join(lost[:3])}"] if lost else []
    if took is None:
        wrong.append(f"no success within {FAILS_S} s")
    elif took > GOAL_S:
        wrong.append(f"the first success came after {took:.1f} s")
    if heard.refused["500"]:
        wrong.append(f"{heard.refused['500']} answers were 500")
    refused = ", ".join(f"{count:,} x {status}" for status, count in sorted(heard.refused.items())) or "none"
    figures = [title, f"{heard.sent:,}", f"{heard.acknowledged:,}", str(len(lost)), refused, f"{heard.slowest:.1f} s",
               "never" if took is None else f"{took:.2f} s"]
    rows.append(dict(zip(COLUMNS, figures)))
    missed += [f"{title}: {one}" for one in wrong]
    say(f"  {title}: {heard.sent:,} sent, {heard.acknowledged:,} acknowledged, {len(lost)} lost; {refused}; "
        f"first success {'never' if took is None else f'after {took:.2f} s'}{'; MISSED: ' if wrong else ''}{'; '.join(wrong)}")


async def live_through(stage, fault):
    """The users before, in and after a fault: what they heard, and what they miss."""
    heard, over = Heard(), asyncio.Event()
    for user in stage.users:
        user.heard = heard
        user.client.close()
        user.client.reader = None
    living = [asyncio.create_task(user.live(over)) for user in stage.users]
    try:
        await asyncio.sleep(BEFORE_S)
        await asyncio.to_thread(fault.hurt, stage, heard.end)
        while heard.recovered_in() is None and time.monotonic() - heard.over_at < FAILS_S:
            await asyncio.sleep(0.02)
        await asyncio.sleep(AFTER_S)
    finally:
        over.set()
        await asyncio.gather(*living)
    lost = [one for user in stage.users for one in await user.lost()]
    for user in stage.users:
        user.client.close()
    return heard, lost
