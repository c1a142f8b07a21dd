"""What the harness sends and runs: references, texts, and the wire that counts."""

import re
import socket
import threading
import unittest
from pathlib import Path

from harness import plans, statements, texts
from harness.operations import OPERATIONS, REFUSED, rendered_files
from harness.seed import lua, quoted
from harness.wire import Wire

LUA = Path(__file__).resolve().parents[1] / "wrk/knowhow.lua"


class StatementsTest(unittest.TestCase):
    def test_the_references_fit_the_sql_of_the_service(self):
        for name in ["functions.sql", *rendered_files().values()]:
            self.assertNotIn("@end", statements.render(name), name)

    def test_the_plans_that_are_shown_are_of_statements_of_the_service(self):
        self.assertLessEqual(set(plans.HOT), set(statements.service_statements()))

    def test_floors_take_nothing_from_the_service(self):
        floors = sorted(statements.SQL.glob("floor_*.sql"))
        self.assertGreater(len(floors), 6)
        for path in floors:
            text = path.read_text()
            self.assertFalse("@" in text, path.name)
            if path.name != "floor_fill.sql":
                self.assertTrue(text.startswith("-- Frozen: nobody edits this file."), path.name)

    def test_a_parameter_stands_where_any_expression_may(self):
        self.assertEqual(statements.atom(":tenant"), ":tenant")
        self.assertEqual(statements.atom("a - b"), "(a - b)")

    def test_each_operation_is_one_of_the_script(self):
        known = set(re.findall(r"^  (\w+) = function\(\)", LUA.read_text(), re.M))
        self.assertLessEqual({operation.name for operation in OPERATIONS}, known)
        self.assertLessEqual({operation.jwt for operation in OPERATIONS}, set(REFUSED))


class TextsTest(unittest.TestCase):
    def real(self):
        """Three skills, of which a message asks for the last, and one that is left out."""
        skill = {"name": "Plan trips", "description": "Plan a trip by train.", "body": "line\n" * 400, "nonlatin": 0}
        skills = [{**skill, "id": "a"}, {**skill, "id": "b"}, {**skill, "id": "c", "description": "Find what is wanted."},
                  {**skill, "id": "d", "body": "\r\n" * 1000}]
        return texts.Real(skills, [{"query": 'find "it"', "relevant": ["c", "d"]}])

    def test_skills_that_messages_ask_for_come_first(self):
        real = self.real()
        first = real.skill()
        self.assertEqual((first["wish"], first["description"], first["tags"]), ('find "it"', "Find what is wanted.", ["plan", "trips"]))
        self.assertIsNone(real.skill()["wish"])
        self.assertEqual(real.again().skill(), first)
        self.assertEqual(len(real.skills), 3)

    def test_a_body_is_cut_behind_a_line(self):
        self.assertEqual(self.real().skill(12)["content"], "line\nline\n")
        self.assertEqual(texts.cut("no line at all", 7), "no line")
        self.assertEqual(texts.cut("äöü", 3), "ä")

    def test_the_built_in_texts_are_marked_and_the_same_each_time(self):
        one, other = texts.BuiltIn(), texts.BuiltIn()
        self.assertEqual(one.skill(), other.skill())
        self.assertNotEqual(one.kind, texts.REAL)
        self.assertEqual(one.again().skill(), texts.BuiltIn().skill())

    def test_a_missing_corpus_is_said(self):
        said, before = [], texts.CORPUS
        texts.CORPUS = Path("/nonexistent")
        try:
            self.assertIsInstance(texts.choose_texts(said.append), texts.BuiltIn)
        finally:
            texts.CORPUS = before
        self.assertIn("/nonexistent", said[0])

    def test_real_texts_survive_json_and_lua(self):
        self.assertEqual(lua(quoted('say "a\\b"\n')), '"say \\\\\\"a\\\\\\\\b\\\\\\"\\\\n"')


class WireTest(unittest.TestCase):
    def test_a_round_trip_is_counted_once_however_much_is_sent(self):
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        wire = Wire(server.getsockname()[1])
        client = socket.create_connection(("127.0.0.1", wire.port))

        def exchange(words):
            client.sendall(words)
            self.assertEqual(client.recv(100), b"done")

        exchange(b"hello;")  # the first words follow no answer
        self.assertEqual(wire.count(lambda: exchange(b"begin; select; commit;")), 1)
        self.assertEqual(wire.count(lambda: [exchange(b"begin;"), exchange(b"commit;")]), 2)
        self.assertEqual(wire.count(lambda: None), 0)
        client.close()
        wire.close()
        server.close()


def answer(server):
    """Says `done` to whatever ends with a semicolon."""
    connection, _ = server.accept()
    while words := connection.recv(1000):
        if words.endswith(b";"):
            connection.sendall(b"done")
