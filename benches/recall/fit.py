#!/usr/bin/env python3
"""Fits the weights and floors of recall on what `knowhow-bench-recall --features FOLDER` wrote.

    fit.py FOLDER RUST_FILE     prints what held-out folds give, writes the constants

Two fits, each with embeddings and by words alone. The order of skills: softmax over the catalogue, by the messages that a
skill answers (a conditional logit, McFadden 1974). Whether any answers: logistic, one for libraries of short skills and
one for long ones. Everyday messages are held out by their skill, coding ones by the repository they come from; negatives
by themselves, as three quarters of them come from one repository.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

COLUMNS = ["name", "text", "body", "phrases", "cover", "cosine", "example", "depth"]
SHORT = ["everyday-1", "everyday-1-bare", "everyday-5-bare", "everyday-8", "everyday-30", "everyday-120", "everyday-8-nobody", "everyday-120-nobody",
         "everyday-1000", "everyday-10000", "random-50-160", "everyday-8-examples", "everyday-30-examples", "everyday-120-examples"]
LONG = ["random-1", "random-5", "random-15", "random-50", "random-200", "same-50", "same-200", "random-1000",
        "random-10000"]
RANKED = ["everyday-5-bare", "everyday-8", "everyday-30", "everyday-120", "random-1", "random-5", "random-15", "random-50",
          "random-200", "same-50", "same-200"]
# What the goals are for counts most; the smallest libraries have little to tell apart.
WEIGHTS = {"random-1": .4, "random-5": .4, "random-15": .4, "random-50": 1.6, "random-200": 1.6, "same-50": 1.6,
           "same-200": 1.6}
FLOOR_WEIGHTS = {"random-1000": .3, "random-10000": .1, "everyday-10000": .3, "random-50-160": .3}
# Weights of an earlier fit on long skills alone. Their sum grows with the message, as what it proves does: the score is
# made to be compared among skills, not among messages.
EVIDENCE = {False: [.05, .2, .333, .75, 8.2, 0, 0, 0, 0], True: [.2, .3, .4, .75, 0, 0, 0, 0, 0]}
FOLDS = 3
FLOOR_LOGIT = -1.5  # 0.18: what passes; `Ranking::FLOOR` in search.rs
# What the floors of short and of long skills are to keep of the hits, on the libraries that there are goals for; by words
# that of short ones must be strict, or it answers everything that shares a word.
KEEP = {False: (.975, .977), True: (.925, .977)}
GOALS = (["everyday-8", "everyday-30", "everyday-120"], ["random-50", "random-200", "same-50", "same-200"])
SHOWN_NEAR = 5.0  # as in search.rs
NEAR = [3.0, 4.0, 5.0, 6.0]  # how far below the best a skill may stand
SCORE = ["name", "text", "body", "phrases", "meaning", "text_rarity", "body_rarity", "meaning_rarity", "meaning_depth"]
BY_WORDS = [0, 1, 2, 3, 5, 6]
FLOOR = ["evidence", "words", "lead", "cover", "field", "skills", "body", "meaning", "mean_meaning", "spread", "chatter",
         "examples"]
# Short skills say little in words, so that meaning decides; of long ones the words tell more.
SHORT_FLOOR = ["words", "lead", "skills", "meaning", "mean_meaning", "spread", "chatter", "examples"]
SHORT_FLOOR_BY_WORDS = ["words", "lead", "skills"]
LONG_FLOOR = ["evidence", "cover", "field", "skills", "body", "meaning"]
LONG_FLOOR_BY_WORDS = ["evidence", "cover", "field", "skills", "body"]


def number_of(text):
    """A number that is the same in every run."""
    return int(hashlib.md5(str(text).encode()).hexdigest()[:8], 16)


class Setting:
    """The messages of one kind of catalogue; rows are skills, parted by message."""

    def __init__(self, folder, name):
        self.name, self.weight = name, WEIGHTS.get(name, 1.0)
        self.cases = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        rows = np.fromfile(folder / f"{name}.f32", dtype="<f4").reshape(-1, 2 + len(COLUMNS)).astype(float)
        self.counts = np.array([case["rows"] for case in self.cases])
        self.starts = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(int)
        self.relevant, self.starter = rows[:, 0] > 0, rows[:, 1] > 0
        self.x = dict(zip(COLUMNS, rows[:, 2:].T))
        self.asks = np.add.reduceat(self.relevant, self.starts) > 0
        self.c = {key: np.array([case[key] for case in self.cases], float)
                  for key in ("chars", "skills", "body_terms", "rarity", "field", "mean_cosine", "spread", "chatter", "examples")}
        self.searched = self.c["chars"] > 20
        self.kind = np.array([case["kind"] for case in self.cases])
        group = [case["skill"] if case["world"] == "everyday" and asks else case["source"] if asks else case["id"]
                 for case, asks in zip(self.cases, self.asks)]
        self.group = np.array([number_of(key) % FOLDS for key in group])

    def spread_out(self, of_messages):
        """A figure of each message, for each of its rows."""
        return np.repeat(of_messages, self.counts)

    def score_figures(self):
        x = self.x
        rarity = self.spread_out(np.clip(np.log1p(self.c["rarity"]) - 3, -2, 1.5))
        meaning = (np.maximum(x["cosine"], .9 * x["example"]) + .25 * x["cosine"]) / 1.25
        self.meaning = meaning
        return np.stack([x["name"], x["text"], x["body"], x["phrases"], meaning, x["text"] * rarity,
                         x["body"] * rarity, meaning * rarity, meaning * x["depth"]], 1)

    def rank(self, figures, weights, by_words):
        """Scores all rows, and finds the best one of each message."""
        self.v = figures @ weights
        self.words = figures[:, BY_WORDS] @ weights[BY_WORDS]
        self.best, lead = np.zeros(len(self.cases), int), np.zeros(len(self.cases))
        self.found = np.zeros((len(self.cases), 2), bool)
        for i, (start, count) in enumerate(zip(self.starts, self.counts)):
            order = np.argsort(-self.v[start:start + count], kind="stable")[:5] + start
            self.best[i] = order[0]
            lead[i] = self.v[order[0]] - self.v[order[1]] if count > 1 else 0
            # A search drops what scores nothing.
            right = self.relevant[order] & (self.v[order] > 0)
            self.found[i] = right[0], right.any()
        top = np.repeat(self.v[self.best], self.counts)
        answers = (self.v > 0) & (self.v >= top - SHOWN_NEAR) & ~self.starter
        self.names_more = np.add.reduceat(answers, self.starts) > 0
        at, c = self.best, self.c
        evidence = figures[at] @ np.array(EVIDENCE[by_words])
        self.f = np.stack([np.log1p(np.maximum(evidence, 0)), np.log1p(np.maximum(self.words[at], 0)), np.log1p(lead), self.x["cover"][at] ** 2, c["field"],
                           np.log(c["skills"]), np.log1p(c["body_terms"]), self.meaning[at], c["mean_cosine"], c["spread"], c["chatter"],
                           c["examples"]], 1)
        # How long the skills are: that of the best one, and that of most.
        median = np.array([np.median(self.x["depth"][a:a + n]) for a, n in zip(self.starts, self.counts)])
        self.longness = np.clip((np.minimum(median, self.x["depth"][at]) - .2) / .15, 0, 1)

    def rates(self):
        """Recall at 1 and at 5."""
        return self.found[self.asks].mean(0)

    def answered(self, floor):
        """Share of the negatives that get an answer other than starters, mean of the kinds."""
        passes = (self.p >= floor) & self.searched & self.names_more
        kinds = sorted(set(self.kind[~self.asks]))
        return np.mean([passes[~self.asks & (self.kind == kind)].mean() for kind in kinds])

    def turn(self, near):
        """Share of the messages that are answered rightly among five skills near the best, and skills shown."""
        shown = hits = turns = 0
        for i in np.flatnonzero(self.asks & (self.p >= FLOOR_LOGIT)):
            rows = slice(self.starts[i], self.starts[i] + self.counts[i])
            order = np.argsort(-self.v[rows], kind="stable")[:5]
            order = order[self.v[rows][order] >= self.v[self.best[i]] - near]
            turns, shown = turns + 1, shown + len(order)
            hits += self.searched[i] and self.relevant[rows][order].any()
        return hits / self.asks.sum(), shown / max(turns, 1)

    def kept(self):
        """What the floor says of messages that were found."""
        return self.p[self.asks & self.found[:, 1] & self.searched]


def log_sums(values, starts, counts):
    """The logarithm of the sum of exponentials of each message's rows."""
    most = np.maximum.reduceat(values, starts)
    return most + np.log(np.add.reduceat(np.exp(values - np.repeat(most, counts)), starts))


def fit_score(settings, use, penalty=1e-4):
    """Weights by which relevant skills come first."""
    data = []
    for s in settings:
        asks = s.asks & use(s)
        data.append((s, s.figures, np.where(asks, s.weight / max(asks.sum(), 1), 0.0)))
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

    found = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return found.x / scale


def fit_floor(settings, features, use, penalty=1e-5):
    """Weights and a constant that tell messages which a skill answers from those that none does."""
    columns = [FLOOR.index(feature) for feature in features]
    figures, labels, weights = [], [], []
    for s in settings:
        rows = s.searched & use(s) & (~s.asks | s.found[:, 1])
        asks = s.asks[rows]
        figures.append(s.f[rows][:, columns])
        labels.append(asks)
        share = FLOOR_WEIGHTS.get(s.name, 1.0) / len(settings)
        weights.append(np.where(asks, share / max(asks.sum(), 1), share / max((~asks).sum(), 1)))
    figures, labels, weights = np.vstack(figures), np.concatenate(labels), np.concatenate(weights)
    mean, scale = figures.mean(0), figures.std(0)
    scale[scale < 1e-8] = 1.0
    ones = np.hstack([(figures - mean) / scale, np.ones((len(figures), 1))])

    def loss(t):
        u = ones @ t
        value = np.sum(weights * np.logaddexp(0, np.where(labels, -u, u))) + penalty * np.sum(t[:-1] ** 2)
        gradient = ones.T @ (weights * (1 / (1 + np.exp(-u)) - labels)) + 2 * penalty * np.append(t[:-1], 0)
        return value, gradient

    found = minimize(loss, np.zeros(ones.shape[1]), jac=True, method="L-BFGS-B")
    slopes = found.x[:-1] / scale
    floor = np.zeros(len(FLOOR) + 1)
    floor[columns], floor[-1] = slopes, found.x[-1] - slopes @ mean
    return floor


def judge(s, floors, rows):
    """The logit of the fit: of the floors for short and for long skills, by how long they are."""
    short, long = (s.f @ floor[:-1] + floor[-1] for floor in floors)
    s.p = np.where(rows, (1 - s.longness) * short + s.longness * long, s.p)


def run(settings, by_words):
    """Prints held-out figures, and returns the constants fitted on everything."""
    parts = [(SHORT, SHORT_FLOOR_BY_WORDS), (LONG, LONG_FLOOR_BY_WORDS)] if by_words else [
        (SHORT, SHORT_FLOOR), (LONG, LONG_FLOOR)]
    ranked = [settings[name] for name in RANKED]
    for s in settings.values():
        s.figures = s.score_figures()
        s.p = np.zeros(len(s.cases))
        if by_words:
            s.figures = s.figures[:, BY_WORDS]
    held_out = {s.name: np.zeros((len(s.cases), 2), bool) for s in ranked}
    for fold in range(FOLDS):
        weights = fit_score(ranked, lambda s: s.group != fold)
        for s in ranked:
            s.rank(full(s.figures, by_words), full(weights, by_words), by_words)
            held_out[s.name][s.group == fold] = s.found[s.group == fold]
    weights = fit_score(ranked, lambda s: np.full(len(s.cases), True))
    for s in settings.values():
        s.rank(full(s.figures, by_words), full(weights, by_words), by_words)
    of = lambda names: [settings[name] for name in names if not (by_words and "examples" in name)]
    for fold in range(FOLDS):
        floors = [fit_floor(of(names), features, lambda s: s.group != fold) for names, features in parts]
        for s in settings.values():
            judge(s, floors, s.group == fold)
    strict = [np.mean([np.quantile(settings[name].kept(), 1 - keep) for name in names]) - FLOOR_LOGIT
              for keep, names in zip(KEEP[by_words], GOALS)]
    for s in settings.values():
        s.p -= (1 - s.longness) * strict[0] + s.longness * strict[1]
    print(f"\n{'by words' if by_words else 'with meaning'}: {'@1':>19} {'@5':>5} | held out    | kept, answered | turn @5, names at {NEAR}")
    for s in settings.values():
        first, five = s.rates()
        rates = held_out[s.name][s.asks].mean(0) if s.name in held_out else [float("nan")] * 2
        turns = " ".join("%.3f %.2f," % s.turn(near) for near in NEAR)
        print(f"{s.name:24s} {first:.3f} {five:.3f} | {rates[0]:.3f} {rates[1]:.3f} "
              f"| {np.mean(s.kept() >= FLOOR_LOGIT):.3f} {s.answered(FLOOR_LOGIT):.3f} | {turns}", flush=True)
    floors = [fit_floor(of(names), features, lambda s: np.full(len(s.cases), True)) for names, features in parts]
    for floor, by in zip(floors, strict):
        floor[-1] -= by
    return full(weights, by_words), floors


def full(values, by_words):
    """Weights or figures by words, with zeros where meaning would be."""
    if not by_words:
        return values
    wide = np.zeros(values.shape[:-1] + (len(SCORE),))
    wide[..., BY_WORDS] = values
    return wide


def rust(name, kind, members, values):
    lines = "".join(f"    {member}: {value:.4f},\n" for member, value in zip(members, values))
    return f"pub(super) const {name}: {kind} = {kind} {{\n{lines}}};\n"


def main():
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    names = dict.fromkeys([*SHORT, *LONG, "random-50-160"])
    settings = {name: Setting(folder, name) for name in names}
    out = ["//! Written by benches/recall/fit.py; docs/recall.md says what the figures are. Fit again, do not edit.\n\n"
           "use super::floor::Floor;\nuse super::score::Fusion;\n"]
    for by_words, label in ((False, "WORDS_AND_MEANING"), (True, "WORDS")):
        weights, floors = run(settings, by_words)
        out.append(rust(label, "Fusion", SCORE, weights))
        out.append(rust(f"{label}_EVIDENCE", "Fusion", SCORE, EVIDENCE[by_words]))
        for which, floor in zip(("SHORT", "LONG"), floors):
            out.append(rust(f"{label}_{which}", "Floor", FLOOR + ["base"], floor))
    target.write_text("\n".join(out))


if __name__ == "__main__":
    main()
