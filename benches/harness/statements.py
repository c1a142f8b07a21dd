"""The service's own SQL, taken from its source by name, so that the references always run what the service runs."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SQL = ROOT / "benches/sql"
LITERAL = re.compile(r'r#"(-- [a-z_]+\.[a-z_]+\b.*?)"#|"(-- [a-z_]+\.[a-z_]+\b[^"]*)"', re.S)
INCLUDE = re.compile(r"^@([a-z_]+\.[a-z_]+)\n(.*?)^@end\n", re.S | re.M)


class Drift(Exception):
    """The service's SQL no longer fits a file in benches/sql."""


def service_statements():
    """Every named statement of the store."""
    found = {}
    for path in sorted((ROOT / "services/store/src").rglob("*.rs")):
        for match in LITERAL.finditer(path.read_text()):
            head, _, body = (match[1] or match[2]).partition("\n")
            found[head.removeprefix("-- ").split()[0]] = body.rstrip()
    return found


def plan_settings():
    """What the service says of plans in each transaction of a caller."""
    source = (ROOT / "services/store/src/vault/tx.rs").read_text()
    return re.search(r'PLAN_ONCE: &str =\s+"; ([^"]+)"', source)[1]


def render(name):
    """A file of benches/sql with each `@statement ... @end` replaced by that statement, one line for each parameter."""
    statements = service_statements()

    def include(match):
        tag, arguments = match[1], match[2].splitlines()
        if tag not in statements:
            raise Drift(f"{name} measures {tag}, which services/store/src no longer has; adapt it")
        wanted = max(int(n) for n in re.findall(r"\$(\d+)", statements[tag]))
        if wanted != len(arguments):
            raise Drift(f"{tag} takes {wanted} parameters, {name} gives {len(arguments)}; adapt it")
        body = re.sub(r"\$(\d+)", lambda m: atom(arguments[int(m[1]) - 1]), statements[tag])
        return f"{body};\n"

    return INCLUDE.sub(include, (SQL / name).read_text())


def atom(expression):
    """An expression that may stand wherever a parameter did."""
    simple = re.fullmatch(r":?\w+|'[^']*'(::\w+(\[\])?)?|[\w.]+\([^()]*\)", expression)
    return expression if simple else f"({expression})"
