//! Hostile names, paths, URIs and texts, and clients that disconnect. The service refuses with typed errors, writes
//! nothing and discloses nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use super::client::{repeated, request};
use super::entries::put;
use super::folders::refused;
use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::raw::BOTH;
use crate::service::{PATIENCE, Service};

async fn furnish(alice: &Caller) {
    alice.create_all(&["kept"]).await;
    put(alice, "kept", "references/a.md", b"alpha").await;
}

/// Asserts that the tool failed with one of these statuses, and that the answer has no text of the skill.
fn failed(answer: &Answer, statuses: &[u64]) {
    let (_, problem) = answer.failed();
    assert!(statuses.contains(&problem["status"].as_u64().unwrap()), "{answer}");
    assert!(!answer.text().contains("First this") && !answer.text().contains("alpha"), "{answer}");
}

#[tokio::test]
async fn path_traversal_is_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for path in [
        "../kept/references/a.md",
        "references/../references/a.md",
        "references/./a.md",
        "references//a.md",
        "/references/a.md",
        "/etc/passwd",
        "..",
        ".",
        "",
        "references",
        "references/",
        "references/..%2fa.md",
        "%2e%2e/%2e%2e/etc/passwd",
        "references%2Fa.md",
        "references\\a.md",
        "references/a.md\0",
        "references/a.md\n",
        "references/A.md",
        "references/a.md/",
        "SKILL.md",
        "skill://kept/references/a.md",
        "file:///etc/passwd",
        "C:\\Windows",
        "references/\u{202e}dm.a",
        &"references/".repeat(100),
        &"x".repeat(10_000),
    ] {
        failed(&alice.tool("skill_view", json!({"name": "kept", "path": path})).await, &[404, 422]);
        // `SKILL.md` is no file of the skill, but a patch may name it.
        let path = if path == "SKILL.md" { ".." } else { path };
        let edits = json!([{"old_string": "alpha", "new_string": "omega", "path": path}]);
        failed(&alice.tool("skill_patch", json!({"name": "kept", "edits": edits})).await, &[404, 422]);
    }
    assert_eq!(alice.peek("kept").await["version"], 2);
    assert_eq!(alice.read("skill://kept/references/a.md").await, b"alpha");
}

#[tokio::test]
async fn uri_traversal_is_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for uri in [
        "skill://../kept/SKILL.md",
        "skill://kept/../kept/SKILL.md",
        "skill://kept/references/../SKILL.md",
        "skill://kept/%2e%2e/kept/SKILL.md",
        "skill://kept/.%2E/kept/SKILL.md",
        "skill://kept/%252e%252e/SKILL.md",
        "skill://kept%2fSKILL.md",
        "skill://kept%2FSKILL.md",
        "skill://kept%5cSKILL.md",
        "skill://kept\\SKILL.md",
        "skill://kept/./SKILL.md",
        "skill:////kept/SKILL.md",
        "skill://kept/SKILL.md?",
        "skill://kept/SKILL.md?version=1",
        "skill://kept/SKILL.md#top",
        "skill://user@kept/SKILL.md",
        "skill://kept:80/SKILL.md",
        "skill://kept/SKILL.md%00",
        "skill://kept/SKILL.md\0",
        "skill://kept/SKILL.md%",
        "skill://kept/SKILL.m%6",
        "skill://kept/%ff%fe",
        "skill://kept/%c0%ae%c0%ae/SKILL.md",
        "skill://kept/SKILL.md%0a",
        "skill://kept/SKILL.md ",
        "skill://k\u{435}pt/SKILL.md",
        "skill://\u{ff4b}ept/SKILL.md",
        "file:///etc/passwd",
        "file://kept/SKILL.md",
        "http://127.0.0.1/v1/skills",
        "https://kept/SKILL.md",
        "data:text/plain,x",
        "javascript:alert(1)",
        "skill:kept/SKILL.md",
        "//kept/SKILL.md",
        "kept/SKILL.md",
        "skill",
        "\u{202e}skill://kept/SKILL.md",
    ] {
        for method in ["resources/read", "resources/directory/read", "skills/get"] {
            refused(alice, method, uri).await;
        }
    }
}

#[tokio::test]
async fn very_long_uris_are_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for uri in [
        format!("skill://{}/SKILL.md", "x".repeat(10_000)),
        format!("skill://{}SKILL.md", "a/".repeat(5_000)),
        format!("skill://kept/{}", "%61".repeat(4_000)),
        format!("skill://kept{}", "/..".repeat(3_000)),
        format!("skill://{}", "%2e%2e%2f".repeat(1_000)),
        "s".repeat(10_000),
    ] {
        for method in ["resources/read", "resources/directory/read", "skills/get"] {
            refused(alice, method, &uri).await;
        }
    }
}

#[tokio::test]
async fn lookalike_and_hostile_names_are_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for name in [
        "k\u{435}pt",
        "kept\u{200b}",
        "\u{202e}tpek",
        "kept\0",
        "kept/",
        "../kept",
        "kept/../kept",
        "kept%00",
        "%6bept",
        "kept' or '1'='1",
        "kept; drop table skills",
        "%",
        "_",
        "",
        &"x".repeat(201),
        &"a/".repeat(2000),
    ] {
        for (tool, arguments) in [
            ("skill_view", json!({"name": name})),
            ("skill_view", json!({"name": name, "path": "references/a.md"})),
            ("skill_history", json!({"name": name})),
            ("skill_used", json!({"name": name, "outcome": "success"})),
            ("skill_delete", json!({"name": name})),
            ("skill_delete", json!({"name": "kept", "absorbed_into": name})),
            ("skill_patch", json!({"name": name, "edits": [{"old_string": "First", "new_string": "x"}]})),
            ("skill_save", json!({"name": name, "description": "d", "content": "c"})),
        ] {
            failed(&alice.tool(tool, arguments).await, &[404, 422]);
        }
    }
    for uuid in [uuid::Uuid::now_v7().to_string(), uuid::Uuid::nil().to_string()] {
        failed(&alice.tool("skill_view", json!({"name": uuid})).await, &[404]);
        failed(&alice.tool("skill_delete", json!({"name": uuid})).await, &[404]);
    }
    assert_eq!(alice.names().await, ["kept"]);
    assert_eq!(alice.peek("kept").await["version"], 2);
}

/// No text of a skill and no query may contain NUL.
#[tokio::test]
async fn nul_is_refused_in_every_argument() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let saves =
        ["description", "content", "summary", "category", "license", "compatibility", "allowed_tools", "author"];
    for member in saves {
        let mut arguments = skill("x");
        arguments[member] = json!("a\0b");
        failed(&alice.tool("skill_save", arguments).await, &[422]);
    }
    for (member, value) in [
        ("tags", json!(["a\0b"])),
        ("triggers", json!(["a\0b"])),
        ("see_also", json!(["a\0b"])),
        ("metadata", json!({"a\0b": "v"})),
        ("metadata", json!({"k": {"deep": ["a\0b"]}})),
    ] {
        let mut arguments = skill("x");
        arguments[member] = value;
        failed(&alice.tool("skill_save", arguments).await, &[422]);
    }
    failed(&alice.tool("skill_save", json!({"skill_md": "---\nname: x\ndescription: d\n---\na\0b"})).await, &[422]);
    let edits = json!([{"old_string": "First", "new_string": "a\0b"}]);
    failed(&alice.tool("skill_patch", json!({"name": "kept", "edits": edits})).await, &[422]);
    for member in ["prefix", "category", "tag", "cursor"] {
        failed(&alice.tool("skill_list", json!({member: "a\0b"})).await, &[400, 422]);
    }
    failed(&alice.tool("skill_history", json!({"name": "kept", "cursor": "a\0b"})).await, &[400, 422]);
    assert_eq!(alice.names().await, ["kept"]);
    assert_eq!(alice.peek("kept").await["version"], 2);
}

#[tokio::test]
async fn numbers_out_of_range_are_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for number in [json!(-1), json!(i64::MAX), json!(u64::MAX), json!(1e300), json!(i64::from(i32::MAX) + 1)] {
        for (tool, arguments) in [
            ("skill_list", json!({"limit": number})),
            ("skill_history", json!({"name": "kept", "limit": number})),
            ("skill_history", json!({"name": "kept", "version": number})),
            ("skill_history", json!({"name": "kept", "from": number})),
            ("skill_history", json!({"name": "kept", "to": number})),
            ("skill_delete", json!({"name": "kept", "expected_version": number})),
            ("skill_patch", json!({"name": "kept", "edits": [], "expected_version": number})),
        ] {
            failed(&alice.tool(tool, arguments).await, &[400, 404, 409, 422]);
        }
    }
    assert_eq!(alice.names().await, ["kept"]);
}

#[tokio::test]
async fn forged_cursors_are_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let forged = |value: Value| crate::signing::encode(value.to_string());
    for cursor in [
        String::new(),
        "AAAA".into(),
        "x".repeat(5000),
        forged(json!({"name": "a\0b", "importance": 0.5, "ranked": false})),
        forged(json!({"name": 7, "importance": 0.5, "ranked": false})),
        forged(json!(-1)),
        forged(json!("x")),
        crate::signing::encode("[".repeat(700)),
        crate::signing::encode(b"\xff\xfe"),
    ] {
        failed(&alice.tool("skill_list", json!({"cursor": cursor})).await, &[400]);
    }
    for cursor in ["", "AAAA", &forged(json!("x")), &forged(json!(1.5)), &forged(json!([1]))] {
        failed(&alice.tool("skill_history", json!({"name": "kept", "cursor": cursor})).await, &[400]);
    }
}

#[tokio::test]
async fn headers_that_are_not_utf8_are_refused() {
    let world = World::new().await;
    let message = request("tools/call", json!({"name": "skill_save", "arguments": skill("x")}));
    let bearer = format!("Authorization: Bearer {}", world.alice.token.as_deref().unwrap());
    let fixed = [bearer, format!("Accept: {BOTH}"), "Content-Type: application/json".into()];
    for odd in [
        &b"Knowhow-Session: \xff"[..],
        b"Idempotency-Key: \xff\xfe",
        b"Mcp-Name: \xff",
        b"Mcp-Method: \xff",
        b"MCP-Protocol-Version: \xff",
    ] {
        let name = odd.split(|b| *b == b':').next().unwrap();
        let own: Vec<String> = repeated(&message)
            .iter()
            .filter(|(header, _)| header.as_bytes() != name)
            .map(|(header, value)| format!("{header}: {value}"))
            .collect();
        let all: Vec<&[u8]> = fixed.iter().chain(&own).map(String::as_bytes).chain([odd]).collect();
        let address = &crate::service::shared().address;
        let answer = crate::raw::request(address, "POST /mcp", &all, message.to_string().as_bytes());
        assert_eq!(answer.status, 400, "{answer:?}");
        let body: Value = serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"));
        assert!(body["jsonrpc"] == "2.0" && body["error"]["code"].is_i64(), "{answer:?}");
    }
    assert!(world.alice.names().await.is_empty());
}

/// Many bad messages on one connection do not affect the connection or the service.
#[tokio::test]
async fn bad_messages_do_not_close_the_connection() {
    let World { alice, .. } = &World::new().await;
    for _ in 0..20 {
        alice.bytes(b"{").await.error(400, -32700);
        alice.rpc("no/such/method", json!({})).await.error(404, -32601);
        alice.tool("skill_view", json!({"name": "none"})).await.failed();
    }
    alice.does("skill_list", json!({})).await;
}

fn whole(caller: &Caller, name: &str) -> Vec<u8> {
    let mut body = skill(name);
    body["content"] = json!("line\n".repeat(2000));
    let message = request("tools/call", json!({"name": "skill_save", "arguments": body}));
    let text = message.to_string();
    let mut head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: {BOTH}\r\n");
    head.push_str(&format!("Authorization: Bearer {}\r\n", caller.token.as_deref().unwrap()));
    for (name, value) in repeated(&message) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", text.len()));
    [head.into_bytes(), text.into_bytes()].concat()
}

/// Clients disconnect in the middle of a request or before its answer.
#[tokio::test]
async fn a_disconnected_client_leaves_a_skill_complete_or_absent() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WORKERS", "1"), ("KNOWHOW_WRITE_CONNECTIONS", "2")]);
    let alice = world.alice.at(&service);
    alice.create_all(&["before"]).await;
    for round in 0..40 {
        let request = whole(&world.alice, &format!("s{round:02}"));
        let most = if round % 4 == 0 { request.len() / 2 } else { request.len() };
        let mut stream = TcpStream::connect(&service.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&request[..most]).unwrap();
        if round % 4 == 1 {
            let _ = stream.shutdown(Shutdown::Write);
        }
        if round % 4 == 3 {
            let _ = stream.read(&mut [0; 1]);
        }
        drop(stream);
    }
    for round in 0..8 {
        alice.does("skill_save", skill(&format!("after{round}"))).await;
    }
    let names = alice.names().await;
    assert!(names.contains(&"s03".to_owned()), "a caller who waited for an answer was served");
    for name in names.iter().filter(|name| name.starts_with('s')) {
        let kept = alice.peek(name).await;
        assert_eq!((&kept["version"], &kept["content"]), (&json!(1), &json!("line\n".repeat(2000))), "{name}");
        assert!(!(0..40).step_by(4).any(|half| *name == format!("s{half:02}")), "{name} came in half");
    }
}
