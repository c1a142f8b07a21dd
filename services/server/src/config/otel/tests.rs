use super::*;

fn read(set: &[(&str, &str)]) -> Result<Otel> {
    Otel::from_parts(&set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
}

#[test]
fn nothing_is_exported_without_an_endpoint() {
    for set in [
        &[][..],
        &[("OTEL_TRACES_SAMPLER", "always_on")],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"), ("OTEL_SDK_DISABLED", "TRUE")],
    ] {
        let otel = read(set).unwrap();
        assert_eq!((otel.traces, otel.metrics, otel.logs), (None, None, None), "{set:?}");
    }
}

#[test]
fn the_common_endpoint_applies_unless_a_signal_has_its_own() {
    let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/");
    let otel = read(&[all, ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://logs/in"), ("OTEL_METRICS_EXPORTER", "none")]);
    let otel = otel.unwrap();
    assert_eq!(otel.traces.unwrap().as_str(), "http://collector:4318/v1/traces");
    assert_eq!((otel.logs.unwrap().as_str(), otel.metrics), ("https://logs/in", None));
    assert_eq!((otel.service_name.as_str(), otel.interval), ("knowhow", Duration::from_secs(60)));
    assert_eq!(otel.sampler, Sampler { ratio: 1.0, parent_based: true });
}

#[test]
fn standard_samplers_are_parsed() {
    let sampler = |name, ratio| read(&[("OTEL_TRACES_SAMPLER", name), ("OTEL_TRACES_SAMPLER_ARG", ratio)]);
    let parted = sampler("parentbased_traceidratio", "0.05").unwrap().sampler;
    assert_eq!(parted, Sampler { ratio: 0.05, parent_based: true });
    assert_eq!(sampler("always_off", "").unwrap().sampler, Sampler { ratio: 0.0, parent_based: false });
    assert_eq!(sampler("traceidratio", "").unwrap().sampler, Sampler { ratio: 1.0, parent_based: false });
}

#[test]
fn errors_name_the_invalid_variable() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a");
    for (set, named) in [
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector")][..], "OTEL_EXPORTER_OTLP_ENDPOINT"),
        (&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "grpc://a")], "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
        (&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], "http/protobuf"),
        (&[endpoint, ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/json")], "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL"),
        (&[endpoint, ("OTEL_LOGS_EXPORTER", "console")], "OTEL_LOGS_EXPORTER"),
        (&[("OTEL_TRACES_SAMPLER", "jaeger_remote")], "OTEL_TRACES_SAMPLER"),
        (&[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "5%")], "OTEL_TRACES_SAMPLER_ARG"),
        (&[("OTEL_METRIC_EXPORT_INTERVAL", "0")], "OTEL_METRIC_EXPORT_INTERVAL"),
    ] {
        let error = format!("{:#}", read(set).unwrap_err());
        assert!(error.contains(named), "{error}");
    }
}
