"""What the trials of faults, overload and soak make of what they hear."""

import asyncio
import json
import unittest
from types import SimpleNamespace

from proof.client import NoAnswer
from proof.load import Lane, Outcome, percentile
from proof.migration import newest_lock
from proof.soak import judge
from proof.users import Heard, User

from tools.proxy import Proxy


class Answers:
    """In place of a connection: answers from a table, in turns where there are several."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    async def ask(self, method, path, body=None, key=None):
        """The next answer for the last part of the path."""
        self.asked.append((method, path, key))
        of_path = self.answers[path.rpartition("/")[2].partition("?")[0].replace("-", "_")]
        answer = of_path.pop(0) if len(of_path) > 1 else of_path[0]
        if answer is None:
            raise NoAnswer("broken")
        return answer[0], {}, json.dumps(answer[1]).encode()


def user(**answers):
    """One whose connection is a table."""
    tenant = SimpleNamespace(token=lambda number: "token")
    someone = User(tenant, 1, 0)
    someone.client = Answers(**answers)
    return someone


class UsersTest(unittest.TestCase):
    def test_a_refused_write_is_sent_again_under_its_key(self):
        someone = user(skills=[None, (503, {}), (201, {"version": 1})])
        asyncio.run(someone.create(asyncio.Event(), "made-1"))
        self.assertEqual(len({key for _, _, key in someone.client.asked}), 1)
        self.assertEqual(someone.heard.refused, {"no answer": 1, "503": 1})
        self.assertEqual((someone.heard.sent, someone.heard.acknowledged), (3, 1))

    def test_what_is_missing_older_or_other_is_lost(self):
        someone = user(skills=[(201, {"version": 1})])
        asyncio.run(someone.create(asyncio.Event(), "made-1"))
        text = someone.skill("made-1")["content"]
        for found, lost in (((200, {"version": 1, "content": text}), 0), ((404, {}), 1), ((200, {"version": 2, "content": text}), 1),
                            ((200, {"version": 1, "content": "other"}), 1)):
            someone.client = Answers(made_1=[found])
            self.assertEqual(len(asyncio.run(someone.lost())), lost, found)

    def test_a_change_that_was_done_twice_is_found(self):
        someone = user(skills=[(200, {"version": 2})])
        asyncio.run(someone.change(asyncio.Event()))
        text = someone.skill("kept")["content"]
        someone.client = Answers(kept=[(200, {"version": 2, "content": text})])
        self.assertEqual(len(asyncio.run(someone.lost())), 1)

    def test_a_turn_is_lost_but_where_a_version_that_it_showed_has_left(self):
        someone = user()
        someone.turns = {("s", 1): "text"}
        for answer, lost in (((200, {"text": "text"}), 0), ((200, {"text": "other"}), 1), ((404, {}), 1),
                             ((409, {"type": "/problems/answer-gone"}), 0)):
            someone.client = Answers(**{"1": [answer]})
            self.assertEqual(len(asyncio.run(someone.lost())), lost, answer)

    def test_it_has_recovered_when_each_kind_has_succeeded(self):
        heard = Heard()
        for kind in ("save", "read", "turn"):
            heard.note(kind, 200, 0.1)
        self.assertIsNone(heard.recovered_in())
        heard.end()
        heard.note("save", 200, 0.1)
        heard.note("read", 503, 0.1)
        heard.note("turn", 200, 0.1)
        self.assertIsNone(heard.recovered_in())
        heard.note("read", 200, 0.1)
        self.assertLess(heard.recovered_in(), 5)


class LoadTest(unittest.TestCase):
    def test_answers_are_weighed_by_what_their_kind_costs(self):
        outcome = Outcome([("turn", 200, 0.1), ("list", 200, 0.2), ("list", 503, 0.001), ("save", None, 1.0)], 2, 2)
        self.assertEqual(outcome.good(), 1.0)
        self.assertEqual(outcome.good({"turn": 0.004, "list": 0.001}), 0.0025)
        self.assertEqual(outcome.latencies(), [0.1, 0.2])
        self.assertEqual(outcome.refused(), "1 x 503, 1 x no answer, 2 x not sent")

    def test_percentiles(self):
        self.assertEqual(percentile([], 0.99), 0.0)
        self.assertEqual(percentile(range(100), 0.99), 99)

    def test_an_answer_is_whole_when_its_body_is(self):
        heard = []
        load = SimpleNamespace(answered=lambda lane, status, body: heard.append((status, body)))
        lane = Lane(load)
        lane.due = 0.0
        for part in (b"HTTP/1.1 503 Service", b" Unavailable\r\nContent-Length: 4\r\n\r\nab", b"cd"):
            self.assertEqual(heard, [])
            lane.data_received(part)
        self.assertEqual(heard, [(503, b"abcd")])


class ProxyTest(unittest.TestCase):
    def test_it_carries_stalls_and_resets(self):
        async def echo(reader, writer):
            while part := await reader.read(100):
                writer.write(part)

        async def try_it():
            server = await asyncio.start_server(echo, "127.0.0.1", 0)
            proxy = Proxy(server.sockets[0].getsockname()[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            writer.write(b"one")
            self.assertEqual(await reader.readexactly(3), b"one")
            proxy.stall()
            writer.write(b"two")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(reader.readexactly(3), 0.2)
            proxy.flow()
            self.assertEqual(await asyncio.wait_for(reader.readexactly(3), 5), b"two")
            await asyncio.to_thread(proxy.reset)
            with self.assertRaises((ConnectionError, EOFError)):
                await asyncio.wait_for(reader.readexactly(1), 5)
            writer.close()
            await asyncio.to_thread(proxy.close)
            server.close()

        asyncio.run(try_it())


class LevelsTest(unittest.TestCase):
    def judged(self, last, refused=(), lost=()):
        """The verdicts for a memory that was 200 MiB in the middle third."""
        heard = Heard()
        heard.refused.update(refused)
        levels = [(at / 30, {"memory": 200 if at < 20 else last, "connections": 40}) for at in range(30)]
        rows, missed = judge(heard, levels, list(lost), 10)
        return [row["verdict"] for row in rows], len(missed)

    def test_flat_is_within_a_tenth(self):
        self.assertEqual(self.judged(219), (["flat", "flat", "met"], 0))
        self.assertEqual(self.judged(221), (["missed", "flat", "met"], 1))

    def test_a_loss_or_an_error_is_missed(self):
        self.assertEqual(self.judged(200, ["503", "no answer"]), (["flat", "flat", "met"], 0))
        self.assertEqual(self.judged(200, ["500"])[0][-1], "missed")
        self.assertEqual(self.judged(200, lost=["a skill"])[0][-1], "missed")


class MigrationTest(unittest.TestCase):
    def test_there_is_one_that_locks_a_table_of_before(self):
        before, migration, table = newest_lock()
        self.assertTrue(before and before[-1].name < migration.name)
        self.assertRegex(migration.read_text(), rf"(alter table|references) {table}\b")
