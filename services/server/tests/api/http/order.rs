//! The order of checks for every documented operation: first the credential, then its rights, then the rest of the
//! request.

use std::thread;

use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, World};
use crate::http::documented::{document, filled, operations};
use crate::http::stranger_walk::take_missing;
use crate::raw;
use crate::service::shared;

const SCOPES: [&str; 6] = ["skills:read", "skills:write", "sessions", "memories", "review", "admin"];

/// An operation that needs a credential.
struct Operation {
    method: String,
    path: String,
    parameters: Vec<String>,
    needs: Vec<String>,
}

impl Operation {
    fn takes(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|known| known == parameter)
    }
}

/// Returns the scopes and roles that the document lists for an operation; `None` for a public one.
fn needs(operation: &Value) -> Option<Vec<String>> {
    let ways = operation["security"].as_array().unwrap();
    let bearer = ways[0]["bearer"].as_array()?;
    assert!(!bearer.is_empty(), "{} names no scope", operation["operationId"]);
    assert!(ways.iter().all(|way| way["bearer"] == ways[0]["bearer"]), "{ways:?}");
    Some(bearer.iter().map(|name| name.as_str().unwrap().to_owned()).collect())
}

fn guarded() -> Vec<Operation> {
    let document = document();
    let all = operations(&document).into_iter().filter_map(|(method, path, operation)| {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let query = parameters.filter(|p| p["in"] == "query").map(|p| p["name"].as_str().unwrap().to_owned());
        Some(Operation { method: method.to_string(), path, parameters: query.collect(), needs: needs(&operation)? })
    });
    all.collect()
}

/// An error in a request, apart from its credential.
#[derive(Default)]
struct Fault {
    name: &'static str,
    /// Path to send instead of the operation's own path.
    path: Option<String>,
    query: String,
    headers: Vec<Vec<u8>>,
    body: &'static [u8],
}

fn headers(lines: &[&[u8]]) -> Vec<Vec<u8>> {
    lines.iter().map(|line| line.to_vec()).collect()
}

fn bad_path(path: &str) -> Option<String> {
    let bad = |segment: &str| if segment.starts_with('{') { "%FF%00%2F..;~".to_owned() } else { segment.to_owned() };
    path.contains('{').then(|| path.split('/').map(bad).collect::<Vec<_>>().join("/"))
}

const BAD_HEADERS: [&[u8]; 8] = [
    b"Idempotency-Key: one",
    b"Idempotency-Key: two",
    b"Knowhow-Session: \xff\xfe",
    b"If-Match: nonsense",
    b"If-None-Match: \xff",
    b"Knowhow-Reason: x",
    b"Accept: \xff",
    b"Content-Encoding: gzip",
];

fn faults(operation: &Operation) -> Vec<Fault> {
    let body =
        |name, media_type: &[u8], body| Fault { name, headers: headers(&[media_type]), body, ..Fault::default() };
    let json: &[u8] = b"Content-Type: application/json";
    let malformed = operation.parameters.iter().filter(|name| !matches!(name.as_str(), "tenant" | "user"));
    let malformed: String = malformed.map(|name| format!("{name}=%FF&{name}=many&")).collect();
    let huge = headers(&[json, b"Content-Length: 3000000000"]);
    let mut all = vec![
        Fault { name: "nothing", ..Fault::default() },
        Fault { name: "an unknown parameter", query: "nonsense=1".into(), ..Fault::default() },
        Fault { name: "malformed parameters", query: malformed.clone(), ..Fault::default() },
        Fault { name: "a query that is not UTF-8", query: "%C3=%28".into(), ..Fault::default() },
        body("broken JSON", json, b"{\"reason\": "),
        body("a list", json, b"[1, 2]"),
        body("another media type", b"Content-Type: text/csv", b"a,b"),
        body("no media type", b"X-None: 1", b"{}"),
        body("a broken form", b"Content-Type: multipart/form-data", b"--"),
        Fault { name: "a huge body", headers: huge, ..Fault::default() },
        Fault { name: "odd headers", headers: headers(&BAD_HEADERS), ..Fault::default() },
        Fault { name: "two users", headers: headers(&[b"Knowhow-User: a", b"Knowhow-User: b"]), ..Fault::default() },
        Fault { name: "an odd user", headers: headers(&[b"Knowhow-User: \xff"]), ..Fault::default() },
    ];
    let path = bad_path(&operation.path);
    all.extend(path.is_some().then(|| Fault { name: "a bad path", path: path.clone(), ..Fault::default() }));
    let mut lines = headers(&BAD_HEADERS);
    lines.extend(headers(&[b"Content-Type: text/csv", b"Knowhow-User: \xff"]));
    let query = format!("{malformed}nonsense=1");
    all.push(Fault { name: "everything", path, query, headers: lines, body: b"{" });
    all
}

/// A caller, the query that it needs, and the expected refusal of each of its requests.
struct Refused {
    name: String,
    authorization: Option<String>,
    query: String,
    status: u16,
    kind: &'static str,
    /// Whether each error is tried separately. If false, only the request without errors and the one with all errors
    /// are sent.
    is_tried_whole: bool,
}

impl Refused {
    fn whole(self) -> Self {
        Self { is_tried_whole: true, ..self }
    }

    fn faults(&self, operation: &Operation) -> Vec<Fault> {
        let mut all = faults(operation);
        all.retain(|fault| self.is_tried_whole || ["nothing", "everything"].contains(&fault.name));
        all
    }
}

fn refused(name: impl Into<String>, caller: &Caller, status: u16) -> Refused {
    let authorization = caller.token.as_ref().map(|token| format!("Authorization: Bearer {token}"));
    let kind = match status {
        401 => "unauthenticated",
        403 => "forbidden",
        _ => "not-found",
    };
    Refused { name: name.into(), authorization, query: String::new(), status, kind, is_tried_whole: false }
}

/// Returns all scopes but one.
fn all_but(scope: &str) -> String {
    SCOPES.into_iter().filter(|other| *other != scope).collect::<Vec<_>>().join(" ")
}

struct Callers {
    world: World,
    elsewhere: World,
    /// For each scope an API key with all other scopes.
    keys: Vec<(&'static str, Caller)>,
}

impl Callers {
    async fn new() -> Self {
        let (world, elsewhere) = (World::new().await, World::new().await);
        let mut keys = Vec::new();
        for scope in SCOPES {
            let scopes: Vec<&str> = SCOPES.into_iter().filter(|other| *other != scope).collect();
            let key = world.admin.post("/v1/admin/keys", json!({"name": scope, "scopes": scopes})).await.ok(201);
            keys.push((scope, world.anonymous.with_token(key["secret"].as_str().unwrap())));
        }
        Self { world, elsewhere, keys }
    }

    /// Returns all callers that may not call the operation.
    fn refused(&self, operation: &Operation) -> Vec<Refused> {
        let Self { world, elsewhere, keys } = self;
        let mut all = vec![
            refused("no credential", &world.anonymous, 401).whole(),
            refused("an expired token", &world.expired(), 401),
            refused("a malformed key", &world.anonymous.with_token("kh_nonsense"), 401),
        ];
        for need in &operation.needs {
            let lacking = match need.as_str() {
                "operator" => {
                    all.push(refused("an admin", &world.admin, 403));
                    continue;
                }
                "reviewer" => "admin",
                scope => scope,
            };
            all.push(refused(format!("no {lacking}"), &world.scoped("alice", &all_but(lacking)), 403).whole());
            let key = keys.iter().find(|(scope, _)| *scope == lacking).unwrap();
            all.push(refused(format!("a key without {lacking}"), &key.1, 403));
        }
        if operation.takes("tenant") {
            all.push(refused("a user", &world.alice, 403));
            let theirs = refused("another tenant's admin", &elsewhere.admin, 404).whole();
            all.push(Refused { query: format!("tenant={}", world.slug), ..theirs });
            let theirs = refused("another tenant's admin, twice", &elsewhere.admin, 404);
            all.push(Refused { query: format!("tenant={}&tenant={}", elsewhere.slug, world.slug), ..theirs });
        }
        all
    }
}

fn check(address: &str, operation: &Operation, caller: &Refused, fault: &Fault) {
    let path = fault.path.clone().unwrap_or_else(|| filled(&operation.path));
    let line = format!("{} {path}?{}&{}", operation.method, caller.query, fault.query);
    let mut lines: Vec<&[u8]> = fault.headers.iter().map(Vec::as_slice).collect();
    lines.extend(caller.authorization.as_ref().map(String::as_bytes));
    let answer = raw::request(address, &line, &lines, fault.body);
    assert_eq!(answer.status, caller.status, "{} with {}: {line}: {answer:?}", caller.name, fault.name);
    answer.refused(caller.status, caller.kind);
}

#[tokio::test]
async fn a_caller_without_the_right_is_refused_whatever_other_errors() {
    let callers = Callers::new().await;
    let (all, address) = (guarded(), &shared().address);
    assert!(all.len() > 120, "{}", all.len());
    thread::scope(|threads| {
        for part in all.chunks(all.len().div_ceil(2)) {
            let callers = &callers;
            threads.spawn(move || {
                for operation in part {
                    for caller in callers.refused(operation) {
                        for fault in caller.faults(operation) {
                            check(address, operation, &caller, &fault);
                        }
                    }
                }
            });
        }
    });
}

/// No operation requires a scope that the document does not list.
#[tokio::test]
async fn the_documented_scopes_are_sufficient() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let mut refused = Vec::new();
    for (_, _, operation) in operations(&document()) {
        let Some(needs) = needs(&operation) else { continue };
        let scopes: Vec<&str> = needs.iter().map(String::as_str).filter(|need| SCOPES.contains(need)).collect();
        let caller = match scopes.as_slice() {
            ["admin"] if needs.contains(&"operator".to_owned()) => world.operator.clone(),
            ["review"] => world.scoped("alice", "review sessions"),
            scopes => world.scoped("alice", &scopes.join(" ")),
        };
        let name = operation["operationId"].as_str().unwrap();
        let answer: Answer = take_missing(&caller, name).await;
        if [401, 403].contains(&answer.status) {
            refused.push(format!("{name} with {scopes:?}: {answer}"));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

#[tokio::test]
async fn only_admins_who_review_may_name_another_user() {
    let world = World::new().await;
    let address = &shared().address;
    for operation in guarded().iter().filter(|o| o.takes("user") && !o.needs.contains(&"admin".to_owned())) {
        for scopes in [all_but("admin"), all_but("review")] {
            let mut caller = refused(scopes.clone(), &world.scoped("alice", &scopes), 403);
            caller.query = "user=bob".into();
            for fault in faults(operation) {
                check(address, operation, &caller, &fault);
            }
        }
    }
}

/// The router decodes percent-encoding in paths.
#[tokio::test]
async fn other_spellings_of_a_path_get_the_same_checks() {
    let World { anonymous, alice, read_only, admin, operator, .. } = &World::new().await;
    for (path, status) in [
        ("/v1/%73kills?nonsense=1", 400),
        ("/%761/skills?nonsense=1", 400),
        ("/v1/skills/some?nonsense=%31", 400),
        ("/v1/s%6Bills/export?nonsense=1", 400),
        ("/v1/skills/some/%76ersions?nonsense=1", 400),
        ("/v1/skills/some/resources/?nonsense=1", 400),
        ("/v1/skills/some/resources//a?nonsense=1", 400),
        ("/v1/%61dmin/users?nonsense=1", 403),
        ("/v1/adm%69n/tenants?nonsense=1", 403),
    ] {
        anonymous.get(path).await.refused(401, "unauthenticated");
        let answer = alice.get(path).await;
        assert_eq!(answer.status, status, "{answer}");
    }
    read_only.get("/v1/%73essions?nonsense=1").await.refused(403, "forbidden");
    admin.get("/v1/%61dmin/tenants?nonsense=1").await.refused(403, "forbidden");
    operator.get("/v1/%61dmin/tenants?nonsense=1").await.refused(400, "malformed");
    operator.get("/v1/%61dmin/tenants").await.ok(200);
    for path in ["/v1//skills", "/v1/skills/", "/V1/skills", "/v1/skills%2F", "/v1%2Fskills"] {
        let answer = alice.get(path).await;
        assert!([400, 404, 405].contains(&answer.status), "{answer}");
    }
}

/// The client gets the answer although the service does not read the body.
#[tokio::test]
async fn a_refused_body_is_not_read_and_its_answer_arrives() {
    let World { anonymous, read_only, alice, .. } = &World::new().await;
    let megabytes = vec![b'x'; 8 * 1024 * 1024];
    for (path, media_type) in [("/v1/skills", "application/json"), ("/v1/skills/import", "text/csv")] {
        for (caller, status) in [(anonymous, 401), (read_only, 403)] {
            let sent = caller.send(reqwest::Method::POST, path).body(media_type, megabytes.clone()).await;
            assert_eq!(sent.status, status, "{sent}");
            let chunks = megabytes.chunks(64 * 1024).map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec()));
            let chunks = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks.collect::<Vec<_>>()));
            let sent = caller.send(reqwest::Method::POST, path).body(media_type, chunks).await;
            assert_eq!(sent.status, status, "{sent}");
        }
    }
    alice.get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn mcp_checks_the_credential_first_and_the_scope_before_arguments() {
    let World { anonymous, read_only, .. } = &World::new().await;
    let address = &shared().address;
    let mcp = Operation { method: "POST".into(), path: "/mcp".into(), parameters: Vec::new(), needs: Vec::new() };
    for token in ["Bearer kh_nonsense", "Bearer a.b.c", "Basic YTpi", ""] {
        let authorization = format!("Authorization: {token}");
        for fault in faults(&mcp) {
            let mut lines: Vec<&[u8]> = fault.headers.iter().map(Vec::as_slice).collect();
            lines.extend((!token.is_empty()).then_some(authorization.as_bytes()));
            let answer = raw::request(address, &format!("POST /mcp?{}", fault.query), &lines, fault.body);
            assert_eq!(answer.status, 401, "{token} with {}: {answer:?}", fault.name);
            assert!(answer.head.to_lowercase().contains("www-authenticate: bearer"), "{answer:?}");
        }
    }
    anonymous.post("/mcp", json!([])).await.error(401, -32000);
    for arguments in [json!({"nonsense": 1}), json!({"name": 7}), json!({})] {
        read_only.tool("skill_save", arguments).await.error(403, -32000);
    }
}
