//! Renders docs/reference/metrics.md from the table that defines the metrics.

use knowhow_telemetry::metrics::{ALL, Kind, Metric};

const HEAD: &str = "# Metrics

With `KNOWHOW_METRICS_BIND=0.0.0.0:9464`, `serve` and `worker` serve `/metrics` in Prometheus' format, and `/healthz` and `/readyz`, at
that address. OTLP exports the same metrics under OpenTelemetry's names ([telemetry](../operators/telemetry.md)). The address requires no
credential, so it must not be public.

All durations are in seconds. Labels have fixed sets of values and never contain a tenant, a user, a name or a text. A process has
at most 2,000 series, `serve --with-worker` at most 2,400. At most 96 combinations of method, route and status are counted separately;
further ones share the route `other`. 32 of the 96 are reserved for the routes of the objectives: turns, snapshots, new sessions, saves
and patches. `knowhow metrics` prints this page; a test checks that it is current.

| metric | kind | labels | meaning |
|---|---|---|---|
";

/// Renders the page as Markdown.
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
