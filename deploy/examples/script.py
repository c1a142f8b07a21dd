"""The lines that an example worker lives on, from standard input or a file:

    NUMBER<TAB>TEXT    a message
    =TEXT              what the last reply must hold
    !TROUBLE [NUMBER]  something goes wrong before the next message; the worker's page says what there is
    # ...              for people
"""

import argparse
import sys

from knowhow import Knowhow, NoAnswer, Problem


def run(description, make_worker, troubles):
    """Plays all lines; `troubles` are functions of the worker and a number, by name. Exits with 1 for a broken promise."""
    parser = argparse.ArgumentParser(description=description + "\n" + __doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--script", help="a file of lines instead of standard input")
    options = parser.parse_args()
    try:
        worker, reply = make_worker(Knowhow(timeout=5)), ""
        with open(options.script) if options.script else sys.stdin as lines:
            for line in filter(None, (line.rstrip("\n") for line in lines)):
                if line.startswith("!"):
                    what, _, number = line[1:].partition(" ")
                    troubles[what](worker, number)
                elif line.startswith("="):
                    expect(line[1:] in reply, f"the reply holds {line[1:]!r}")
                elif not line.startswith("#"):
                    number, _, text = line.partition("\t")
                    reply = worker.receive(number, text)
                    print(f"{number} < {text}\n{number} > {reply}", flush=True)
        worker.close()
    except (Problem, NoAnswer) as error:
        sys.exit(f"Knowhow: {error}")


def expect(promised, sentence):
    """Holds the service to its word."""
    if not promised:
        sys.exit(f"not as promised: {sentence}")


def lose_answer(worker, _number):
    """The next request is asked, and its answer never comes."""
    worker.knowhow.lose_next_answer = True
