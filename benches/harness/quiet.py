"""Whether the machine was quiet enough for figures that mean something."""

import os
import time

LOAD, SPREAD = 0.5, 0.15
# By what share a line may seem to take more CPU than there is: it is counted a little longer than the line is timed.
BEYOND = 0.05
PATIENCE_SECONDS, LOOK_EVERY = 240, 5


def wait_for_quiet(say, load=lambda: os.getloadavg()[0], sleep=time.sleep):
    """The load average of the last minute, as soon as it allows a run; what it still is after four minutes. The build before a
    run, which is over then, is in it too."""
    said = False
    for _ in range(PATIENCE_SECONDS // LOOK_EVERY):
        if load() <= LOAD:
            break
        if not said:
            say(f"  waiting for the machine to become quiet: load average {load():.2f}, wanted {LOAD}")
            said = True
        sleep(LOOK_EVERY)
    return load()


def disturbances(load_average, samples, cores=os.cpu_count()):
    """What speaks against the figures of a run; nothing for a quiet one. Lines of JWT only do the same work in each round, so how
    far they lie apart is the machine's doing. More CPU than there is was counted wrongly."""
    found = []
    if load_average > LOAD:
        found.append(f"the load average was {load_average:.2f} at the start (at most {LOAD})")
    for key in sorted(key for key in samples.all if key.startswith("jwt_") and " " not in key):
        spread = samples.spread(key)
        if spread > SPREAD:
            found.append(f"{key} lies {spread:.0%} apart over the rounds (at most {SPREAD:.0%})")
    for key in sorted(samples.all):
        repeated = sum(samples.values(key, "repeated"))
        if repeated:
            found.append(f"{key} had requests refused, and was measured again: {repeated} x")
        if samples.most_cores(key) > cores * (1 + BEYOND):
            found.append(f"{key} was told of {samples.most_cores(key):.1f} cores, of which there are {cores}")
    return found
