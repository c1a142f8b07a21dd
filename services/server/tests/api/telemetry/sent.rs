//! Spans, metrics and logs that arrive at a collector over OTLP.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::time::Duration;

use knowhow_testing::{FakeServer, Reply};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Said;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use super::measured::check_nobody;
use super::receiver::Receiver;
use crate::background::WITH_WORKER;
use crate::callers::{World, skill};
use crate::service::{PATIENCE, poll, poll_async};
use crate::talk::Talk;
use crate::worker::{Ground, world};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Intervals longer than any test, so that data are sent only when the process stops.
const PATIENT: [(&str, &str); 4] = [
    ("OTEL_BSP_SCHEDULE_DELAY", "3600000"),
    ("OTEL_BLRP_SCHEDULE_DELAY", "3600000"),
    ("OTEL_METRIC_EXPORT_INTERVAL", "3600000"),
    ("NO_PROXY", "127.0.0.1"),
];

fn sampled() -> String {
    format!("00-{TRACE}-{PARENT}-01")
}

/// Returns the only span with this name.
fn span<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let mut named = spans.iter().filter(|span| span.name == name);
    let one = named.next();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert!(one.is_some() && named.next().is_none(), "{name} in {names:?}");
    one.unwrap()
}

/// Returns the `traceparent` header that names the span as parent.
fn traceparent(span: &Span) -> String {
    format!("00-{}-{}-01", hex::encode(&span.trace_id), hex::encode(&span.span_id))
}

#[tokio::test]
async fn the_last_batch_arrives_on_shutdown_and_names_no_user() {
    let (ground, receiver) = (Ground::new(), Receiver::start());
    let chat = FakeServer::start([Reply::says("Says xyzzy.")]);
    let chat_url = chat.url();
    let mut settings = vec![WITH_WORKER, ("KNOWHOW_CHAT_URL", &*chat_url), ("KNOWHOW_CHAT_MODEL", "fake")];
    settings.extend([("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.url)]);
    settings.extend(PATIENT);
    let mut service = ground.serve(&settings);
    let World { alice, admin, operator, slug, .. } = &world(&service).await;
    let mut zork = skill("zork-plugh");
    zork["description"] = json!("Says xyzzy to the hollow lantern. ".repeat(20));
    let saved = alice.post("/v1/skills", zork).header("traceparent", &sampled()).await;
    saved.ok(201);
    alice.get("/v1/skills/grue-unknown").await.refused(404, "not-found");
    let talk = Talk::open(alice, json!({"key": "stream-frobozz", "channel": "sms"})).await;
    talk.say("please zork-plugh the hollow lantern, plover").await;
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].as_str().unwrap().to_owned();
    let tenant = operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200)["id"].as_str().unwrap().to_owned();
    poll_async("the model to be asked", async || (!chat.seen().is_empty()).then_some(())).await;
    ground.idle();
    service.terminate();
    assert!(service.wait(PATIENCE).success());

    let spans = receiver.spans();
    let save = span(&spans, "POST /v1/skills");
    assert_eq!((hex::encode(&save.trace_id), hex::encode(&save.parent_span_id)), (TRACE.into(), PARENT.into()));
    assert_eq!((saved.header("traceparent"), save.kind()), (&*traceparent(save), SpanKind::Server));
    let below: BTreeSet<&str> =
        spans.iter().filter(|span| span.parent_span_id == save.span_id).map(|span| span.name.as_str()).collect();
    assert!(below.contains("skills.save"), "{below:?}");
    let turn = span(&spans, "POST /v1/sessions/{session}/turns");
    let reads = spans.iter().filter(|span| span.parent_span_id == turn.span_id && span.name == "embeddings");
    assert_eq!(reads.count(), 1);
    assert!(spans.iter().all(|span| !span.name.contains("healthz") && !span.name.contains("readyz")));

    // The job's span is linked to the request that enqueued the job, and the model's request belongs to the job's
    // span.
    let job = span(&spans, "summarize_skill");
    let causes: Vec<String> = job.links.iter().map(|link| hex::encode(&link.trace_id)).collect();
    assert_eq!((causes, job.kind()), (vec![TRACE.to_owned()], SpanKind::Consumer));
    let asked = spans.iter().find(|span| span.name == "chat" && span.parent_span_id == job.span_id).unwrap();
    assert!(chat.seen().iter().any(|seen| seen.headers.get("traceparent") == Some(&traceparent(asked))));

    let lines = receiver.lines();
    assert!(lines.iter().filter(is_request).any(|line| line.span_id == save.span_id && line.trace_id == save.trace_id));
    assert!(receiver.metrics().iter().any(|name| name == "http.server.request.duration"));
    assert!(receiver.metrics().iter().any(|name| name == "knowhow.jobs"));
    let text = receiver.text();
    check_nobody(&text, slug);
    for id in [user, tenant] {
        assert!(!text.contains(&id), "{id}");
    }
    assert!(text.contains("service.instance.id") && text.contains("/v1/sessions/{session}/turns"));
}

#[tokio::test]
async fn a_trace_is_recorded_only_if_its_parent_is() {
    let (ground, receiver) = (Ground::new(), Receiver::start());
    let model = FakeServer::start([Reply::Vectors(3)]);
    let url = model.url();
    let mut settings = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.url), ("KNOWHOW_EMBEDDINGS_URL", &*url)];
    settings.extend(PATIENT);
    settings.push(("OTEL_METRICS_EXPORTER", "none"));
    settings.push(("OTEL_TRACES_SAMPLER", "parentbased_always_off"));
    let mut service = ground.serve(&settings);
    let World { alice, .. } = &world(&service).await;
    assert!(alice.get("/v1/skills").await.headers.get("traceparent").is_none());
    alice.get("/v1/skills?limit=1").header("traceparent", &sampled()).await.ok(200);
    // A trace that is not recorded is still propagated.
    let unsampled = format!("00-{TRACE}-{PARENT}-00");
    let found = alice.get("/v1/skills?q=a+hollow+lantern").header("traceparent", &unsampled).await;
    found.ok(200);
    let seen = model.seen();
    let carried = seen.iter().find(|seen| seen.text.contains("lantern")).unwrap().headers["traceparent"].clone();
    assert!(carried.starts_with(&format!("00-{TRACE}-")) && carried.ends_with("-00"), "{carried}");
    service.terminate();
    assert!(service.wait(PATIENCE).success());
    let spans = receiver.spans();
    let requests = spans.iter().filter(|span| span.kind() == SpanKind::Server).count();
    assert_eq!((requests, receiver.metrics().len()), (1, 0), "{spans:?}");
    // For successful requests, only those in recorded traces have log records.
    let (requests, others) = split(&receiver);
    assert_eq!((requests, others > 0), (1, true), "{:?}", receiver.lines());
}

#[tokio::test]
async fn all_requests_are_logged_if_traces_are_not_sent() {
    let (ground, receiver) = (Ground::new(), Receiver::start());
    let mut settings = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", &*receiver.url), ("OTEL_TRACES_EXPORTER", "none")];
    settings.extend(PATIENT);
    let mut service = ground.serve(&settings);
    let World { alice, .. } = &world(&service).await;
    alice.get("/v1/skills").await.ok(200);
    service.terminate();
    assert!(service.wait(PATIENCE).success());
    assert!(split(&receiver).0 > 1 && receiver.spans().is_empty());
}

fn is_request(line: &&LogRecord) -> bool {
    let said = line.body.as_ref().and_then(|body| body.value.as_ref());
    said == Some(&Said::StringValue("request".into()))
}

/// Returns the number of log records of requests, and of others.
fn split(receiver: &Receiver) -> (usize, usize) {
    let lines = receiver.lines();
    let requests = lines.iter().filter(is_request).count();
    (requests, lines.len() - requests)
}

#[tokio::test]
async fn a_trace_is_propagated_to_models_without_recording() {
    let ground = Ground::new();
    let model = FakeServer::start([Reply::Vectors(3)]);
    let url = model.url();
    let service = ground.serve(&[("KNOWHOW_EMBEDDINGS_URL", &*url)]);
    let World { alice, .. } = &world(&service).await;
    let found = alice.get("/v1/skills?q=a+hollow+lantern").header("traceparent", &sampled()).await;
    let own = found.header("traceparent").to_owned();
    assert!(own.starts_with(&format!("00-{TRACE}-")) && !own.contains(PARENT), "{own}");
    let seen = model.seen();
    assert_eq!(seen.iter().find(|seen| seen.text.contains("lantern")).unwrap().headers["traceparent"], own);
    assert!(alice.get("/v1/skills").await.headers.get("traceparent").is_none());
}

#[tokio::test]
async fn an_unreachable_collector_does_not_delay_the_service() {
    let ground = Ground::new();
    // One endpoint refuses connections, and one never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    for endpoint in ["http://127.0.0.1:9", &silent] {
        let mut settings = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)];
        settings.extend(PATIENT);
        let mut service = ground.serve(&settings);
        let World { alice, .. } = &world(&service).await;
        alice.create(skill("plan")).await;
        service.terminate();
        assert!(service.wait(Duration::from_secs(60)).success());
    }
}

#[test]
fn an_unusable_variable_is_named() {
    crate::service::migrated();
    let mut command = crate::service::knowhow(&["serve"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317").env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let output = poll("the refusal", || command.output().ok());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf"), "{said}");
}
