//! Every operation behaves as the OpenAPI document says. The document also fits its readers: people in the
//! interactive page, and generators of clients.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::World;
use crate::service::printed;

/// All scopes that a user can have.
const USER: &str = "skills:read skills:write sessions memories review";

/// Returns the document as `knowhow openapi` prints it.
pub fn document() -> Value {
    serde_json::from_str(&printed(&["openapi"])).unwrap()
}

/// Returns every operation with its method and path.
pub fn operations(document: &Value) -> Vec<(Method, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        item.as_object()
            .unwrap()
            .iter()
            .map(|(method, operation)| (method.to_uppercase().parse().unwrap(), path.clone(), operation.clone()))
    });
    all.collect()
}

/// Returns the path with a value in place of each parameter.
pub fn filled(path: &str) -> String {
    let part = |segment: &str| match segment {
        "{path}" => "references/a.md".to_owned(),
        "{turn}" | "{version}" => "1".to_owned(),
        _ if segment.starts_with('{') => uuid::Uuid::nil().to_string(),
        fixed => fixed.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_operation_refuses_unknown_query_parameters() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let World { operator, slug, .. } = &world;
    let alice = &world.scoped("alice", USER);
    let document = document();
    for (method, path, operation) in operations(&document) {
        let admin = path.starts_with("/v1/admin/") || path.starts_with("/v1/directives");
        let caller = if admin { operator } else { alice };
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let known: Vec<&str> =
            parameters.iter().filter(|p| p["in"] == "query").map(|p| p["name"].as_str().unwrap()).collect();
        let tenant = if known.contains(&"tenant") { format!("&tenant={slug}") } else { String::new() };
        let problem = caller
            .send(method.clone(), &format!("{}?nonsense=1{tenant}", filled(&path)))
            .json(&operation["requestBody"]["content"]["application/json"]["example"])
            .await
            .refused(400, "malformed");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("'nonsense'"), "{method} {path}: {detail}");
        for name in known {
            assert!(detail.contains(name), "{method} {path}: {detail}");
        }
    }
}

#[tokio::test]
async fn a_mistyped_query_parameter_is_refused() {
    let World { operator, admin, slug, .. } = &World::new().await;
    let key = json!({"name": "k", "scopes": ["skills:read"]});
    operator.post(&format!("/v1/admin/keys?tennant={slug}"), key.clone()).await.refused(400, "malformed");
    admin.get("/v1/admin/users?q=voice").await.refused(400, "malformed");
    admin.get("/v1/admin/audit?verb=key.create").await.refused(400, "malformed");
    operator.get(&format!("/v1/admin/keys?tenant={slug}&tenant={slug}")).await.refused(400, "malformed");
    assert_eq!(admin.get("/v1/admin/keys").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn a_bad_query_parameter_is_named() {
    let World { alice, admin, .. } = &World::new().await;
    for (path, name, words) in [
        ("/v1/skills?limit=-1", "limit", "a whole number of at least 0"),
        ("/v1/skills?limit=many", "limit", "a whole number of at least 0"),
        ("/v1/skills?ranked=perhaps", "ranked", "true or false"),
        ("/v1/skills/export?format=rar", "format", "one of zip, tar.gz"),
    ] {
        let problem = alice.get(path).await.refused(400, "malformed");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("'{name}'")) && detail.contains(words), "{path}: {detail}");
    }
    let problem = admin.get("/v1/admin/jobs?state=asleep").await.refused(400, "malformed");
    assert!(problem["detail"].as_str().unwrap().contains("'state' must be one of "), "{problem}");
}

/// Every operation that accepts JSON refuses unknown members, at every depth.
#[tokio::test]
async fn every_operation_refuses_unknown_members() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let World { operator, slug, .. } = &world;
    let alice = &world.scoped("alice", USER);
    let document = document();
    for (method, path, operation) in operations(&document) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            continue;
        }
        let closed = |schema: &Value| {
            let is_object = schema["properties"].is_object();
            assert!(!is_object || schema["additionalProperties"] == false, "{method} {path} takes anything: {schema}");
        };
        let mut seen = BTreeSet::new();
        visit(schema, &document, &mut seen, &closed);
        let admin = path.starts_with("/v1/admin/") || path.starts_with("/v1/directives");
        let in_tenant = admin && !path.starts_with("/v1/admin/tenants");
        let query = if in_tenant { format!("?tenant={slug}") } else { String::new() };
        let caller = if admin { operator } else { alice };
        let sent = caller.send(method, &format!("{}{query}", filled(&path))).json(&json!({"nonsense": 1}));
        sent.await.invalid("/nonsense", "is unknown");
    }
}

/// Calls `look` for a schema and for all schemas that it refers to.
fn visit(schema: &Value, document: &Value, seen: &mut BTreeSet<String>, look: &impl Fn(&Value)) {
    look(schema);
    match schema {
        Value::Object(members) => {
            if let Some(target) = members.get("$ref").and_then(Value::as_str)
                && seen.insert(target.to_owned())
            {
                visit(document.pointer(&target[1..]).unwrap(), document, seen, look);
            }
            members.values().for_each(|member| visit(member, document, seen, look));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, document, seen, look)),
        _ => {}
    }
}

/// Each status has one example of that status, and the code that answers requests made the example.
#[tokio::test]
async fn refusals_are_shared_and_their_examples_have_their_status() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.len() <= 9, "{method} {path} has {} answers", responses.len());
        for (status, response) in responses.iter().filter(|(status, _)| !status.starts_with(['2', '3', '5'])) {
            let shared = response["$ref"].as_str().unwrap_or_else(|| panic!("{method} {path} {status}"));
            let content = &document.pointer(&shared[1..]).unwrap()["content"]["application/problem+json"];
            for (code, example) in content["examples"].as_object().unwrap() {
                let problem = &example["value"];
                assert_eq!(problem["type"], format!("/problems/{code}"));
                let fits = status == "default" || problem["status"] == status.parse::<u16>().unwrap();
                assert!(fits, "{method} {path} {status}: {problem}");
            }
        }
    }
    let World { alice, .. } = &World::new().await;
    let missing = alice.get("/v1/skills/no-such").await.refused(404, "not-found");
    let example = &document["components"]["responses"]["NotFound"]["content"]["application/problem+json"]["examples"];
    assert_eq!(missing["title"], example["not-found"]["value"]["title"]);
}

#[tokio::test]
async fn the_document_is_complete() {
    let document = document();
    let declared: Vec<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    for (method, path, operation) in operations(&document) {
        let tags = operation["tags"].as_array().unwrap();
        assert!(tags.iter().all(|tag| declared.contains(&tag.as_str().unwrap())), "{method} {path}: {tags:?}");
        let headers = operation["parameters"].as_array().into_iter().flatten();
        assert!(!headers.clone().any(|p| p["name"] == "Knowhow-User"), "{method} {path}: asked for at each operation");
    }
    assert!(document["tags"].as_array().unwrap().iter().all(|tag| tag["description"].is_string()));
    let user = &document["components"]["securitySchemes"]["user"];
    assert_eq!(
        (&user["type"], &user["in"], &user["name"]),
        (&json!("apiKey"), &json!("header"), &json!("Knowhow-User"))
    );
    assert!(document["servers"][0]["url"].is_string() && document["info"]["contact"]["name"].is_string());
    let text = document.to_string();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("\"#/components/schemas/{name}\"")), "no operation leads to {name}");
    }
}

#[tokio::test]
async fn binary_bodies_are_described_in_a_form_that_generators_support() {
    let document = document();
    let binary = json!({"type": "string", "format": "binary"});
    let at = |pointer: &str| document.pointer(pointer).unwrap_or_else(|| panic!("{pointer}")).clone();
    let resource = "/paths/~1v1~1skills~1{skill}~1resources~1{path}";
    for pointer in [
        format!("{resource}/get/responses/200/content/application~1octet-stream/schema"),
        format!("{resource}/put/requestBody/content/application~1octet-stream/schema"),
        "/paths/~1v1~1skills~1export/get/responses/200/content/application~1zip/schema".to_owned(),
        "/paths/~1v1~1skills~1export/get/responses/200/content/application~1octet-stream/schema".to_owned(),
        "/components/schemas/ImportForm/properties/files/items".to_owned(),
    ] {
        assert_eq!(at(&pointer), binary, "{pointer}");
    }
    assert_eq!(at("/components/schemas/ImportForm/properties/file/format"), "binary");
    for path in ["/paths/~1v1~1skills~1{skill}/delete", "/paths/~1v1~1sessions/post"] {
        assert_eq!(at(&format!("{path}/requestBody/required")), json!(false));
        assert!(at(&format!("{path}/requestBody/content/application~1json/schema"))["$ref"].is_string());
    }
    // The import accepts both names of parts, and the export uses the requested media type.
    let World { alice, .. } = &World::new().await;
    let text = |name: &str| format!("---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\nDo it.\n");
    let mut form = String::new();
    for (part, name) in [("files", "one"), ("files", "two"), ("file", "three")] {
        let head = format!("Content-Disposition: form-data; name=\"{part}\"; filename=\"{name}.md\"");
        form.push_str(&format!("--b\r\n{head}\r\n\r\n{}\r\n", text(name)));
    }
    form.push_str("--b--\r\n");
    let import = alice.send(Method::POST, "/v1/skills/import").body("multipart/form-data; boundary=b", form);
    import.await.ok(200);
    assert_eq!(alice.names().await, ["one", "three", "two"]);
    let export = alice.get("/v1/skills/export").header("Accept", "application/octet-stream").await;
    assert_eq!((export.status, export.header("content-type")), (200, "application/octet-stream"));
    assert_eq!(alice.get("/v1/skills/export").await.header("content-type"), "application/zip");
    alice.delete("/v1/skills/one").await.empty(204);
    alice.delete("/v1/skills/two").json(&json!({})).await.empty(204);
}

/// Members of a schema from which the interactive page fills in a value, which it then sends.
const PREFILLED: [&str; 3] = ["example", "examples", "default"];

/// Operations that add data, and the edit of a passage. All other operations that are not GET decide, delete or
/// replace something.
const ADDING: [&str; 19] = [
    "add_reply",
    "check_import",
    "create_issuer",
    "create_key",
    "create_tenant",
    "create_user",
    "import_skills",
    "match_skills",
    "open_session",
    "patch_skill",
    "refresh_snapshot",
    "report_use",
    "save_memory",
    "save_skill",
    "start_dreams",
    "start_reflection",
    "submit_skill",
    "take_turn",
    "test_webhook",
];

/// Returns the schema, following references.
fn resolve<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(target) => resolve(document, document.pointer(&target[1..]).unwrap()),
        None => schema,
    }
}

/// The page selects the first enum value of a required parameter. An operation that decides must require more than
/// that.
#[test]
fn no_operation_that_decides_can_be_sent_with_preselected_values() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let required: Vec<&Value> = parameters.filter(|parameter| parameter["required"] == true).collect();
        let has_words = |parameter: &&Value| !resolve(&document, &parameter["schema"])["enum"].is_null();
        let is_chosen = !required.is_empty() && required.iter().all(has_words);
        let needs_body = operation["requestBody"]["required"] == true;
        let is_safe = method == Method::GET || ADDING.contains(&name) || needs_body || !is_chosen;
        assert!(is_safe, "{method} {path}: the page chooses all that it needs");
    }
}

/// The page sends each value that it fills in.
#[test]
fn the_page_fills_in_no_optional_values_and_no_decisions() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap();
        let only_adds = method == Method::GET || ADDING.contains(&name);
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let is_optional = parameter["required"] != true;
            let schema = resolve(&document, &parameter["schema"]);
            let parts = schema["oneOf"].as_array().into_iter().flatten().map(|part| resolve(&document, part));
            for from in [parameter, schema].into_iter().chain(parts) {
                let filled = PREFILLED.iter().find(|member| !from[**member].is_null());
                let is_free = filled.is_none() || (only_adds && !is_optional);
                assert!(is_free, "{method} {path} fills in {}: {from}", parameter["name"]);
            }
        }
        let content = operation["requestBody"]["content"].as_object().into_iter().flatten();
        for (media_type, body) in content.filter(|_| !only_adds) {
            let schema = resolve(&document, &body["schema"]);
            let whole = if body["example"].is_null() { &schema["example"] } else { &body["example"] };
            let is_empty = whole.is_null() || *whole == json!({});
            assert!(is_empty && body["examples"].is_null(), "{method} {path} sends {media_type} {whole}");
            for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
                let has_example = !schema["example"].is_null() || !schema["examples"].is_null();
                assert!(!whole.is_null() || !has_example, "{method} {path} sends {member}: {schema}");
            }
            // If no member is required, the page invents an example unless an empty one exists. An empty body of
            // `put_importance` resets the value.
            let is_object = schema["properties"].is_object();
            let needs_one = is_object && schema["required"].is_null() && name != "put_importance";
            assert!(!needs_one || *whole == json!({}), "{method} {path} has no empty example: {schema}");
        }
    }
}
