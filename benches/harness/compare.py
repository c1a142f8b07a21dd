"""Two builds in one run, or one build with telemetry and without: each operation of the one beside the same of the other, in turns,
over the same texts."""

from .instance import Instance
from .operations import OPERATIONS, OVER_MCP, REFUSED
from .seed import Tenant
from .suite import Suite
from .table import heading, markdown_table, surroundings, text_table
from .telemetry import Receiver

KEYS = ["health", *REFUSED, *(operation.name for operation in OPERATIONS), *OVER_MCP.values()]
WITH_MODEL = ["turn_fresh", "turn_fresh at 16", "turn_deadline"]


class Comparison:
    """A base and what came after, each with a database and a service of its own on the same server."""

    def __init__(self, options, work, say):
        self.options, self.say = options, say
        self.receiver = Receiver() if options.telemetry else None
        self.named = "without telemetry" if options.telemetry else options.base
        programs = {"base": options.program if options.telemetry else options.base_program, "after": options.program}
        settings = {"base": {}, "after": self.receiver.settings() if options.telemetry else {}}
        self.instances = {name: Instance(str(program), work, f"_{name}", **settings[name])
                          for name, program in programs.items()}
        self.suites = {}

    def stop(self):
        """Ends both services and drops both databases."""
        for instance in self.instances.values():
            instance.stop()
        if self.receiver:
            self.receiver.stop()

    def run(self):
        """Everything; returns the text, the page and the document."""
        for name, instance in self.instances.items():
            self.say(f"  {name}: database, service, {2 * self.options.users:,} users x {self.options.skills} skills")
            instance.create()
            instance.start_to_seed(self.options.model)
            tenant = Tenant(instance, self.options.users, self.options.skills, self.options.texts.again())
            tenant.seed()
            self.suites[name] = Suite(instance, tenant, self.options, self.say)
            instance.restart()  # without the worker and the model
            self.suites[name].begin()
        for number in range(1, self.options.rounds + 1):
            self.say(f"  round {number} of {self.options.rounds}")
            for key in KEYS:
                self.measure(key, number)
        if self.options.model:
            self.measure_with_model()
        table = compare(self.suites["base"].samples, self.suites["after"].samples, self.named)
        document = self.document(table)
        after = self.receiver.told() if self.receiver else "this commit"
        what = f"{self.named} beside {after}, medians of {self.options.rounds} rounds x {self.options.seconds} s"
        return text_table(table), heading(document, what) + markdown_table(table) + "\n", document

    def in_turns(self, number):
        """Names of both; who goes first changes with the round."""
        return ("base", "after") if number % 2 else ("after", "base")

    def measure_with_model(self):
        """Turns with fresh messages, by services with the local model."""
        self.say("  with the local model")
        for suite in self.suites.values():
            suite.instance.restart(KNOWHOW_MODEL_DIR=self.options.model)
        for number in range(1, self.options.rounds + 1):
            for name in self.in_turns(number):
                self.say(f"   {name}")
                self.suites[name].prepare(self.suites[name].readers)
                self.suites[name].fresh_messages()

    def measure(self, key, number):
        """One operation of both."""
        for name in self.in_turns(number):
            if key == "index_304":
                self.suites[name].fresh_tags()
            self.say(f"   {name}")
            self.suites[name].http(key)

    def document(self, table):
        """Everything, for the JSON file."""
        after = self.suites["after"]
        found = [f"{name}: {sentence}" for name, suite in self.suites.items() for sentence in suite.disturbed()]
        return {**surroundings(after.instance, self.options), "disturbed": found, "table": table,
                "samples": {name: suite.samples.all for name, suite in self.suites.items()}}


def compare(base, after, named):
    """A row for each operation: rates and CPU of both, and how many times the base's they are. `named`: what the base is."""
    table = []
    for key in KEYS + WITH_MODEL:
        rates = [samples.median(key, "rate") for samples in (base, after)]
        if None in rates:
            continue
        line = {"operation": key, f"{named}, a second": f"{rates[0]:,.0f}", "after": f"{rates[1]:,.0f}",
                "x": f"{rates[1] / rates[0]:.2f}"}
        for part in ("service", "postgres"):
            before, now = (samples.median(key, "cpu_ms", part) for samples in (base, after))
            known = before is not None and now is not None
            line[f"CPU {part}, ms"] = f"{before:.3f} -> {now:.3f}" if known else ""
        totals = [samples.cpu(key) for samples in (base, after)]
        line["x CPU"] = f"{totals[1] / totals[0]:.2f}" if all(totals) else ""
        line["p99.9, ms"] = " -> ".join(f"{samples.median(key, 'p999_ms'):.1f}" for samples in (base, after))
        table.append(line)
    shares = [samples.with_vector() for samples in (base, after)]
    if None not in shares:
        said = [f"{share:.0%}" for share in shares]
        table.append({**dict.fromkeys(table[0], ""), "operation": "turn_deadline: with the vector", f"{named}, a second": said[0],
                      "after": said[1]})
    return table
