#!/usr/bin/env python3
"""Computes the constants of a model that joins two networks, and prints how well plain cosines find skills with them.

    fit.py CORPUS FIELDSETS MODEL_FOLDER CACHE minilm|e5 OUT     the network that is joined with mUSE, and the file to write
"""

import sys
from pathlib import Path

import numpy as np
from english import is_english
from networks import MUSE_WIDTH, WIDTH, Networks, unit
from sets import Sets

SAMPLE = 600
KEPT = 0.95


class Texts:
    """Texts with the raw vectors of both networks. all-MiniLM reads English texts only."""

    def __init__(self, networks, first, texts):
        self.first, self.muse = networks.encode(first, texts), networks.encode("muse", texts)
        self.read = np.array([first != "minilm" or is_english(text) for text in texts])

    def mean(self):
        """Means of both networks; the first is of the texts that it reads, `None` if they are less than a tenth."""
        read = self.first[self.read]
        return (read.mean(0) if len(read) > len(self.read) / 10 else None), self.muse.mean(0)


def half(numbers):
    return numbers.astype(np.float16).astype(np.float32)


def mean_of_sets(sets):
    first, muse = zip(*(texts.mean() for texts in sets))
    return half(np.mean([mean for mean in first if mean is not None], 0)), half(np.mean(muse, 0))


def both(texts, means):
    """The vectors of both networks, centred, side by side."""
    first = unit(texts.first - means[0]) * texts.read[:, None]
    return unit(np.hstack([first, unit(texts.muse - means[1])]))


def sample(vectors):
    return vectors[np.random.RandomState(1).permutation(len(vectors))[:SAMPLE]]


def fit(messages, documents):
    """Means of messages and documents, and the matrix."""
    means = mean_of_sets(messages), mean_of_sets(documents)
    rows = [sample(both(texts, means[0])) for texts in messages] + [sample(both(texts, means[1])) for texts in documents]
    _, strengths, directions = np.linalg.svd(np.vstack(rows), full_matrices=False)
    kept = (strengths[:WIDTH] ** 2).sum() / (strengths**2).sum()
    print(f"the matrix keeps {kept:.3f} of the squared length")
    return means, half(directions[:WIDTH])


def score(world, vectors):
    """Share of messages whose right skill is first, and of negatives that pass what 95 % of the right ones pass."""
    cosines = vectors(world.messages, 0) @ vectors(world.skills, 1).T
    best = cosines.argmax(1)
    right = np.mean([world.names[at] in relevant for at, relevant in zip(best, world.relevant)])
    if world.negatives is None:
        return f"{world.name} {right:.3f}"
    threshold = np.sort(cosines.max(1))[int((1 - KEPT) * len(cosines))]
    answered = np.mean((vectors(world.negatives, 0) @ vectors(world.skills, 1).T).max(1) > threshold)
    return f"{world.name} {right:.3f} (negatives {answered:.3f})"


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    corpus, fieldsets, folder, cache, first, out = [*map(Path, sys.argv[1:5]), sys.argv[5], Path(sys.argv[6])]
    networks = Networks(folder, cache)
    sets = Sets(corpus, fieldsets, lambda texts: Texts(networks, first, texts))
    means, matrix = fit(sets.messages, sets.documents)
    constants = [means[0][0], means[1][0], means[0][1], means[1][1], matrix.ravel()]
    assert [len(part) for part in constants[:4]] == [WIDTH, WIDTH, MUSE_WIDTH, MUSE_WIDTH]
    out.write_bytes(np.concatenate(constants).astype("<f2").tobytes())
    ways = {
        first: lambda texts, side: texts.first,
        "centred": lambda texts, side: unit(texts.first - means[side][0]),
        "joined": lambda texts, side: unit(both(texts, means[side]) @ matrix.T),
    }
    for name, vectors in ways.items():
        print(f"{name}: " + ", ".join(score(world, vectors) for world in sets.worlds))


if __name__ == "__main__":
    main()
