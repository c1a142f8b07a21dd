//! Malicious input: every answer is a typed refusal, and nothing is written.

use std::fmt::Write;

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::raw::{self, RawAnswer};
use crate::service::{Service, shared};
use crate::signing::encode;

/// Returns every endpoint that reads JSON.
fn json_endpoints(tenant: &str) -> Vec<(Method, String)> {
    let admin = |rest: &str| (Method::POST, format!("/v1/admin/{rest}"));
    vec![
        (Method::POST, "/v1/skills".to_owned()),
        (Method::PATCH, "/v1/skills/kept".to_owned()),
        (Method::PUT, "/v1/skills/kept/fields".to_owned()),
        (Method::DELETE, "/v1/skills/kept".to_owned()),
        (Method::POST, "/v1/skills/kept/rollback".to_owned()),
        (Method::POST, "/v1/skills/used".to_owned()),
        (Method::POST, "/v1/skills/match".to_owned()),
        (Method::POST, "/v1/sessions".to_owned()),
        (Method::POST, format!("/v1/sessions/{}/turns", uuid::Uuid::nil())),
        (Method::POST, format!("/v1/sessions/{}/reply", uuid::Uuid::nil())),
        (Method::POST, format!("/v1/sessions/{}/taint", uuid::Uuid::nil())),
        (Method::POST, format!("/v1/sessions/{}/feedback", uuid::Uuid::nil())),
        (Method::POST, "/v1/memories".to_owned()),
        (Method::PUT, "/v1/soul".to_owned()),
        admin("users"),
        admin("issuers"),
        admin("keys"),
        admin(&format!("archive/{}/restore", uuid::Uuid::now_v7())),
        admin("tenants"),
        (Method::PATCH, format!("/v1/admin/tenants/{tenant}")),
    ]
}

fn who<'a>(world: &'a World, path: &str) -> &'a Caller {
    match path {
        _ if path.starts_with("/v1/admin/tenants") => &world.operator,
        _ if path.starts_with("/v1/admin") => &world.admin,
        _ => &world.alice,
    }
}

#[tokio::test]
async fn bodies_that_are_not_json_objects_are_refused_everywhere() {
    let world = World::new().await;
    world.alice.create_all(&["kept"]).await;
    let bodies: Vec<Vec<u8>> = vec![
        b"{".to_vec(),
        b"{\"name\":".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"[\"a\", \"b\"]".to_vec(),
        b"7".to_vec(),
        b"\"x\"".to_vec(),
        b"{} {}".to_vec(),
        b"{\"name\": \"\xff\xfe\"}".to_vec(),
        b"{\"name\": \"\\ud800\"}".to_vec(),
        b"{\"name\": \"\\udc00\\ud800\"}".to_vec(),
        b"{\"no-such-member\": 1}".to_vec(),
        b"{\"name\": \"a\x01b\"}".to_vec(),
        b"{\"name\": 1e999}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
        b"{\"a\":".repeat(100_000),
        b"[".repeat(100_000),
        [b"{\"metadata\":".to_vec(), b"[".repeat(100_000)].concat(),
        b"\0".to_vec(),
    ];
    for (method, path) in json_endpoints(&world.slug) {
        for body in &bodies {
            let sending = who(&world, &path).send(method.clone(), &path);
            let answer = sending.body("application/json", body.clone()).await;
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            assert!([400, 422].contains(&answer.status), "{shown}: {answer}");
            answer.refused(answer.status, if answer.status == 400 { "malformed" } else { "invalid" });
        }
        for media_type in
            ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data"]
        {
            let sending = who(&world, &path).send(method.clone(), &path);
            sending.body(media_type, "{}").await.refused(415, "unsupported-media-type");
        }
    }
    assert_eq!(world.alice.names().await, ["kept"]);
    assert_eq!(world.alice.peek("kept").await["version"], 1);
}

#[tokio::test]
async fn duplicate_members_are_refused() {
    let World { alice, .. } = &World::new().await;
    let body = r#"{"name": "a", "name": "b", "description": "d", "content": "c"}"#;
    alice.send(Method::POST, "/v1/skills").body("application/json", body).await.refused(422, "invalid");
    assert!(alice.names().await.is_empty());
}

/// No text of a skill may contain NUL, in any member or form.
#[tokio::test]
async fn nul_is_refused_in_every_text() {
    let World { alice, .. } = &World::new().await;
    let texts =
        ["description", "content", "summary", "category", "license", "compatibility", "allowed_tools", "author"];
    for member in texts {
        let mut body = skill("x");
        body[member] = json!("a\0b");
        alice.post("/v1/skills", body).await.refused(422, "invalid");
    }
    for (member, value) in [
        ("tags", json!(["a\0b"])),
        ("triggers", json!(["a\0b"])),
        ("see_also", json!(["a\0b"])),
        ("metadata", json!({"a\0b": "v"})),
        ("metadata", json!({"k": "a\0b"})),
        ("metadata", json!({"k": {"deep": ["a\0b"]}})),
    ] {
        let mut body = skill("x");
        body[member] = value;
        alice.post("/v1/skills", body).await.refused(422, "invalid");
    }
    for skill_md in [
        "---\nname: x\ndescription: \"a\\0b\"\n---\nbody\n",
        "---\nname: x\ndescription: \"a\\x00b\"\n---\nbody\n",
        "---\nname: x\ndescription: d\nmetadata: {k: \"\\u0000\"}\n---\nbody\n",
        "---\nname: x\ndescription: d\ntags: [\"\\0\"]\n---\nbody\n",
        "---\nname: \"x\\0\"\ndescription: d\n---\nbody\n",
    ] {
        let answer = alice.post("/v1/skills", json!({"skill_md": skill_md})).await;
        assert!(answer.status == 422, "{skill_md:?}: {answer}");
    }
    assert!(alice.names().await.is_empty());
}

/// YAML that expands or nests without limit is refused at low cost.
#[tokio::test]
async fn yaml_bombs_are_refused() {
    let World { alice, .. } = &World::new().await;
    let mut laughs = "a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for (before, after) in ('a'..='y').zip('b'..='z') {
        let aliases = vec![format!("*{before}"); 9].join(", ");
        writeln!(laughs, "{after}: &{after} [{aliases}]").unwrap();
    }
    let mut indented = String::new();
    for depth in 0..400 {
        writeln!(indented, "{}k{depth}:", " ".repeat(depth)).unwrap();
    }
    let anchors: String = (0..3000).map(|n| format!("k{n}: &a{n} x\n")).collect();
    let bombs = [
        laughs,
        format!("deep: {}\n", "[".repeat(20_000)),
        format!("deep: {}{}\n", "[".repeat(20_000), "]".repeat(20_000)),
        format!("deep: {}\n", "{a: ".repeat(10_000)),
        indented,
        "x: &x [*x]\n".to_owned(),
        "a: &a b\na: &a c\n".to_owned(),
        "<<: *nothing\n".to_owned(),
        format!("long: {}\n", "x".repeat(70_000)),
        "- - - - -\n".repeat(2000),
    ];
    for (number, bomb) in bombs.iter().enumerate() {
        let skill_md = format!("---\nname: x\ndescription: d\n{bomb}---\nbody\n");
        let answer = alice.post("/v1/skills", json!({"skill_md": skill_md})).await;
        assert!([413, 422].contains(&answer.status), "bomb {number}: {answer}");
    }
    assert!(alice.names().await.is_empty());
    for (name, harmless) in [("many", anchors.as_str()), ("tagged", "t: !!python/object/apply:os.system [ls]\n")] {
        let skill_md = format!("---\nname: {name}\ndescription: d\n{harmless}---\nbody\n");
        let answer = alice.post("/v1/skills", json!({"skill_md": skill_md})).await;
        assert!([201, 413, 422].contains(&answer.status), "{name}: {answer}");
    }
}

#[tokio::test]
async fn names_that_look_alike_are_refused() {
    let World { alice, .. } = &World::new().await;
    for name in [
        "pl\u{430}n",
        "plan\u{200b}",
        "\u{202e}nalp",
        "plan\u{ad}",
        "PL\u{410}N",
        "plan\n",
        "plan\r",
        "\tplan",
        "plan ",
        "%70lan",
        "plan\u{feff}",
        "plan.",
        "plan\\x",
        "CON:",
        "a:b",
    ] {
        let body = json!({"name": name, "description": "d", "content": "c"});
        alice.post("/v1/skills", body).await.invalid("/name", "");
        let skill_md = format!("---\nname: {}\ndescription: d\n---\nx\n", json!(name));
        let answer = alice.post("/v1/skills", json!({"skill_md": skill_md})).await;
        if answer.status == 201 {
            assert_eq!(answer.json()["name"], name.trim(), "blanks alone are forgiven");
            alice.delete(&format!("/v1/skills/{}", name.trim())).await.empty(204);
        }
    }
    assert!(alice.names().await.is_empty());
    // Variants of Latin letters are converted, so they are other spellings of the same name and never a second skill.
    for name in ["\u{ff50}lan", "pla\u{301}n", "\u{1d429}lan"] {
        let saved = alice.post("/v1/skills", json!({"name": name, "description": "d", "content": "c"})).await.json();
        assert_eq!(saved["name"], "plan", "{name}");
        assert_eq!(alice.names().await, ["plan"]);
    }
}

fn as_alice(world: &World) -> Vec<u8> {
    format!("Authorization: Bearer {}", world.alice.token.as_deref().unwrap()).into_bytes()
}

fn send(world: &World, line: &str, headers: &[&[u8]], body: &[u8]) -> RawAnswer {
    let bearer = as_alice(world);
    let all: Vec<&[u8]> = std::iter::once(bearer.as_slice()).chain(headers.iter().copied()).collect();
    raw::request(&shared().address, line, &all, body)
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_with_and_without_a_length() {
    let world = World::new().await;
    world.alice.create_all(&["kept"]).await;
    let json: &[u8] = b"Content-Type: application/json";
    let chunks: &[u8] = b"Transfer-Encoding: chunked";
    let over = format!("{{\"name\": \"x\", \"content\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    send(&world, "POST /v1/skills", &[json], over.as_bytes()).refused(413, "too-large");
    send(&world, "POST /v1/skills", &[json, chunks], &raw::chunked(over.as_bytes())).refused(413, "too-large");
    send(&world, "POST /v1/skills", &[json, b"Content-Length: 999999999999"], b"{}").refused(413, "too-large");
    let raw_line = "PUT /v1/skills/kept/resources/assets/x";
    let over = vec![b'x'; 8 * 1024 * 1024 + 1];
    send(&world, raw_line, &[], &over).refused(413, "too-large");
    send(&world, raw_line, &[chunks], &raw::chunked(&over)).refused(413, "too-large");
    assert_eq!(send(&world, raw_line, &[chunks], &raw::chunked(&over[..8 * 1024 * 1024])).status, 200);
    assert_eq!(world.alice.names().await, ["kept"]);
    assert_eq!(world.alice.peek("kept").await["version"], 2);
}

#[tokio::test]
async fn broken_requests_change_nothing() {
    let world = World::new().await;
    let json: &[u8] = b"Content-Type: application/json";
    let whole = skill("broken").to_string();
    let bearer = String::from_utf8(as_alice(&world)).unwrap();
    let head = format!("POST /v1/skills HTTP/1.1\r\nHost: x\r\n{bearer}\r\nContent-Type: application/json\r\n");
    for request in [
        format!("{head}Content-Length: {}\r\n\r\n{whole}", whole.len() + 10),
        format!("{head}Content-Length: {}\r\n\r\n{}", whole.len(), &whole[..20]),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{whole}\r\n", whole.len()),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{whole}\r\n0\r\n\r\n"),
        format!("{head}Content-Length: -1\r\n\r\n{whole}"),
        format!("{head}Content-Length: 5\r\nContent-Length: {}\r\n\r\n{whole}", whole.len()),
        format!("{head}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n{whole}", whole.len()),
        "\0\x01\x02\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        format!("GET /v1/skills HTTP/1.1\r\n{}: x\r\n\r\n", "h".repeat(200_000)),
    ] {
        let answer = raw::exchange(&shared().address, request.as_bytes());
        assert!(answer.as_ref().is_none_or(|answer| (400..500).contains(&answer.status)), "{answer:?}");
    }
    for header in [&b"Knowhow-Session: \xff"[..], b"Idempotency-Key: \xff\xfe", b"Knowhow-Session: a\xc3\xa9"] {
        send(&world, "POST /v1/skills", &[json, header], whole.as_bytes()).refused(400, "malformed");
    }
    send(&world, "POST /v1/skills", &[json, b"If-Match: \xff"], whole.as_bytes()).refused(400, "malformed");
    assert!(world.alice.names().await.is_empty());
    assert_eq!(send(&world, "GET /v1/skills", &[b"traceparent: \xff", b"If-None-Match: \xff, \"x"], b"").status, 200);
}

#[tokio::test]
async fn paths_are_not_normalized() {
    let world = World::new().await;
    world.alice.create_all(&["kept"]).await;
    for path in [
        "/v1/skills/../skills/kept",
        "/v1/skills/%2e%2e/kept",
        "/v1//skills/kept",
        "//v1/skills/kept",
        "/v1/skills/kept%00",
        "/v1/skills/kept%2f",
        "/v1/skills/kept/SKILL.md%00",
        "/v1/skills/kept/..",
        "/v1/skills/%c3%28",
        "/v1/skills/kept/resources/../../kept",
        "/v1/skills/kept/resources/references/..%2f..%2fSKILL.md",
        "/v1/skills/kept/resources/%2e%2e/%2e%2e/etc/passwd",
        "/docs/../../etc/passwd",
        "/docs/%2e%2e/Cargo.toml",
        "/v1/skills/k%65pt/resources/x/%zz",
        "/v1/skills/%",
    ] {
        let answer = send(&world, &format!("GET {path}"), &[], b"");
        assert!([400, 404, 422].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.body.contains("First this"), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn forged_cursors_are_refused() {
    let world = World::new().await;
    let forged = |value: Value| encode(value.to_string());
    let cursors = [
        "AAAA".to_owned(),
        "%00".to_owned(),
        "x".repeat(5000),
        forged(json!({"name": "a\0b"})),
        forged(json!({"name": "a\0b", "score": 0.5})),
        forged(json!({"name": 7, "score": 0.5})),
        forged(json!([])),
        encode(r#"{"name": "a", "score": 1e999}"#),
        encode(r#"{"name": "a", "score": 0.5, "x": 1}"#),
        encode("[".repeat(700)),
        encode(b"\xff\xfe"),
        encode("1e400"),
    ];
    let lists = ["/v1/skills?", "/v1/skills?ranked=true&", "/v1/admin/keys?", "/v1/admin/audit?", "/v1/admin/archive?"];
    for list in lists {
        for cursor in &cursors {
            who(&world, list).get(&format!("{list}cursor={cursor}")).await.refused(400, "malformed");
        }
    }
    for list in ["/v1/admin/users?", "/v1/admin/issuers?", "/v1/admin/tenants?"] {
        for cursor in &cursors[..cursors.len() - 1] {
            who(&world, list).get(&format!("{list}cursor={cursor}")).await.refused(400, "malformed");
        }
        let nul = forged(json!("a\0b"));
        who(&world, list).get(&format!("{list}cursor={nul}")).await.refused(400, "malformed");
    }
    let far = encode(r#"{"name": "a", "score": 1e308}"#);
    let answer = world.alice.get(&format!("/v1/skills?ranked=true&cursor={far}")).await;
    assert!([200, 400].contains(&answer.status), "{answer}");
}

#[tokio::test]
async fn malformed_forms_are_refused() {
    let world = World::new().await;
    let import = |media_type: &str, body: &[u8]| {
        let sending = world.alice.send(Method::POST, "/v1/skills/import");
        sending.body(media_type, body.to_vec())
    };
    let whole = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nbody\r\n--x--\r\n";
    for media_type in ["application/json", "text/plain", "multipart/form-data", "x"] {
        let answer = import(media_type, whole).await;
        assert!([400, 415].contains(&answer.status), "{media_type}: {answer}");
    }
    let form = "multipart/form-data; boundary=x";
    for body in [
        &b""[..],
        b"garbage",
        b"--y\r\n\r\n--y--",
        &whole[..30],
        &whole[..whole.len() - 8],
        b"--x\r\nContent-Disposition: form-data\r\n\r\nbody\r\n--x--\r\n",
        b"--x\r\nno header at all\r\n\r\nbody\r\n--x--\r\n",
        b"--x\r\nContent-Disposition: attachment; filename=\"a\"\r\n\r\nbody\r\n--x--\r\n",
        b"--x\r\nContent-Disposition: \xff\r\n\r\nbody\r\n--x--\r\n",
        b"--x--\r\n",
    ] {
        let answer = import(form, body).await;
        assert!([400, 422].contains(&answer.status), "{}: {answer}", String::from_utf8_lossy(body));
    }
    let answer = import(form, whole).await;
    assert_eq!(answer.ok(200)["failed"], 1);
    assert!(world.alice.names().await.is_empty());
}

/// A client that sends half a body and then stops gets an answer after the timeout.
#[tokio::test]
async fn a_body_that_never_ends_times_out() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_BODY_TIMEOUT_MS", "200"), ("KNOWHOW_WORKERS", "1")]);
    let bearer = String::from_utf8(as_alice(&world)).unwrap();
    let head = "Content-Type: application/json\r\nContent-Length: 500\r\nConnection: close";
    let request = format!("POST /v1/skills HTTP/1.1\r\nHost: x\r\n{bearer}\r\n{head}\r\n\r\n{{\"name\":");
    let mut stream = std::net::TcpStream::connect(&service.address).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    stream.set_read_timeout(Some(crate::service::PATIENCE)).unwrap();
    let mut answer = [0; 4096];
    let length = std::io::Read::read(&mut stream, &mut answer).unwrap();
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(text.starts_with("HTTP/1.1 400 ") || text.starts_with("HTTP/1.1 408 "), "{text}");
    world.alice.at(&service).get("/v1/skills").await.ok(200);
}
