//! Numbers and texts at and beyond what can be stored, in every member and parameter of every operation and tool. No
//! answer may be a server error.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::callers::{Caller, World};
use crate::mcp::client::{OLDER, older_request};
use crate::service::printed;
use crate::talk::Talk;

/// Number of concurrent requests.
const AT_ONCE: usize = 6;

/// Returns numbers in JSON form, and texts that could be read as numbers. A `Value` cannot contain some of them.
fn numbers(schema: &Value) -> Vec<String> {
    let all = ["1e39", "-1e39", "1e308", "-1e308", "\"NaN\"", "9223372036854775808"];
    let mut all: Vec<String> = all.map(str::to_owned).into();
    for (bound, beyond) in [("minimum", -1.0), ("maximum", 1.0)] {
        if let Some(bound) = schema[bound].as_f64() {
            all.extend([bound, bound + beyond].map(|number| json!(number as i64).to_string()));
        }
    }
    all
}

fn texts() -> Vec<String> {
    [r#""a\u0000b""#, r#""a\udc00\ud800""#].map(str::to_owned).into()
}

/// A member of a body: its pointer, and the values to try.
struct Place {
    pointer: Vec<String>,
    values: Vec<String>,
}

/// Follows references, and returns the alternatives of `oneOf`, `anyOf` and `allOf`.
fn resolved<'a>(schema: &'a Value, document: &'a Value) -> Vec<&'a Value> {
    if let Some(target) = schema["$ref"].as_str() {
        return resolved(document.pointer(&target[1..]).unwrap(), document);
    }
    for joined in ["oneOf", "anyOf", "allOf"] {
        if let Some(all) = schema[joined].as_array() {
            return all.iter().flat_map(|one| resolved(one, document)).collect();
        }
    }
    vec![schema]
}

fn is(schema: &Value, kind: &str) -> bool {
    let kinds = &schema["type"];
    kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.iter().any(|one| one == kind))
}

/// Collects every number and text in a body of this schema.
fn places(schema: &Value, document: &Value, at: &[String], found: &mut Vec<Place>) {
    if at.len() > 6 {
        return;
    }
    for schema in resolved(schema, document) {
        let below = |name: &str| [at, &[name.to_owned()]].concat();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            places(member, document, &below(name), found);
        }
        if schema["additionalProperties"].is_object() {
            let names = schema["propertyNames"]["enum"].as_array().and_then(|names| names.first()?.as_str());
            places(&schema["additionalProperties"], document, &below(names.unwrap_or("x")), found);
        }
        if schema["items"].is_object() {
            places(&schema["items"], document, &below("0"), found);
        }
        let values = match schema {
            _ if is(schema, "integer") || is(schema, "number") => numbers(schema),
            _ if is(schema, "string") => texts(),
            _ => continue,
        };
        if !at.is_empty() {
            found.push(Place { pointer: at.to_vec(), values });
        }
    }
}

/// Returns the body with a mark at the pointer, which replaces any value there.
fn marked(body: &Value, pointer: &[String]) -> Value {
    let Some((name, rest)) = pointer.split_first() else { return json!(MARK) };
    if name == "0" {
        let first = body.get(0).cloned().unwrap_or_default();
        return json!([marked(&first, rest)]);
    }
    let mut members = body.as_object().cloned().unwrap_or_default();
    let member = members.get(name).cloned().unwrap_or_default();
    members.insert(name.clone(), marked(&member, rest));
    Value::Object(members)
}

const MARK: &str = "here it goes";

fn bodies_of(schema: &Value, example: &Value, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    places(schema, document, &[], &mut found);
    let with = |place: &Place| {
        let text = marked(example, &place.pointer).to_string();
        place.values.iter().map(|value| text.replace(&json!(MARK).to_string(), value)).collect::<Vec<_>>()
    };
    found.iter().flat_map(with).collect()
}

/// Creates data and returns values for the path parameters of requests.
async fn path_members(world: &World) -> BTreeMap<&'static str, String> {
    let World { alice, admin, .. } = world;
    alice.create_all(&["kept", "other"]).await;
    let talk = Talk::long(alice).await;
    talk.say("what is kept?").await;
    let memory = alice.post("/v1/memories", json!({"content": "Prefers trains"})).await.ok(201);
    let starter = json!({"skill_md": "---\nname: shared\ndescription: Does it. Use when asked.\n---\nDo it.\n"});
    admin.put("/v1/admin/starter-skills/shared", starter).await;
    world.bob.get("/v1/skills").await.ok(200);
    BTreeMap::from([
        ("skill", "kept".to_owned()),
        ("other", "other".to_owned()),
        ("type", "related".to_owned()),
        ("session", talk.id),
        ("memory", memory["id"].as_str().unwrap().to_owned()),
        ("external_id", "bob".to_owned()),
        ("version", "1".to_owned()),
        ("turn", "1".to_owned()),
        ("path", "references/a.md".to_owned()),
    ])
}

/// A request that may be refused but must not cause a server error.
struct Probe {
    method: Method,
    path: String,
    body: Option<String>,
}

fn probes(document: &Value, members: &BTreeMap<&'static str, String>, slugs: (&str, &str)) -> Vec<Probe> {
    let mut all = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let name_of = |segment: &str| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                Some("slug") => slugs.1.to_owned(),
                Some("name") if template.starts_with("/v1/directives") => "dream-gaps".to_owned(),
                Some("name") => "shared".to_owned(),
                Some(name) => members.get(name).cloned().unwrap_or_else(|| uuid::Uuid::nil().to_string()),
                None => segment.to_owned(),
            };
            let path = template.split('/').map(name_of).collect::<Vec<_>>().join("/");
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let takes_tenant = parameters.iter().any(|p| p["name"] == "tenant");
            let tenant = if takes_tenant { format!("?tenant={}", slugs.0) } else { "?".to_owned() };
            let content = &operation["requestBody"]["content"]["application/json"];
            let schema = &content["schema"];
            let example = [
                &content["example"],
                &resolved(schema, document).first().map_or(Value::Null, |s| s["example"].clone()),
            ]
            .into_iter()
            .find(|example| example.is_object())
            .cloned()
            .unwrap_or_else(|| Value::Object(Map::new()));
            let address = format!("{path}{tenant}");
            // If no member is required, tries each member alone too, because the example may be refused for another
            // member.
            let is_optional = resolved(schema, document).iter().all(|schema| schema["required"].is_null());
            let alone = if is_optional { bodies_of(schema, &json!({}), document) } else { Vec::new() };
            for body in bodies_of(schema, &example, document).into_iter().chain(alone) {
                all.push(Probe { method: method.clone(), path: address.clone(), body: Some(body) });
            }
            let body = schema.is_object().then(|| example.to_string());
            for parameter in parameters.iter().filter(|p| p["in"] == "query" && p["name"] != "tenant") {
                let name = parameter["name"].as_str().unwrap();
                for value in ["1e39", "-1", "NaN", "18446744073709551616", "a%00b"] {
                    let path = format!("{address}&{name}={value}");
                    all.push(Probe { method: method.clone(), path, body: body.clone() });
                }
            }
            let is_member = |(_, segment): &(usize, &str)| segment.starts_with('{');
            for (position, _) in template.split('/').enumerate().filter(is_member) {
                for value in ["1e39", "a%00b", "%ed%a0%80"] {
                    let mut parts: Vec<&str> = path.split('/').collect();
                    parts[position] = value;
                    let path = format!("{}{tenant}", parts.join("/"));
                    all.push(Probe { method: method.clone(), path, body: body.clone() });
                }
            }
        }
    }
    all
}

/// Returns whether a request deletes data that other requests need, so that it must be sent last.
fn removes(probe: &Probe) -> bool {
    probe.method == Method::DELETE || probe.path.contains("/end?")
}

/// Sends requests and returns each status with a description of its request.
async fn send_all(probes: Vec<Probe>, caller_of: impl Fn(&str) -> Caller) -> Vec<(u16, String)> {
    let send = |probe: Probe| {
        let caller = caller_of(&probe.path);
        async move {
            let shown = format!("{} {} {}", probe.method, probe.path, probe.body.as_deref().unwrap_or_default());
            let sending = caller.send(probe.method, &probe.path);
            let sending = match probe.body {
                Some(body) => sending.body("application/json", body),
                None => sending,
            };
            (sending.status().await, shown)
        }
    };
    stream::iter(probes).map(send).buffer_unordered(AT_ONCE).collect().await
}

#[tokio::test]
async fn no_number_or_text_causes_a_server_error_over_rest() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let alice = world.scoped("alice", "skills:read skills:write sessions memories review");
    let document: Value = serde_json::from_str(&printed(&["openapi"])).unwrap();
    let members = path_members(&world).await;
    // The requests change the settings of this second tenant and suspend it.
    let second = World::new().await;
    let mut probes = probes(&document, &members, (&world.slug, &second.slug));
    probes.sort_by_key(removes);
    let caller_of = |path: &str| match path {
        _ if path.starts_with("/v1/admin/") || path.starts_with("/v1/directives") => world.operator.clone(),
        _ => alice.clone(),
    };
    let answers = send_all(probes, caller_of).await;
    let faults: Vec<_> = answers.iter().filter(|(status, _)| *status >= 500).collect();
    assert!(faults.is_empty(), "{} faults: {:#?}", faults.len(), &faults[..faults.len().min(40)]);
    // The sample is meaningful: hundreds of requests are refused with 422 because of a value, and few with 429
    // because of a rate limit.
    let count = |status: u16| answers.iter().filter(|(answered, _)| *answered == status).count();
    let counts = [200, 204, 400, 404, 409, 422, 429].map(|status| (status, count(status)));
    assert!(count(422) > 500 && count(429) * 50 < answers.len(), "{counts:?} of {}", answers.len());
    for (request, value) in [
        ("PUT /v1/skills/kept/importance", r#""decay_rate":1e308"#),
        ("PUT /v1/learning", r#""time_zone":"a\u0000b""#),
        (&format!("PATCH /v1/admin/tenants/{}", second.slug), r#""min_score":1e39"#),
        (&format!("PATCH /v1/admin/tenants/{}", second.slug), r#""max_turns":-1e39"#),
        ("POST /v1/admin/tenants", r#""skill_decay":1e39"#),
        ("POST /v1/memories", r#""importance":-1e308"#),
    ] {
        let tried = answers.iter().find(|(_, shown)| shown.starts_with(request) && shown.contains(value));
        assert_eq!(tried.map(|(status, _)| *status), Some(422), "{request} {value}");
    }
    // No accepted value makes a tenant unusable.
    world.operator.delete(&format!("/v1/admin/tenants/{}/suspension", second.slug)).await.ok(200);
    world.operator.get("/v1/admin/tenants?limit=200").await.ok(200);
    world.operator.get(&format!("/v1/admin/tenants/{}", second.slug)).await.ok(200);
    for alice in [&world.alice, &second.alice] {
        let status = alice.get("/v1/skills").await.status;
        assert!(status < 500, "{status}");
    }
}

#[tokio::test]
async fn no_number_or_text_causes_a_server_error_over_mcp() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["kept"]).await;
    let tools: Value = serde_json::from_str(&printed(&["openapi", "--mcp"])).unwrap();
    let list = tools["tools"].as_array().or_else(|| tools.as_array()).unwrap();
    let mut bodies = Vec::new();
    for tool in list {
        for arguments in bodies_of(&tool["inputSchema"], &json!({"name": "kept"}), &tool["inputSchema"]) {
            let call = older_request("tools/call", json!({"name": tool["name"], "arguments": MARK}));
            bodies.push(call.to_string().replace(&json!(MARK).to_string(), &arguments));
        }
    }
    assert!(bodies.len() > 100, "{}", bodies.len());
    let send = async |body: String| {
        let shown = body.clone();
        let sending = alice.bytes(body.as_bytes()).header("MCP-Protocol-Version", OLDER);
        let answer = sending.await;
        let is_fault = answer.status >= 500 || answer.text().contains("/problems/internal");
        is_fault.then(|| format!("{shown}: {answer}"))
    };
    let faults: Vec<String> =
        stream::iter(bodies).map(send).buffer_unordered(AT_ONCE).filter_map(async |fault| fault).collect().await;
    assert!(faults.is_empty(), "{} faults: {:#?}", faults.len(), &faults[..faults.len().min(20)]);
}
