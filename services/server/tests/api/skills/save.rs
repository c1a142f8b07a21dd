//! Saving: create, update, unchanged, names, all spellings of SKILL.md, limits.

use serde_json::{Value, json};

use crate::answers::members;
use crate::callers::{World, skill};

const SKILL: [&str; 31] = [
    "allowed_tools",
    "author",
    "category",
    "compatibility",
    "content",
    "created_at",
    "decay_rate",
    "description",
    "digest",
    "enriched",
    "frontmatter",
    "id",
    "importance",
    "last_used_at",
    "license",
    "metadata",
    "name",
    "pinned",
    "resources",
    "role",
    "see_also",
    "similar",
    "source",
    "summary",
    "summary_by",
    "tags",
    "tainted",
    "times_used",
    "triggers",
    "unchanged",
    "updated_at",
];

#[tokio::test]
async fn a_new_skill_is_returned_whole() {
    let world = World::new().await;
    let body = json!({
        "name": "office/plan-meeting", "description": "Plans meetings.", "content": "# Plan\n", "summary": "plans",
        "category": "office", "tags": ["calendar"], "triggers": ["meet us"], "see_also": ["mcp/email"],
        "role": "utility", "license": "MIT", "compatibility": "any", "allowed_tools": "Bash", "author": "A. Lice",
        "metadata": {"cost": "low"},
    });
    let answer = world.alice.post("/v1/skills", body.clone()).await;
    let saved = answer.ok(201);
    assert_eq!(answer.header("etag"), "\"1\"");
    let mut expected = SKILL.to_vec();
    expected.push("version");
    assert_eq!(members(&saved), expected);
    for member in body.as_object().unwrap().keys().filter(|key| *key != "metadata") {
        assert_eq!(saved[member], body[member], "{member}");
    }
    assert_eq!(saved["metadata"]["cost"], "low");
    assert_eq!((&saved["version"], &saved["times_used"]), (&json!(1), &json!(0)));
    assert_eq!((&saved["unchanged"], &saved["similar"]), (&json!(false), &json!([])));
    assert_eq!((&saved["source"], &saved["pinned"], &saved["resources"]), (&json!("user"), &json!(false), &json!([])));
    assert!(saved["frontmatter"].as_str().unwrap().starts_with("name: plan-meeting\n"));
    assert_eq!(world.alice.peek("office/plan-meeting").await["id"], saved["id"]);
}

/// Acceptance case 1: saves and patches make versions, a failed patch makes none, and loads count as uses.
#[tokio::test]
async fn versions_count_changes_and_loads_count_uses() {
    let World { alice, .. } = &World::new().await;
    let first = alice.create(skill("plan-meeting")).await;
    let loaded = alice.get("/v1/skills/plan-meeting").await.ok(200);
    assert_eq!((&loaded["content"], &loaded["times_used"]), (&first["content"], &json!(1)));
    let mut changed = skill("plan-meeting");
    changed["content"] = json!("# Plan\n\nOtherwise.\n");
    let second = alice.post("/v1/skills", changed.clone()).await.ok(200);
    assert_eq!((&second["version"], &second["unchanged"], &second["id"]), (&json!(2), &json!(false), &first["id"]));
    let again = alice.post("/v1/skills", changed).await.ok(200);
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(2), &json!(true)));
    let patched = alice.replace("plan-meeting", "Otherwise.", "Quite otherwise.").await.ok(200);
    assert_eq!(patched["version"], 3);
    alice.replace("plan-meeting", "no such text at all", "x").await.refused(422, "patch-no-match");
    assert_eq!(alice.peek("plan-meeting").await["times_used"], 1);
    alice.get("/v1/skills").await.ok(200);
    alice.get("/v1/skills/plan-meetin").await.refused(404, "not-found");
    alice.get("/v1/skills/plan-meeting/SKILL.md").await;
    let loaded = alice.get("/v1/skills/plan-meeting").await.ok(200);
    assert_eq!((&loaded["version"], &loaded["times_used"]), (&json!(3), &json!(2)));
    assert!(loaded["last_used_at"].is_string());
}

/// Acceptance case 2: valid names, and refusals that explain the violated rule.
#[tokio::test]
async fn names_follow_the_rule_and_refusals_explain_it() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan-meeting", "research/summarize-paper", "a", "skill123", "a/b/c/d"]).await;
    let (long, longest) = ("a".repeat(65), "a".repeat(64));
    alice.create_all(&[&longest]).await;
    for (name, rule) in [
        ("", "empty"),
        ("-x", "start with '-'"),
        ("x-", "end with '-'"),
        ("a--b", "'--'"),
        ("My Skill", "my-skill"),
        ("my_skill", "underscore"),
        ("a/../b", "'..'"),
        ("/a", "empty segment"),
        ("a//b", "empty segment"),
        ("a/b/c/d/e", "4 segments"),
        (&long, "64 characters"),
        ("pl\u{430}n-meeting", "ASCII"),
        ("plan\u{200b}meeting", "ASCII"),
    ] {
        alice.post("/v1/skills", skill(name)).await.invalid("/name", rule);
    }
    let nul = json!({"name": "plan\0meeting", "description": "d", "content": "c"});
    alice.post("/v1/skills", nul).await.invalid("/name", "only a-z");
    assert_eq!(alice.names().await.len(), 6);
    for spelling in ["Plan-Meeting", "%20plan-meeting%20", "PLAN-MEETING"] {
        assert_eq!(alice.get(&format!("/v1/skills/{spelling}")).await.ok(200)["name"], "plan-meeting");
    }
}

/// Acceptance case 3: each kind of broken SKILL.md gets its own message.
#[tokio::test]
async fn a_broken_skill_md_gets_a_specific_message() {
    let World { alice, .. } = &World::new().await;
    let long = format!("---\nname: x\ndescription: {}\n---\nbody\n", "d".repeat(1025));
    let mut seen = std::collections::HashSet::new();
    for (skill_md, pointer, words) in [
        ("# No frontmatter\n", "/skill_md", "frontmatter"),
        ("---\nname: x\ndescription: y\n# never closed\n", "/skill_md", "clos"),
        ("---\n- a\n- b\n---\nbody\n", "/skill_md", ""),
        ("---\ndescription: y\n---\nbody\n", "/name", "no name"),
        ("---\nname: x\n---\nbody\n", "/description", "no description"),
        (&long, "/description", "1025"),
        ("---\nname: x\ndescription: y\n---\n", "/skill_md", "there is no text after"),
        ("---\nname: x\ndescription: Use when: x\n---\nbody\n", "/skill_md", "\"Use when: x\""),
        ("---\nname: x\nname: z\ndescription: y\n---\nbody\n", "/skill_md", ""),
        ("---\nname: x\ndescription: y\n---\nbo\0dy\n", "/skill_md", "NUL"),
    ] {
        let answer = alice.post("/v1/skills", json!({"skill_md": skill_md})).await;
        answer.invalid(pointer, words);
        assert!(seen.insert(answer.json()["detail"].to_string()), "said twice: {answer}");
    }
    assert!(alice.names().await.is_empty());
}

/// Acceptance case 3: an unusual but valid SKILL.md is returned byte for byte.
#[tokio::test]
async fn an_unusual_skill_md_is_stored_byte_for_byte() {
    let World { alice, .. } = &World::new().await;
    for (name, skill_md) in [
        ("bom", "\u{feff}---\nname: bom\ndescription: d\n---\nbody\n"),
        ("crlf", "---\r\nname: crlf\r\ndescription: d\r\n---\r\nbody\r\n"),
        ("cr", "---\rname: cr\rdescription: d\r---\rbody\r"),
        ("scalars", "---\nname: scalars\ndescription: >\n  folded\n  text\nnotes: |\n  a\n   b\n---\n\nbody\n"),
        ("comments", "---\n# why\nname: comments # here\ndescription: d\nunknown: [1, {a: b}]\n---\nbody"),
        ("version", "---\nname: version\ndescription: d\nversion: 1.10\n---\nbody\n"),
    ] {
        let saved = alice.create(json!({"skill_md": skill_md})).await;
        assert_eq!(saved["name"], name);
        let raw = alice.get(&format!("/v1/skills/{name}/SKILL.md")).await;
        assert_eq!(raw.text(), skill_md);
        assert!(raw.header("content-type").starts_with("text/markdown"));
    }
    let saved =
        alice.create(json!({"skill_md": "---\nname: email\ndescription: d\n---\nx\n", "name": "mcp/email"})).await;
    assert_eq!(saved["name"], "mcp/email");
    let other = json!({"skill_md": "---\nname: email\ndescription: d\n---\nx\n", "name": "mcp/mail"});
    alice.post("/v1/skills", other).await.invalid("/name", "must end in");
}

/// Acceptance case 18, without search: text in any script is stored unchanged.
#[tokio::test]
async fn text_in_any_script_is_stored_unchanged() {
    let World { alice, .. } = &World::new().await;
    for (name, text) in [
        ("cyrillic", "Планируй встречу: найди время, пригласи людей."),
        ("cjk", "会議を計画する。空き時間を探す。회의를 계획한다."),
        ("accents", "Le r\u{e9}sum\u{e9} et le re\u{301}sume\u{301} restent distincts."),
        ("emoji", "👩‍👩‍👧 ok 🏳️‍🌈 \u{202e}abc\u{202c}"),
    ] {
        let content = format!("# {text}\n\n{text}\n");
        alice.create(json!({"name": name, "description": text, "content": content, "tags": [text]})).await;
        let loaded = alice.peek(name).await;
        assert_eq!((&loaded["description"], &loaded["content"]), (&json!(text), &json!(content)));
        assert_eq!(loaded["tags"], json!([text]));
        assert!(alice.get(&format!("/v1/skills/{name}/SKILL.md")).await.text().ends_with(&content));
    }
}

#[tokio::test]
async fn members_missing_from_an_update_stay() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("keep");
    body["tags"] = json!(["one"]);
    body["metadata"] = json!({"a": "1", "b": "2"});
    alice.create(body).await;
    let update = json!({"name": "keep", "content": "# New\n", "metadata": {"a": null, "c": "3"}});
    let saved = alice.post("/v1/skills", update).await.ok(200);
    assert_eq!((&saved["tags"], &saved["content"]), (&json!(["one"]), &json!("# New\n")));
    let metadata = &saved["metadata"];
    assert_eq!((metadata.get("a"), &metadata["b"], &metadata["c"]), (None, &json!("2"), &json!("3")));
}

#[tokio::test]
async fn an_outdated_base_version_is_refused() {
    let World { alice, .. } = &World::new().await;
    let at = |version: i64| {
        let mut body = skill("based");
        body["content"] = json!(format!("# Version after {version}\n"));
        body["expected_version"] = json!(version);
        alice.post("/v1/skills", body)
    };
    assert_eq!(at(3).await.refused(409, "version-conflict")["current_version"], 0);
    at(0).await.ok(201);
    assert_eq!(at(0).await.refused(409, "version-conflict")["current_version"], 1);
    at(1).await.ok(200);
    let under = |tag: &str| {
        let mut body = skill("based");
        body["content"] = json!(format!("# Under {tag}\n"));
        alice.post("/v1/skills", body).header("If-Match", tag)
    };
    assert_eq!(under("\"1\"").await.refused(412, "version-conflict")["current_version"], 2);
    assert_eq!(under("\"2\"").await.ok(200)["version"], 3);
    for tag in ["2", "*", "W/\"3\"", "\"three\"", "\"3\", \"4\"", "\"99999999999\"", ""] {
        under(tag).await.refused(400, "malformed");
    }
}

#[tokio::test]
async fn create_only_never_changes_an_existing_skill() {
    let World { alice, bob, .. } = &World::new().await;
    alice.post("/v1/skills?create_only=true", skill("once")).await.ok(201);
    let problem = alice.post("/v1/skills?create_only=true", skill("once")).await.refused(409, "skill-exists");
    assert!(problem["detail"].as_str().unwrap().contains("without create_only"));
    bob.post("/v1/skills?create_only=true", skill("once")).await.ok(201);
    alice.post("/v1/skills?create_only=maybe", skill("once")).await.refused(400, "malformed");
    alice.post("/v1/skills?crate_only=true", skill("once")).await.refused(400, "malformed");
}

#[tokio::test]
async fn missing_and_oversized_members_are_named() {
    let World { alice, read_only, .. } = &World::new().await;
    alice.post("/v1/skills", json!({"name": "x"})).await.invalid("/content", "required");
    alice.post("/v1/skills", json!({"name": "x"})).await.invalid("/description", "required");
    alice.post("/v1/skills", json!({"name": "x", "content": " "})).await.invalid("/content", "required");
    alice.post("/v1/skills", json!({"content": "x"})).await.invalid("/name", "required");
    alice.post("/v1/skills", json!({"name": "x", "content": "x"})).await.invalid("/description", "needs a description");
    alice.post("/v1/skills", json!({"name": "x", "content": " \n", "description": "d"})).await.invalid("/content", "");
    let mut both = skill("x");
    both["skill_md"] = json!("---\nname: x\ndescription: d\n---\nx\n");
    alice.post("/v1/skills", both).await.invalid("/skill_md", "excludes");
    let with = |member: &str, value: Value| {
        let mut body = skill("x");
        body[member] = value;
        alice.post("/v1/skills", body)
    };
    with("description", json!("d".repeat(1025))).await.invalid("/description", "1024");
    with("description", json!("")).await.invalid("/description", "");
    with("compatibility", json!("c".repeat(501))).await.invalid("/compatibility", "500");
    with("role", json!("king")).await.refused(422, "invalid");
    with("unknown", json!(1)).await.refused(422, "invalid");
    with("tags", json!("not a list")).await.refused(422, "invalid");
    with("expected_version", json!(-1)).await.refused(409, "version-conflict");
    with("expected_version", json!(3_000_000_000_u64)).await.refused(422, "invalid");
    assert!(alice.names().await.is_empty());
    read_only.post("/v1/skills", skill("x")).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_body_may_have_256_kib_and_no_more() {
    let World { alice, .. } = &World::new().await;
    let of_size = |size: usize| {
        let mut body = skill("large");
        body["content"] = json!("x".repeat(size - 1) + "\n");
        alice.post("/v1/skills", body)
    };
    of_size(256 * 1024 - 1).await.ok(201);
    of_size(256 * 1024).await.ok(200);
    of_size(256 * 1024 + 1).await.refused(413, "too-large");
    assert_eq!(alice.peek("large").await["version"], 2);
}

/// Acceptance case 4: two users may use one name for two skills.
#[tokio::test]
async fn one_name_of_two_users_is_two_skills() {
    let world = World::new().await;
    let World { alice, bob, .. } = &world;
    let stranger = world.other_tenant().await;
    let mut of_bob = skill("plan");
    of_bob["content"] = json!("# Bob's own\n");
    let (hers, his) = (alice.create(skill("plan")).await, bob.create(of_bob).await);
    assert_ne!(hers["id"], his["id"]);
    stranger.create(skill("plan")).await;
    let by_id = |id: &Value| format!("/v1/skills/{}", id.as_str().unwrap());
    alice.get("/v1/skills/plan").await.ok(200);
    assert_eq!(
        (&alice.peek("plan").await["times_used"], &bob.peek("plan").await["times_used"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(alice.get(&by_id(&hers["id"])).await.ok(200)["name"], "plan");
    for caller in [bob, &stranger] {
        caller.get(&by_id(&hers["id"])).await.refused(404, "not-found");
        caller.delete(&by_id(&hers["id"])).await.refused(404, "not-found");
        caller.replace(hers["id"].as_str().unwrap(), "First", "Last").await.refused(404, "not-found");
        assert_eq!(caller.names().await, ["plan"]);
    }
    assert_eq!(bob.peek("plan").await["content"], "# Bob's own\n");
    assert_eq!(alice.peek("plan").await["version"], 1);
}

#[tokio::test]
async fn source_session_and_actor_are_recorded() {
    let world = World::unreviewed().await;
    let backend = world.backend().await.acting_for("alice");
    assert_eq!(world.alice.create(skill("mine")).await["source"], "user");
    assert_eq!(backend.create(skill("agents")).await["source"], "agent");
    let in_session = world.alice.post("/v1/skills", skill("session")).header("Knowhow-Session", "call-7").await.ok(201);
    assert_eq!(in_session["source"], "agent");
    let versions = world.alice.get("/v1/skills/session/versions").await.ok(200);
    assert_eq!(
        (&versions["items"][0]["session"], &versions["items"][0]["actor"]),
        (&json!("call-7"), &json!("user:alice"))
    );
    let versions = world.alice.get("/v1/skills/agents/versions").await.ok(200);
    let actor = versions["items"][0]["actor"].as_str().unwrap();
    assert!(actor.starts_with("key:") && actor.ends_with(" for alice"), "{actor}");
    let long = "s".repeat(256);
    for bad in ["with blank", "", &long] {
        world.alice.post("/v1/skills", skill("bad")).header("Knowhow-Session", bad).await.refused(400, "malformed");
        // Reads are refused too, so that a caller notices a bad session name early.
        world.alice.get("/v1/skills").header("Knowhow-Session", bad).await.refused(400, "malformed");
    }
}

#[tokio::test]
async fn some_fields_of_a_skill_change_and_the_rest_stays() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("p")).await;
    let before = alice.peek("p").await;
    let saved = alice.post("/v1/skills", json!({"name": "p", "tags": ["a"]})).await.ok(200);
    assert_eq!((&saved["version"], &saved["tags"]), (&json!(2), &json!(["a"])));
    alice.does("skill_save", json!({"name": "p", "summary": "Does p well"})).await;
    let now = alice.peek("p").await;
    assert_eq!((&now["tags"], &now["summary"]), (&json!(["a"]), &json!("Does p well")));
    assert_eq!((&now["content"], &now["description"]), (&before["content"], &before["description"]));
    let same = alice.post("/v1/skills", json!({"name": "p", "tags": ["a"]})).await.ok(200);
    assert_eq!(same["unchanged"], true);
}
