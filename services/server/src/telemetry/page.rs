//! docs/metrics.md: every metric, from the table that the instruments are made of.

use knowhow_telemetry::metrics::{ALL, Kind, Metric};

const HEAD: &str = "# Metrics

`KNOWHOW_METRICS_BIND=0.0.0.0:9464` has `serve` and `worker` serve `/metrics` in the form of Prometheus, with `/healthz` and `/readyz`
beside it; over OTLP the same go out under the names of OpenTelemetry ([telemetry](telemetry.md)). Whoever reaches the address reads
them: keep it inside.

All durations are seconds. No label has a tenant, a user, a name or a text: labels are of closed sets, and one process has
2,000 series at most, and `serve --with-worker` 2,400. Combinations of method, route and status beyond 96 share the route `other`; 32 of these are kept for what
objectives are about: turns, snapshots, sessions that begin, saves and patches. `knowhow metrics` prints this page, and a test holds it
against the program.

| metric | kind | labels | meaning |
|---|---|---|---|
";

/// The page as Markdown.
pub fn page() -> String {
    let lines: String = ALL.iter().map(|metric| line(metric)).collect();
    let buckets = ALL.iter().filter(|metric| metric.kind == Kind::Histogram).map(|metric| {
        let bounds: Vec<String> = metric.bounds.iter().map(ToString::to_string).collect();
        format!("| `{}` | {} |\n", metric.prometheus_name(), bounds.join(", "))
    });
    let buckets: String = buckets.collect();
    format!(
        "{HEAD}{lines}\n## Buckets\n\nUpper bounds in seconds; objectives are among them.\n\n| histogram | bounds |\n|---|---|\n{buckets}"
    )
}

fn line(metric: &Metric) -> String {
    let labels: Vec<String> = metric.labels.iter().map(|(name, values)| format!("`{name}`: {values}")).collect();
    let (name, kind) = (metric.prometheus_name(), metric.kind.as_str());
    format!("| `{name}` | {kind} | {} | {} |\n", labels.join("; "), metric.meaning)
}

#[cfg(test)]
mod tests;
