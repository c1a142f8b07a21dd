"""Samples by what was measured, and what is made of them."""

import statistics


class Samples:
    """The samples of a run: a list for each key."""

    def __init__(self):
        self.all = {}

    def keep(self, key, sample):
        """Adds one."""
        self.all.setdefault(key, []).append(sample)

    def values(self, key, *path):
        """One figure of each sample, without those that do not have it."""
        found = []
        for sample in self.all.get(key, []):
            for step in path:
                sample = sample.get(step) if sample is not None else None
            if sample is not None:
                found.append(sample)
        return found

    def median(self, key, *path):
        """Median over the rounds; None for what was not measured."""
        values = self.values(key, *path)
        return statistics.median(values) if values else None

    def spread(self, key):
        """How far the rates of a key lie apart, as a share of their median; 0 for fewer than two."""
        rates = self.values(key, "rate")
        return (max(rates) - min(rates)) / statistics.median(rates) if len(rates) > 1 else 0.0

    def most_cores(self, key):
        """Cores that service, Postgres and load generator kept busy in the round that took most; 0 where that is not known."""
        busy = [sample.get("rate", 0) * sum(filter(None, sample.get("cpu_ms", {}).values())) / 1000 for sample in self.all.get(key, [])]
        return max(busy, default=0.0)

    def with_vector(self):
        """Share of the turns in haste that went with their message's vector; None where they were not measured."""
        requests = self.median("turn_deadline", "requests")
        return None if requests is None else 1 - self.median("turn_deadline", "degraded") / requests

    def cpu(self, key):
        """CPU milliseconds for one, service and Postgres together; None where Postgres runs elsewhere."""
        service, postgres = self.median(key, "cpu_ms", "service") or 0.0, self.median(key, "cpu_ms", "postgres")
        return None if postgres is None else service + postgres


def combined_rate(reference, jwt):
    """The rate of a service that does nothing but what both do: they share the cores, so their times add up."""
    return 1 / (1 / reference + 1 / jwt)


def drift(levels):
    """By how much a level has changed over the second half of its samples, as a share: the last fifth beside the one that
    begins at the middle. Medians, so that one reading says nothing. 0 for fewer than ten."""
    fifth = len(levels) // 5
    if len(levels) < 10:
        return 0.0
    middle = statistics.median(levels[len(levels) // 2:len(levels) // 2 + fifth])
    return statistics.median(levels[-fifth:]) / middle - 1
