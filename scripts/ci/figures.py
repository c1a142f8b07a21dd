#!/usr/bin/env python3
"""Prints figures of the structure: modules, import cycles, sizes, functions, words of the documentation.

    figures.py           of this checkout
    figures.py --list    also the long functions, and the imports that make each cycle
"""

import argparse
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CRATES = ["domain", "store", "ops", "client", "console", "server", "encoder", "telemetry"]
LONG = 60


def is_test(path):
    """Returns whether a source file has only tests."""
    return "tests" in path.parts or path.name == "tests.rs"


def sources(crate):
    """Returns the source files of a crate, without tests, by their module."""
    top = ROOT / "services" / crate / "src"
    files = {}
    for path in sorted(top.rglob("*.rs")):
        parts = list(path.relative_to(top).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        if not is_test(path):
            files[tuple(parts)] = path
    return files


def leaves(tree):
    """Returns the paths of a use tree."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        return [tree.split(" as ")[0].strip()]
    prefix, inner, found, depth, part = tree[:brace], tree[brace + 1:tree.rfind("}")], [], 0, ""
    for c in inner + ",":
        if c == "," and depth == 0:
            found += [prefix + leaf for leaf in leaves(part)] if part.strip() else []
            part = ""
            continue
        depth += (c == "{") - (c == "}")
        part += c
    return found


def imports(module, path, files):
    """Returns the modules whose files a file imports from."""
    found = set()
    for use in re.findall(r"^\s*(?:pub(?:\([^)]*\))? )?use ((?:crate|super|self)[^;]*);", path.read_text(), re.M):
        for leaf in leaves(use):
            parts = re.sub(r"\s", "", leaf).split("::")
            base = {"crate": [], "self": list(module), "super": list(module)}[parts[0]]
            while parts and parts[0] in ("crate", "self", "super"):
                if parts.pop(0) == "super":
                    base = base[:-1]
            target = tuple(base + [part for part in parts if part != "self"])
            while target not in files and target:
                target = target[:-1]
            if target and target != module:
                found.add(target)
    return found


def import_graph(files):
    """Returns the modules that each file imports from, without its parents and children."""
    graph = {module: imports(module, path, files) for module, path in files.items()}
    # A parent module re-exports items of its children, so imports between the two do not count.
    return {a: {b for b in bs if a[:len(b)] != b and b[:len(a)] != a} for a, bs in graph.items()}


def cycles(graph):
    """Returns the groups of files that import each other (strongly connected components of two or more)."""
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(root):
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on.discard(group[-1])
                    if len(group) > 1:
                        found.append(sorted(group))

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return found


def long_functions(path):
    """Returns the functions of a file with more lines than LONG: name, line, length."""
    lines, long = path.read_text().splitlines(), []
    for at, line in enumerate(lines):
        found = re.match(r"(\s*)(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn (\w+)", line)
        if found:
            end = next((n for n in range(at + 1, len(lines)) if lines[n] == found[1] + "}"), at)
            long += [(found[2], at + 1, end - at + 1)] if end - at + 1 > LONG else []
    return long


def main():
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--list", action="store_true", help="print the long functions and the imports of each cycle")
    details = options.parse_args().list
    total_lines = total_long = 0
    for crate in CRATES:
        files = sources(crate)
        top = {module[0] for module in files if module}
        graph = import_graph(files)
        groups = cycles(graph)
        lines = sum(len(path.read_text().splitlines()) for path in files.values())
        long = [(path, *function) for path in files.values() for function in long_functions(path)]
        total_lines, total_long = total_lines + lines, total_long + len(long)
        print(f"{crate:10} {len(top):3} modules at the top, {len(groups)} import cycles, {lines:6} lines, {len(long)} functions over {LONG} lines")
        for group in groups:
            print("           cycle:", ", ".join("::".join(module) for module in group))
            for module in group if details else []:
                print("               ", "::".join(module), "->", ", ".join("::".join(b) for b in sorted(graph[module]) if b in group))
        for path, name, line, length in long if details else []:
            print(f"           long: {path.relative_to(ROOT)}:{line} {name}, {length} lines")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    lines = sum((ROOT / name).read_bytes().count(b"\n") for name in tracked if (ROOT / name).is_file())
    words = sum(len(path.read_text().split()) for path in (ROOT / "docs").rglob("*.md"))
    print(f"Rust source without tests {total_lines}, functions over {LONG} lines {total_long}, tracked lines {lines}, words of docs {words}")


if __name__ == "__main__":
    main()
