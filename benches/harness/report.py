"""From samples to the rows of the suite's two tables: goals, and what everything costs."""

from .operations import AS_LONG, BY_NAME, FROM_MEMORY, GROWTH, OPERATIONS, OVER_MCP, REFUSED
from .samples import combined_rate
from .table import heading, markdown_table, row, surroundings, text_table


def rows(samples, facts, options):
    """The table of goals."""
    table = []
    for operation in OPERATIONS:
        table += operation_rows(samples, operation)
    table += busy_rows(samples)
    table += flight_rows(facts["flights"])
    table += model_rows(samples)
    for over_rest, operation in OVER_MCP.items():
        table += mcp_rows(samples, operation, over_rest)
    table += [growth_row(samples, options, name) for name in ("index", "turn")] if options.growth else []
    return table + fact_rows(facts)


def operation_rows(samples, operation):
    """Its rate beside its references, and the goals that it has."""
    name, rate = operation.name, samples.median(operation.name, "rate")
    if rate is None:
        return []
    measured = f"{rate:,.0f} req/s"
    latency = " ".join(f"{label} {samples.median(name, key):.1f}" for label, key in
                       (("p50", "p50_ms"), ("p99", "p99_ms"), ("p99.9", "p999_ms")))
    jwt = samples.median(operation.jwt, "rate")
    goal = FROM_MEMORY.get(name)
    table = [row(operation.label, f"{measured}, {latency} ms", f"{operation.jwt} {jwt:,.0f} req/s", f"{rate / jwt:.2f}",
                 f">= {goal}" if goal else "", rate / jwt >= goal if goal else None)]
    for kind in ("floor", "same"):
        table += reference_rows(samples, operation, kind)
    return table + cpu_rows(samples, operation)


def reference_rows(samples, operation, kind):
    """Beside one reference: its share of that, and of the combined limit. In brackets the same of CPU for each, which a machine
    that others use disturbs less."""
    reference, jwt = samples.median(f"{kind} {operation.name}", "rate"), samples.median(operation.jwt, "rate")
    if reference is None:
        return []
    rate, cpu = samples.median(operation.name, "rate"), samples.cpu(operation.name)
    limit = combined_rate(reference, jwt)
    pgbench_cpu, jwt_cpu = samples.cpu(f"{kind} {operation.name}"), samples.cpu(operation.jwt)
    of_cpu = lambda least: f" ({least / cpu:.2f} of CPU)" if cpu else ""
    goals = (operation.speed if kind == "floor" else None, operation.share if kind == operation.limit_of else None)
    named = {"floor": "floor", "same": "same SQL"}[kind]
    table = [row(f"{operation.label}: beside the {named}", f"{rate:,.0f} req/s", f"pgbench {reference:,.0f} tps",
                 f"{rate / reference:.2f}{of_cpu(pgbench_cpu)}", f">= {goals[0]}" if goals[0] else "",
                 rate / reference >= goals[0] if goals[0] else None)]
    table.append(row(f"{operation.label}: combined limit with the {named}", f"{rate:,.0f} req/s",
                     f"1 / (1/pgbench + 1/JWT) {limit:,.0f}", f"{rate / limit:.2f}{of_cpu((pgbench_cpu or 0) + (jwt_cpu or 0))}",
                     f">= {goals[1]}" if goals[1] else "", rate / limit >= goals[1] if goals[1] else None))
    return table


def cpu_rows(samples, operation):
    """What one costs, where there is a goal for it."""
    name, table = operation.name, []
    service, postgres = samples.median(name, "cpu_ms", "service"), samples.median(name, "cpu_ms", "postgres")
    if operation.cpu_ms and postgres is not None:
        total = service + postgres
        table.append(row(f"{operation.label}: CPU", f"{total:.3f} ms", f"service {service:.3f} + Postgres {postgres:.3f}", "",
                         f"<= {operation.cpu_ms:.2f} ms", total <= operation.cpu_ms))
    if operation.service_ms:
        table.append(row(f"{operation.label}: CPU of the service", f"{service:.3f} ms", "", "", f"<= {operation.service_ms:.2f} ms",
                         service <= operation.service_ms))
    same = samples.median(f"same {name}", "cpu_ms", "postgres")
    if operation.postgres and postgres is not None and same:
        table.append(row(f"{operation.label}: CPU of Postgres", f"{postgres:.3f} ms", f"pgbench, same SQL {same:.3f} ms",
                         f"{postgres / same:.2f}", f"<= {operation.postgres}", postgres / same <= operation.postgres))
    return table


def busy_rows(samples):
    """The index with more connections than cores can serve at once."""
    key, goal = "index at 32", 15
    p50, p99 = samples.median(key, "p50_ms"), samples.median(key, "p99_ms")
    return [row("index, 32 connections", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", "", f"p99 <= {goal} ms", p99 <= goal)]


def flight_rows(flights):
    """Round trips of a warm request, and the statements in them."""
    table = []
    for name, count in (flights or {}).items():
        goal = BY_NAME[name].flights if name in BY_NAME else 1
        statements = count["statements"]
        said = "" if statements is None else f"{statements['own']:g} statements, {statements['control']:g} BEGIN, COMMIT and the like"
        table.append(row(f"{name}: round trips to Postgres", f"{count['flights']:g}", said, "", f"<= {goal}" if goal is not None else "",
                         count["flights"] <= goal if goal is not None else None))
    return table


def model_rows(samples):
    """Turns with the local model: beside the index of the same rounds, and by the clock."""
    median = samples.median
    if median("turn with model", "rate") is None:
        return [row("turn with a vector", "not measured", verdict="no model")]
    turn, index = median("turn with model", "rate"), median("index with model", "rate")
    p50, p99 = median("turn_fresh", "p50_ms"), median("turn_fresh", "p99_ms")
    hurried = median("turn_deadline", "p999_ms")
    times = median("turn_deadline", "rate") / median("turn_fresh at 16", "rate")
    vectors = samples.with_vector()
    service, postgres = (median("search with model", "cpu_ms", part) for part in ("service", "postgres"))
    goal = BY_NAME["search"].cpu_ms
    table = [
        row("turn, its message's vector at hand", f"{turn:,.0f} req/s", f"index {index:,.0f} req/s", f"{turn / index:.2f}"),
        row("turn, a fresh message each, local model, 1 connection", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms", "", "",
            "p50 <= 20 ms, p99 <= 60 ms", p50 <= 20 and p99 <= 60),
        row("the same, twice as many as the model embeds, deadline 50 ms", f"p99.9 {hurried:.1f} ms, {vectors:.0%} with the vector",
            "the model's rate", f"{times:.2f}", "p99.9 <= 60 ms, >= 40 % with",
            hurried <= 60 and vectors >= 0.4 if times >= 1.5 else None),
    ]
    if postgres is None:
        return table
    return [*table, row("search, limit 5, vector at hand: CPU", f"{service + postgres:.3f} ms",
                        f"service {service:.3f} + Postgres {postgres:.3f}", "", f"<= {goal:.2f} ms", service + postgres <= goal)]


def mcp_rows(samples, operation, over_rest):
    """How many times as long an operation takes over MCP as over REST."""
    median = samples.median
    rate, rest_rate = median(operation, "rate"), median(over_rest, "rate")
    longer = [median(operation, key) / median(over_rest, key) for key in ("p50_ms", "p99_ms")]
    goal = f"<= {AS_LONG} x the time"
    return [row(f"MCP: {operation}", f"{rate:,.0f} req/s", f"REST {rest_rate:,.0f} req/s", f"{rest_rate / rate:.2f}", goal,
                rest_rate / rate <= AS_LONG),
            row(f"MCP: {operation}, p50 and p99", f"{median(operation, 'p50_ms'):.1f}, {median(operation, 'p99_ms'):.1f} ms",
                f"REST {median(over_rest, 'p50_ms'):.1f}, {median(over_rest, 'p99_ms'):.1f} ms",
                "{:.2f}, {:.2f}".format(*longer), goal, max(longer) <= AS_LONG)]


def growth_row(samples, options, operation):
    """How much dearer an operation has become, freed of what the machine did meanwhile."""
    few, many = options.growth
    rate = {n: samples.median(f"{operation} at {n}", "rate") for n in (few, many)}
    steady = BY_NAME[operation].jwt
    drift = samples.median(f"{steady} at {few}", "rate") / samples.median(f"{steady} at {many}", "rate")
    ratio = rate[few] / rate[many] / drift
    return row(f"growth: {operation} with {few * options.skills:,} and {many * options.skills:,} rows", f"{rate[many]:,.0f} req/s",
               f"{rate[few]:,.0f} req/s, JWT drift {drift:.2f}", f"{ratio:.2f}", f"<= {GROWTH}", ratio <= GROWTH)


def fact_rows(facts):
    """What is measured once."""
    table = []
    if imported := facts.get("import"):
        speed = imported["skills"] / imported["seconds"]
        table.append(row(f"import by CLI: {imported['outcome']}", f"{imported['seconds']:.2f} s", f"{speed:,.0f} skills/s"))
    memory, start = facts["memory"], facts["start_seconds"]
    table.append(row(f"memory, {facts['active_users']:,} active users", f"{memory['now_mib']:.0f} MiB",
                     f"peak {memory['peak_mib']:.0f} MiB", "", "<= 130 MiB",
                     memory["now_mib"] <= 130 if facts["active_users"] >= 1000 else None))
    table.append(row("start to first ready answer", f"{start:.2f} s", "", "", "<= 0.2 s", start <= 0.2))
    return [*table, row("size of the program", f"{facts['binary_mib']:.1f} MiB")]


def cost_rows(samples):
    """CPU milliseconds for each request or transaction, by who spent them."""
    keys = ["health", *REFUSED]
    for operation in OPERATIONS:
        keys += [operation.name, *(f"{kind} {operation.name}" for kind in ("floor", "same"))]
    table = []
    for key in [*keys, *OVER_MCP.values()]:
        if samples.median(key, "rate") is None:
            continue
        part = lambda name: "" if (ms := samples.median(key, "cpu_ms", name)) is None else f"{ms:.3f}"
        table.append({"line": key, "a second": f"{samples.median(key, 'rate'):,.0f}", "apart": f"{samples.spread(key):.0%}",
                      "service": part("service"), "Postgres": part("postgres"), "load generator": part("client")})
    return table


def document(instance, options, suite, facts):
    """Everything, for the JSON file."""
    return {**surroundings(instance, options), "disturbed": suite.disturbed(), "left_out": suite.left_out, "facts": facts,
            "table": rows(suite.samples, facts, options), "costs": cost_rows(suite.samples), "samples": suite.samples.all}


def text(document):
    """For a terminal."""
    return text_table(document["table"]) + "\n\n" + text_table(document["costs"])


def page(document):
    """For `latest.md`."""
    options = document["options"]
    return (heading(document, f"medians of {options['rounds']} rounds x {options['seconds']} s")
            + markdown_table(document["table"]) + "\n\nCPU milliseconds for each request or transaction:\n\n"
            + markdown_table(document["costs"]) + "\n")
