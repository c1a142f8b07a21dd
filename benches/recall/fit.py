#!/usr/bin/env python3
"""Fits the weights and floors of recall on what `knowhow-bench-recall --features FOLDER` wrote.

    fit.py FOLDER RUST_FILE TABLE     writes the constants, and a table of the figures on worlds that were left out

The data sets are grouped into worlds: sets of one making. What counts is the figure on a world that the weights were not fitted on,
so that they suit the next one too. The order of skills: softmax over the catalogue, by the messages that a skill answers (a
conditional logit, McFadden 1974). Whether any answers: logistic, one fit for short skills and one for long ones. All worlds weigh
alike. The floor of long skills has two worlds only: its messages are held out by thirds too, by the repository they come from.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

COLUMNS = ["text", "body", "phrases", "trigger", "cover", "cosine", "example", "meaning", "depth"]
CASE = ["skills", "depth", "field", "mean_cosine", "spread", "chatter"]
SUPPORT = ["dstc11-banking", "dstc11-development", "dstc11-finance"]
# What the order of skills is fitted on.
RANKED = {
    "coding": ["random-5", "random-15", "random-50", "random-200", "same-50", "same-200"],
    "everyday": ["everyday-5-bare", "everyday-8", "everyday-30", "everyday-120", "everyday-8-examples", "everyday-30-examples",
                 "everyday-120-examples"],
    "short": ["short-8", "short-30", "short-120", "short-8-uses", "short-30-uses"],
    "languages": ["languages-30", "languages-8"],
    "people": ["people-long"],
    "support": SUPPORT + [name + "-5" for name in SUPPORT],
    "dialogues": ["sgd-dev", "sgd-dev-5"],
    "seven languages": ["xsid-dev", "xsid-dev-5"],
    "tools": ["bfcl-live"],
    "assistant": ["hwu64", "hwu64-5", "hwu64-10", "hwu64-5-half"],
}
# What the floors are fitted on besides: among half of the skills, what asks for the others is a near miss.
NEAR_MISSES = {
    "everyday": ["everyday-1", "everyday-1000"],
    "procedures": ["abcd"],
    "support": [name + half for name in SUPPORT for half in ("-half", "-5-half")],
    "dialogues": ["sgd-dev-half", "sgd-dev-5-half"],
    "seven languages": ["xsid-dev-half", "xsid-dev-5-half"],
    "assistant": ["hwu64-half", "hwu64-10-half"],
    "coding": ["random-50-160"],
}
LONG_WORLDS = {
    "coding": ["random-1", "random-5", "random-15", "random-50", "random-200", "same-50", "same-200", "random-1000"],
    "people": ["people-long"],
}
# Never fitted on.
HELD_OUT = ["short-held-out-8", "short-held-out-30", "short-held-out-120", "short-held-out-8-uses", "short-held-out-30-uses"]
OTHER_LANGUAGES = ["languages", "seven languages"]

SCORE = ["text", "body", "phrases", "meaning", "meaning_depth"]
WORD_PARTS = 3
# Weights of an earlier fit on long skills alone. Their sum grows with the message, as what it proves does: the score is
# made to be compared among skills, not among messages.
EVIDENCE = {False: [.2, .333, .75, 8.2, 0], True: [.3, .4, .75, 0, 0]}
FLOOR = ["evidence", "words", "lead", "cover", "field", "skills", "meaning", "mean_meaning", "spread", "chatter", "learned", "own"]
# Short skills say little in words, so that meaning decides; of long ones the words tell more.
SHORT_FLOOR = ["words", "lead", "skills", "meaning", "mean_meaning", "spread", "chatter", "learned", "own"]
LONG_FLOOR = ["evidence", "cover", "skills", "meaning"]
SHORT_BY_WORDS = ["words", "lead", "skills"]
LONG_BY_WORDS = ["evidence", "cover", "field", "skills"]
FLOOR_LOGIT = -1.5  # 0.18: what passes; `FLOOR` in floor.rs
# The share of the found that the floors of short and of long skills let go, on the libraries that there are goals for.
LET_GO = {False: (.035, .028), True: (.03, .023)}
STRICT_ON = (["everyday-8", "everyday-30", "everyday-120", "short-30"], ["random-50", "random-200", "same-50", "same-200"])
NEAR_SHORT, NEAR_LONG = 3.7, 5.3  # as in search.rs
FOLDS = 3

class Setting:
    """The messages of one kind of catalogue; rows are skills, parted by message."""

    def __init__(self, folder, name):
        self.name = name
        self.cases = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        rows = np.fromfile(folder / f"{name}.f32", dtype="<f4").reshape(-1, 2 + len(COLUMNS)).astype(float)
        self.counts = np.array([case["rows"] for case in self.cases])
        self.starts = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(int)
        self.relevant, self.starter = rows[:, 0] > 0, rows[:, 1] > 0
        self.x = dict(zip(COLUMNS, rows[:, 2:].T))
        self.asks = np.add.reduceat(self.relevant, self.starts) > 0
        self.c = {key: np.array([case[key] for case in self.cases], float) for key in CASE}
        self.own = np.array([np.nan if case["own"] is None else case["own"] for case in self.cases], float)
        self.kind = np.array([case["kind"] for case in self.cases])
        self.fold = np.array([number_of(case["source"] or case["id"]) % FOLDS for case in self.cases])
        self.p, self.short, self.long = (np.zeros(len(self.cases)) for _ in range(3))

    def figures(self, by_words):
        x = self.x
        figures = [x["text"], x["body"], x["phrases"]]
        return np.stack(figures if by_words else [*figures, x["meaning"], x["meaning"] * x["depth"]], 1)

    def rank(self, weights, by_words):
        """Scores all rows, and finds the best one of each message."""
        figures = self.figures(by_words)
        words = figures[:, :WORD_PARTS] @ weights[:WORD_PARTS] + self.x["trigger"]
        self.v = figures @ weights + self.x["trigger"]
        count = len(self.cases)
        self.best, lead, self.found = np.zeros(count, int), np.zeros(count), np.zeros((count, 2), bool)
        for i, (start, rows) in enumerate(zip(self.starts, self.counts)):
            order = np.argsort(-self.v[start:start + rows], kind="stable")[:5] + start
            self.best[i] = order[0]
            lead[i] = self.v[order[0]] - self.v[order[1]] if rows > 1 else 0
            right = self.relevant[order] & (self.v[order] > 0)
            self.found[i] = right[0], right.any()
        at, c = self.best, self.c
        evidence = figures[at] @ np.array(EVIDENCE[by_words])[:figures.shape[1]]
        has = ~np.isnan(self.own)
        log = lambda values: np.log1p(np.maximum(values, 0))
        self.f = dict(evidence=log(evidence), words=log(words[at]), lead=log(lead), cover=self.x["cover"][at] ** 2, field=c["field"],
                      skills=np.log(c["skills"]), meaning=self.x["meaning"][at], mean_meaning=c["mean_cosine"], spread=c["spread"],
                      chatter=c["chatter"], learned=has * 1.0, own=np.where(has, self.own, 0))
        self.longness = np.clip((np.minimum(c["depth"], self.x["depth"][at]) - .2) / .15, 0, 1)

    def of(self, features):
        return np.stack([self.f[feature] for feature in features], 1)

    def judge(self):
        """The logit of the fit: of the floors for short and for long skills, by how long they are."""
        self.p = (1 - self.longness) * self.short + self.longness * self.long

    def turn(self):
        """Share of the messages that a turn answers rightly among five, skills that it names, and share of the others answered."""
        hits = names = turns = 0
        answered = np.zeros(len(self.cases), bool)
        for i in np.flatnonzero(self.p >= FLOOR_LOGIT):
            rows = slice(self.starts[i], self.starts[i] + self.counts[i])
            order = np.argsort(-self.v[rows], kind="stable")[:5]
            near = NEAR_SHORT + (NEAR_LONG - NEAR_SHORT) * self.longness[i] - np.logaddexp(0, -self.p[i])
            order = order[self.v[rows][order] >= self.v[self.best[i]] - max(near, 0)]
            answered[i] = (~self.starter[rows][order]).any()
            hits += self.asks[i] and self.relevant[rows][order].any()
            turns, names = turns + 1, names + len(order)
        kinds = sorted(set(self.kind[~self.asks]))
        wrong = np.mean([answered[~self.asks & (self.kind == kind)].mean() for kind in kinds]) if kinds else np.nan
        return hits / max(self.asks.sum(), 1), names / max(turns, 1), wrong

    def plain(self):
        """Recall at 1 and at 5 of the nearest text, description or example."""
        nearest = np.where(self.x["example"] != 0, np.maximum(self.x["cosine"], self.x["example"]), self.x["cosine"])
        best = np.maximum.reduceat(np.where(self.relevant, nearest, -np.inf), self.starts)
        before = np.add.reduceat(nearest > np.repeat(best, self.counts), self.starts)[self.asks]
        return (before < 1).mean(), (before < 5).mean()

def number_of(text):
    """A number that is the same in every run."""
    return int(hashlib.md5(str(text).encode()).hexdigest()[:8], 16)

def log_sums(values, starts, counts):
    """The logarithm of the sum of exponentials of each message's rows."""
    most = np.maximum.reduceat(values, starts)
    return most + np.log(np.add.reduceat(np.exp(values - np.repeat(most, counts)), starts))

def fit_score(settings, worlds, by_words, penalty=1e-3):
    """Weights by which relevant skills come first."""
    data = []
    for names in worlds.values():
        for s in (settings[name] for name in names):
            data.append((s, s.figures(by_words), np.where(s.asks, 1 / len(names) / max(s.asks.sum(), 1), 0.0)))
    scale = np.sqrt(np.mean([(figures ** 2).mean(0) for _, figures, _ in data], axis=0)) + 1e-9

    def loss(t):
        total, gradient = penalty * t @ t, 2 * penalty * t
        for s, figures, weight in data:
            v = figures @ (t / scale)
            every = log_sums(v, s.starts, s.counts)
            relevant = np.where(s.relevant, v, -1e9)
            right = log_sums(relevant, s.starts, s.counts)
            total += np.sum(weight * np.where(s.asks, every - right, 0))
            chosen = np.exp(v - np.repeat(every, s.counts))
            wanted = np.where(s.relevant, np.exp(np.minimum(relevant - np.repeat(right, s.counts), 0)), 0)
            gradient = gradient + figures.T @ (np.repeat(weight, s.counts) * (chosen - wanted)) / scale
        return total, gradient

    return minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B", options={"maxiter": 400}).x / scale

def fit_floor(settings, worlds, features, use, penalty=1e-4):
    """Weights and a constant that tell messages which a skill answers from those that none does."""
    figures, labels, weights = [], [], []
    for names in worlds.values():
        for s in (settings[name] for name in names):
            rows = (~s.asks | s.found[:, 1]) & use(s)
            asks, kinds = s.asks[rows], s.kind[rows]
            weight = np.where(asks, 1 / len(names) / max(asks.sum(), 1), 0.0)
            negatives = sorted(set(kinds[~asks]))
            for kind in negatives:
                of_kind = ~asks & (kinds == kind)
                weight[of_kind] = 1 / len(names) / len(negatives) / of_kind.sum()
            figures.append(s.of(features)[rows])
            labels.append(asks)
            weights.append(weight)
    figures, labels, weights = np.vstack(figures), np.concatenate(labels), np.concatenate(weights)
    weights = np.where(labels, weights / weights[labels].sum(), weights / weights[~labels].sum()) / 2
    mean, scale = figures.mean(0), figures.std(0)
    scale[scale < 1e-8] = 1.0
    ones = np.hstack([(figures - mean) / scale, np.ones((len(figures), 1))])

    def loss(t):
        u = ones @ t
        value = np.sum(weights * np.logaddexp(0, np.where(labels, -u, u))) + penalty * np.sum(t[:-1] ** 2)
        return value, ones.T @ (weights * (1 / (1 + np.exp(-u)) - labels)) + 2 * penalty * np.append(t[:-1], 0)

    t = minimize(loss, np.zeros(ones.shape[1]), jac=True, method="L-BFGS-B").x
    slopes = t[:-1] / scale
    return slopes, t[-1] - slopes @ mean

def without(worlds, name):
    return {world: names for world, names in worlds.items() if world != name}

class Fit:
    """The fit with meaning, or by words alone."""

    def __init__(self, settings, by_words):
        self.settings, self.by_words = settings, by_words
        english = lambda worlds: {w: [n for n in names if not n.endswith(("-5", "-10", "examples", "uses"))] or names
                                  for w, names in worlds.items() if w not in OTHER_LANGUAGES}
        usable = english if by_words else dict
        self.ranked = usable(RANKED)
        short = {w: RANKED.get(w, []) + NEAR_MISSES.get(w, []) for w in [*RANKED, *NEAR_MISSES] if w not in LONG_WORLDS}
        self.short = usable({**short, "coding": NEAR_MISSES["coding"]})
        self.features = (SHORT_BY_WORDS, LONG_BY_WORDS) if by_words else (SHORT_FLOOR, LONG_FLOOR)

    def rank_all(self, worlds):
        self.weights = fit_score(self.settings, worlds, self.by_words)
        for s in self.settings.values():
            s.rank(self.weights, self.by_words)

    def fit_floors(self, short, long, use):
        fitted = zip((short, long), self.features)
        return [fit_floor(self.settings, worlds, features, use) for worlds, features in fitted]

    def shift(self, floors):
        """Moves both floors so that the wanted share of what a search finds passes."""
        shifts = []
        for (slopes, base), features, names, let_go in zip(floors, self.features, STRICT_ON, LET_GO[self.by_words]):
            kept = [s.of(features)[s.asks & s.found[:, 1]] @ slopes + base for s in (self.settings[name] for name in names)]
            shifts.append(np.mean([np.quantile(logits, let_go) for logits in kept]) - FLOOR_LOGIT)
        return [(slopes, base - by) for (slopes, base), by in zip(floors, shifts)]

    def apply(self, floors, rows_of):
        for s in self.settings.values():
            rows = rows_of(s)
            for side, (slopes, base), features in zip(("short", "long"), floors, self.features):
                logits = s.of(features) @ slopes + base
                setattr(s, side, np.where(rows, logits, getattr(s, side)))
            s.judge()

    def all(self):
        """The constants, fitted on everything."""
        every = lambda s: np.full(len(s.cases), True)
        self.rank_all(self.ranked)
        floors = self.shift(self.fit_floors(self.short, LONG_WORLDS, every))
        self.apply(floors, every)
        return self.weights, floors

    def leave_out(self, world):
        """What weights say of a world that they were not fitted on; of the only worlds of long skills, by thirds."""
        self.rank_all(without(self.ranked, world))
        if world not in LONG_WORLDS:
            floors = self.shift(self.fit_floors(without(self.short, world), LONG_WORLDS, lambda s: np.full(len(s.cases), True)))
            self.apply(floors, lambda s: np.full(len(s.cases), True))
            return
        for fold in range(FOLDS):
            floors = self.shift(self.fit_floors(without(self.short, world), LONG_WORLDS, lambda s: s.fold != fold))
            self.apply(floors, lambda s: s.fold == fold)

def figures_of(s):
    first, five = s.found[s.asks].mean(0) if s.asks.any() else (np.nan, np.nan)
    return [*s.plain(), first, five, *s.turn()] if s.asks.any() else [np.nan] * 4 + list(s.turn())

def table(fit):
    """The figures of each world, without it in the fit and with it."""
    shown = {world: list(dict.fromkeys(RANKED.get(world, []) + NEAR_MISSES.get(world, []) + LONG_WORLDS.get(world, [])))
             for world in [*RANKED, "procedures"]}
    shown["short"] += HELD_OUT
    left_out = {}
    for world, names in shown.items():
        fit.leave_out(world)
        left_out.update({name: figures_of(fit.settings[name]) for name in names})
    constants = fit.all()
    lines = ["| world | set | plain @1 / @5 | search @1 / @5 | turn @5 | names | answered | fitted on it too: @1 / @5, turn @5, answered |",
             "|---|---|---|---|---|---|---|---|"]
    show = lambda value: "-" if np.isnan(value) else f"{value:.3f}"
    for world, names in shown.items():
        for name in names:
            a, b = map(show, left_out[name][:2])
            c, d, turn, count, wrong = left_out[name][2:]
            now = figures_of(fit.settings[name])
            inside = f"{show(now[2])} / {show(now[3])}, {show(now[4])}, {show(now[6])}" if name not in HELD_OUT else "never"
            worse = " (!)" if left_out[name][0] > c + .0005 else ""
            lines.append(f"| {world} | {name} | {a} / {b} | {show(c)}{worse} / {show(d)} | {show(turn)} | {count:.1f} | {show(wrong)} | {inside} |")
    return "\n".join(lines) + "\n", constants

def full(features, slopes, base):
    values = dict(zip(features, slopes))
    return [values.get(feature, 0.0) for feature in FLOOR] + [base]

def rust(name, kind, members, values):
    lines = "".join(f"    {member}: {value:.4f},\n" for member, value in zip(members, values))
    return f"pub(super) const {name}: {kind} = {kind} {{\n{lines}}};\n"

def main():
    folder, target, tables = map(Path, sys.argv[1:4])
    worlds = [RANKED, NEAR_MISSES, LONG_WORLDS]
    names = dict.fromkeys([*(name for world in worlds for names in world.values() for name in names), *HELD_OUT])
    settings = {name: Setting(folder, name) for name in names}
    out = ["//! Written by benches/recall/fit.py; docs/internals/recall-fit.md explains the figures. Fit again, do not edit.\n\n"
           "use super::weights::{Floor, Fusion};\n"]
    for by_words, label in ((False, "WORDS_AND_MEANING"), (True, "WORDS")):
        fit = Fit(settings, by_words)
        if by_words:
            weights, floors = fit.all()
        else:
            text, (weights, floors) = table(fit)
            tables.write_text(text)
            print(text)
        padded = [*weights, *[0.0] * (len(SCORE) - len(weights))]
        out.append(rust(label, "Fusion", SCORE, padded))
        out.append(rust(f"{label}_EVIDENCE", "Fusion", SCORE, EVIDENCE[by_words]))
        for which, (slopes, base), features in zip(("SHORT", "LONG"), floors, fit.features):
            out.append(rust(f"{label}_{which}", "Floor", [*FLOOR, "base"], full(features, slopes, base)))
    target.write_text("\n".join(out))

main()
