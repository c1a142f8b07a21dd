"""Whether a text is English: the rule of services/encoder/src/language.rs."""

import unicodedata
from pathlib import Path

CHARS = 2000
OTHER_LETTERS = 3
FUNCTION_WORD = 2


def read_words():
    path = Path(__file__).parents[2] / "services/encoder/data/function_words.txt"
    words = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            language, *of_it = line.split()
            for word in of_it:
                words.setdefault(word, []).append(language)
    return words


WORDS = read_words()


def is_latin(char):
    return char < "\u0250" or "\u1e00" <= char <= "\u1eff"


def is_english(text):
    text = text[:CHARS]
    letters = [char if unicodedata.category(char)[0] == "L" else " " for char in text]
    latin = sum(char != " " and is_latin(char) for char in letters)
    other = sum(char != " " and not is_latin(char) for char in letters)
    words = "".join(char.lower() if is_latin(char) else " " for char in letters).split()
    scores = {}
    for word in words:
        for language in WORDS.get(word, ()):
            scores[language] = scores.get(language, 0) + FUNCTION_WORD
    marked = sum(not word.isascii() for word in words)
    best = max((score for language, score in scores.items() if language != "en"), default=0)
    return OTHER_LETTERS * other <= latin and scores.get("en", 0) >= best + marked
