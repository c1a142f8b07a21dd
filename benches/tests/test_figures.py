"""The arithmetic of the harness: what is made of samples, and what is written down of it."""

import argparse
import io
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

import run
from harness import load, plans
from harness.compare import compare
from harness.load import spent
from harness.mixed import memory_line, refusals
from harness.operations import BY_NAME
from harness.quiet import disturbances, wait_for_quiet
from harness.report import cost_rows, operation_rows
from harness.samples import Samples, combined_rate, drift
from harness.suite import DEADLINE_MS, haste
from harness.table import markdown_table, write

from tools.settings import Failed


def sample(rate, service=0.1, postgres=0.2):
    """One measurement."""
    return {"rate": rate, "requests": 100, "p50_ms": 1.0, "p99_ms": 2.0, "p999_ms": 3.0,
            "cpu_ms": {"service": service, "postgres": postgres, "client": 0.01}}


def samples(**of_keys):
    """Samples by key; `__` stands for a blank."""
    kept = Samples()
    for key, all_of_it in of_keys.items():
        for one in all_of_it:
            kept.keep(key.replace("__", " "), one)
    return kept


class PostgresTest(unittest.TestCase):
    """The CPU seconds of a server whose backends come and go."""

    def test_a_backend_that_goes_meanwhile_is_counted_once(self):
        living, collected_so_far = {"7": 3.0, "8": 2.0}, [1.0]

        def seconds(pid, collected=False):
            if not collected:
                return living.get(pid, 0.0)
            # Just behind this look 8 ends, and the postmaster collects it.
            seen = collected_so_far[0]
            collected_so_far[0] += living.pop("8", 0.0)
            return seen

        with mock.patch.object(load, "process_seconds", seconds), \
                mock.patch.object(load, "children_of", lambda _: sorted(living)):
            self.assertEqual(load.postgres_seconds(argparse.Namespace(postmaster=1)), 6.0)


class SamplesTest(unittest.TestCase):
    def test_medians_leave_out_what_was_not_measured(self):
        kept = samples(index=[sample(100), sample(300), {**sample(200), "cpu_ms": {"service": 0.5}}])
        self.assertEqual(kept.median("index", "rate"), 200)
        self.assertEqual(kept.median("index", "cpu_ms", "postgres"), 0.2)
        self.assertIsNone(kept.median("load", "rate"))
        self.assertAlmostEqual(kept.spread("index"), 1.0)
        self.assertEqual(kept.spread("load"), 0.0)

    def test_cpu_is_of_both_and_none_where_postgres_is_elsewhere(self):
        self.assertAlmostEqual(samples(index=[sample(1)]).cpu("index"), 0.3)
        self.assertIsNone(samples(index=[{"rate": 1, "cpu_ms": {"service": 0.1}}]).cpu("index"))

    def test_times_of_two_that_share_the_cores_add_up(self):
        self.assertAlmostEqual(combined_rate(1000, 1000), 500)
        self.assertAlmostEqual(1 / combined_rate(200, 300), 1 / 200 + 1 / 300)

    def test_cpu_of_one_is_in_milliseconds_and_leaves_out_what_is_unknown(self):
        before, after = {"service": 1.0, "postgres": None}, {"service": 3.0, "postgres": None}
        self.assertEqual(spent(before, after, 1000), {"service": 2.0})

    def test_drift_is_of_the_second_half_and_of_no_single_reading(self):
        self.assertAlmostEqual(drift([*range(50), *[100] * 50]), 0.0)
        self.assertAlmostEqual(drift([*[100] * 70, *[110] * 30]), 0.1)
        self.assertAlmostEqual(drift([100] * 99 + [500]), 0.0)
        self.assertEqual(drift([1, 100]), 0.0)


class QuietTest(unittest.TestCase):
    def test_a_run_waits_until_what_was_built_before_it_is_forgotten(self):
        loads, slept = iter([1.9, 1.9, 0.9, 0.4, 0.4, 0.4]), []
        self.assertEqual(wait_for_quiet(lambda line: None, lambda: next(loads), slept.append), 0.4)
        self.assertEqual(len(slept), 2)

    def test_a_busy_machine_is_not_waited_for_without_end(self):
        slept = []
        self.assertEqual(wait_for_quiet(lambda line: None, lambda: 2.0, slept.append), 2.0)
        self.assertEqual(sum(slept), 240)

    def test_what_disturbs_is_named(self):
        steady = samples(jwt_list=[sample(100), sample(110)], jwt_load=[sample(100), sample(130)])
        steady.keep("jwt_list at 1000", sample(1))
        self.assertEqual(disturbances(0.5, samples()), [])
        found = disturbances(0.6, steady)
        self.assertEqual(len(found), 2)
        self.assertIn("0.60", found[0])
        self.assertIn("jwt_load", found[1])

    def test_more_cpu_than_there_is_was_counted_wrongly(self):
        right, wrong = samples(raw=[sample(6000, 0.1, 0.2)]), samples(raw=[sample(6000, 0.1, 0.2), sample(6000, 0.1, 0.35)])
        self.assertEqual(disturbances(0.5, right, 2), [])
        self.assertEqual(disturbances(0.5, wrong, 2), ["raw was told of 2.8 cores, of which there are 2"])

    def test_a_measurement_with_a_few_refusals_is_repeated_and_that_is_told(self):
        answers = iter([load.Refused("turn", {"status": 6, "requests": 3422, "socket": 0}), sample(100)])

        def once(*_):
            answer = next(answers)
            if isinstance(answer, load.Refused):
                raise answer
            return answer

        with mock.patch.object(load, "try_wrk", once), redirect_stderr(io.StringIO()):
            found = disturbances(0.1, samples(turn=[load.run_wrk(None, None, "turn", 16, 1)]))
        self.assertEqual(found, ["turn had requests refused, and was measured again: 1 x"])

    def test_many_refusals_end_the_run(self):
        many = load.Refused("turn", {"status": 100, "requests": 3422, "socket": 0})
        with mock.patch.object(load, "try_wrk", side_effect=many), self.assertRaises(load.Refused):
            load.run_wrk(None, None, "turn", 16, 1)


class RowsTest(unittest.TestCase):
    def measured(self, rate):
        """The raw file at this rate, floor and JWT only at 1000."""
        kept = samples(raw=[sample(rate)], floor__raw=[sample(1000, 0.0, 0.05)], jwt_load=[sample(1000, 0.05, 0.0)])
        return {line["operation"]: line for line in operation_rows(kept, BY_NAME["raw"])}

    def test_the_combined_limit_decides(self):
        row = self.measured(430)["raw SKILL.md: combined limit with the floor"]
        self.assertEqual((row["ratio"][:4], row["verdict"]), ("0.86", "met"))
        self.assertIn("(0.33 of CPU)", row["ratio"])
        self.assertEqual(self.measured(420)["raw SKILL.md: combined limit with the floor"]["verdict"], "missed")

    def test_a_reference_that_was_left_out_makes_no_row(self):
        rows = self.measured(430)
        self.assertFalse([name for name in rows if "same SQL" in name])
        self.assertEqual(len(rows), 3)

    def test_writes_are_held_against_their_own_sql(self):
        kept = samples(save=[sample(90, 0.1, 0.3)], same__save=[sample(100, 0.0, 0.2)], floor__save=[sample(100)],
                       jwt_list=[sample(1000)])
        rows = {line["operation"]: line for line in operation_rows(kept, BY_NAME["save"])}
        self.assertEqual(rows["save a new version: combined limit with the floor"]["goal"], "")
        self.assertEqual(rows["save a new version: combined limit with the same SQL"]["verdict"], "met")
        self.assertEqual(rows["save a new version: CPU of Postgres"]["verdict"], "missed")

    def test_costs_tell_apart_who_spent_them(self):
        lines = cost_rows(samples(index=[sample(100)], floor__index=[sample(50, 0.0, 0.4)]))
        self.assertEqual([line["line"] for line in lines], ["index", "floor index"])
        self.assertEqual((lines[1]["service"], lines[1]["Postgres"], lines[0]["load generator"]), ("0.000", "0.400", "0.010"))

    def test_a_comparison_says_how_many_times_the_base_it_is(self):
        base, after = samples(index=[sample(100)]), samples(index=[sample(150, 0.05, 0.1)], load=[sample(1)])
        [line] = compare(base, after, "abc1234")
        self.assertEqual((line["x"], line["x CPU"], line["abc1234, a second"]), ("1.50", "0.50", "100"))

    def test_a_comparison_says_how_many_went_with_their_vector(self):
        base, after = (samples(turn_deadline=[{**sample(100), "requests": 200, "degraded": words}]) for words in (170, 120))
        line = compare(base, after, "abc1234")[-1]
        self.assertEqual((line["operation"], line["abc1234, a second"], line["after"]), ("turn_deadline: with the vector", "15%", "40%"))

    def test_refusals_disturb_a_load_run(self):
        [told] = refusals({"by words": {"refused": 0.013}, "with the local model": {"refused": 0.0005}})
        self.assertEqual(told, "1.3% of the traffic by words was refused (at most 0.1%)")

    def test_memory_is_called_flat_after_ten_minutes_only(self):
        run = {"rss_by_second": [100.0] * 20, "drift": 0.0}
        self.assertNotIn("flat", memory_line(run, 60))
        self.assertIn(": flat", memory_line(run, 600))
        self.assertIn(": grows", memory_line({**run, "drift": 0.05}, 600))


class HasteTest(unittest.TestCase):
    def test_connections_ask_as_often_as_wanted(self):
        self.assertEqual(haste(160, 200), (64, 350))
        connections, pause = haste(800, 1000)
        self.assertEqual((connections, connections / (pause + DEADLINE_MS) * 1000), (200, 800))

    def test_too_few_users_are_told(self):
        with self.assertRaises(Failed):
            haste(5000, 200)


class FilesTest(unittest.TestCase):
    def test_a_cell_does_not_break_its_table(self):
        self.assertIn("a\\|b", markdown_table([{"operation": "a|b", "measured": ""}]))

    def test_results_are_named_by_day_and_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            data, latest = write(Path(folder), {"date": "2026-01-02", "commit": "abc+changes"}, "page", "-load")
            self.assertEqual((data.name, latest.name, latest.read_text()), ("2026-01-02-abc-load.json", "latest-load.md", "page"))

    def test_what_was_disturbed_is_kept_beside_the_results(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(run, "ROOT", Path(folder)), redirect_stderr(io.StringIO()):
            for disturbed, anyway, where in ([], False, "results"), (["busy"], False, "data/bench"), (["busy"], True, "results"):
                options = argparse.Namespace(output=Path(folder) / "results", anyway=anyway, quick=False)
                files = run.keep(options, {"date": "2026-01-01", "commit": "abc", "disturbed": disturbed}, "page", "")
                self.assertEqual({str(path.parent.relative_to(folder)) for path in files}, {where})

    def test_a_plan_of_empty_tables_is_shown_where_it_is_another_one(self):
        with mock.patch.object(plans, "heading", lambda document, what: ""):
            page = plans.page({}, {"empty": {"a": "Sort", "b": "Index Scan"}, "fresh": {"a": "Sort", "b": "Index Only Scan"}})
        self.assertEqual(page.count("While the tables were empty"), 1)
        self.assertIn("Index Scan", page.partition("## b")[2])
