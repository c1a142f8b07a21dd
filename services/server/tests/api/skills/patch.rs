//! Patches: exact and tolerant matches, ambiguity, repetition, all edits or none.

use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, World, skill};

async fn save(alice: &Caller, content: &str) {
    let mut body = skill("p");
    body["content"] = json!(content);
    let answer = alice.post("/v1/skills", body).await;
    assert!(answer.status == 200 || answer.status == 201, "{answer}");
}

async fn patch(alice: &Caller, edits: Value) -> Answer {
    alice.patch("/v1/skills/p", json!({"edits": edits})).await
}

async fn content(alice: &Caller) -> String {
    alice.peek("p").await["content"].as_str().unwrap().to_owned()
}

/// Acceptance case 7: a text with several matches is ambiguous unless `replace_all` is set.
#[tokio::test]
async fn a_match_must_be_unique_unless_replace_all_is_set() {
    let World { alice, .. } = &World::new().await;
    save(alice, "word word\n\nand word\n").await;
    let problem =
        patch(alice, json!([{"old_string": "word", "new_string": "x"}])).await.refused(422, "patch-ambiguous");
    assert!(problem["detail"].as_str().unwrap().contains("3 matches"));
    let lines: Vec<_> =
        problem["matches"].as_array().unwrap().iter().map(|m| (m["line"].as_i64(), m["text"].as_str())).collect();
    assert_eq!(lines, [(Some(1), Some("word word")), (Some(1), Some("word word")), (Some(3), Some("and word"))]);
    let all = json!([{"old_string": "word", "new_string": "x", "replace_all": true}]);
    let answer = patch(alice, all).await;
    let patched = answer.ok(200);
    assert_eq!(answer.header("etag"), "\"2\"");
    assert_eq!((&patched["replacements"], &patched["matched"]), (&json!(3), &json!("exact")));
    assert_eq!((&patched["content"], &patched["unchanged"]), (&json!("x x\n\nand x\n"), &json!(false)));
    save(alice, "aaaa\n").await;
    let all = json!([{"old_string": "aa", "new_string": "b", "replace_all": true}]);
    assert_eq!(patch(alice, all).await.ok(200)["replacements"], 2);
    let problem = patch(alice, json!([{"old_string": "bbc", "new_string": "x"}])).await.refused(422, "patch-no-match");
    assert_eq!(problem["closest"][0], json!({"line": 1, "text": "bb"}));
    for old in ["", "  ", "\n\t"] {
        patch(alice, json!([{"old_string": old, "new_string": "x"}])).await.invalid("/edits/0/old_string", "blank");
    }
    patch(alice, json!([{"old_string": "bb", "new_string": "bb"}])).await.invalid("/edits/0/old_string", "equal");
    save(alice, "one two\n").await;
    assert_eq!(patch(alice, json!([{"old_string": " two", "new_string": ""}])).await.ok(200)["content"], "one\n");
}

/// Acceptance cases 8 and 9: tolerant matching.
#[tokio::test]
async fn whitespace_dashes_and_indentation_are_tolerated() {
    let World { alice, .. } = &World::new().await;
    for (text, old, new, expected, matched) in [
        ("def  foo(  x,  y  ):\n", "def foo( x, y ):", "def bar():", "def bar():\n", "whitespace"),
        ("foo   bar baz\n", "foo bar", "XY", "XY baz\n", "whitespace"),
        (
            "Hello\u{2014}world \u{201c}q\u{201d}\n",
            "Hello--world",
            "Bye\u{2014}all",
            "Bye\u{2014}all \u{201c}q\u{201d}\n",
            "unicode",
        ),
        (
            "        if a:\n            b()\n",
            "if a:\n    b()",
            "if c:\n    d()",
            "        if c:\n            d()\n",
            "indentation",
        ),
        ("        keep\n", "keep", "  kept", "          kept\n", "exact"),
    ] {
        save(alice, text).await;
        let patched = patch(alice, json!([{"old_string": old, "new_string": new}])).await.ok(200);
        assert_eq!((patched["content"].as_str(), patched["matched"].as_str()), (Some(expected), Some(matched)));
    }
    save(alice, "start\nnothing alike in here\nor here either\nend\n").await;
    let old = "start\ncompletely other words stand\nbetween these two lines\nend";
    patch(alice, json!([{"old_string": old, "new_string": "x"}])).await.refused(422, "patch-no-match");
}

/// Acceptance case 10: a patch that would make the skill invalid is refused, and a patch may be repeated.
#[tokio::test]
async fn a_patch_never_breaks_the_skill_and_may_be_repeated() {
    let World { alice, .. } = &World::new().await;
    save(alice, "body text\n").await;
    let description = "description: Does p. Use when somebody asks for it.\n";
    for (old, new) in
        [(description, ""), (description, "description: [unclosed\n"), ("name: p", "name: q"), ("body text", "")]
    {
        patch(alice, json!([{"old_string": old, "new_string": new}])).await.refused(422, "invalid");
    }
    let large = "x".repeat(256 * 1024);
    patch(alice, json!([{"old_string": "body text", "new_string": large}])).await.refused(413, "too-large");
    assert_eq!(alice.peek("p").await["version"], 1);
    let edit = json!([{"old_string": "body text", "new_string": "body text, longer"}]);
    assert_eq!(patch(alice, edit.clone()).await.ok(200)["version"], 2);
    let again = patch(alice, edit).await.ok(200);
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(2), &json!(true)));
    assert_eq!(content(alice).await, "body text, longer\n");
}

/// Acceptance case 11: if one edit fails, no edit is applied.
#[tokio::test]
async fn all_edits_are_applied_or_none() {
    let World { alice, .. } = &World::new().await;
    save(alice, "one\ntwo\nthree\n").await;
    let edits = json!([
        {"old_string": "one", "new_string": "1"},
        {"old_string": "two", "new_string": "2"},
        {"old_string": "four", "new_string": "4"},
    ]);
    let problem = patch(alice, edits).await.refused(422, "patch-no-match");
    assert!(problem["detail"].as_str().unwrap().contains("edit 2"));
    assert_eq!(
        (content(alice).await.as_str(), alice.peek("p").await["version"].as_i64()),
        ("one\ntwo\nthree\n", Some(1))
    );
    let edits = json!([{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "12"}]);
    assert_eq!(patch(alice, edits).await.ok(200)["content"], "12\nthree\n");
}

#[tokio::test]
async fn frontmatter_and_resources_can_be_patched() {
    let World { alice, .. } = &World::new().await;
    save(alice, "body\n").await;
    let edit = json!([{"old_string": "Does p.", "new_string": "Does a lot.", "path": "frontmatter"}]);
    assert!(patch(alice, edit).await.ok(200)["description"].as_str().unwrap().starts_with("Does a lot."));
    alice
        .send(reqwest::Method::PUT, "/v1/skills/p/resources/references/a.md")
        .body("text/plain", "alpha\n")
        .await
        .ok(200);
    let edit = json!([{"old_string": "alpha", "new_string": "beta", "path": "references/a.md"}]);
    assert_eq!(patch(alice, edit).await.ok(200)["version"], 4);
    assert_eq!(alice.get("/v1/skills/p/resources/references/a.md").await.text(), "beta\n");
    let missing = json!([{"old_string": "a", "new_string": "b", "path": "references/none.md"}]);
    patch(alice, missing).await.refused(404, "not-found");
    let climbing = json!([{"old_string": "a", "new_string": "b", "path": "references/../x"}]);
    patch(alice, climbing).await.invalid("/edits/0/path", "..");
}

#[tokio::test]
async fn malformed_patches_are_rejected() {
    let World { alice, read_only, bob, .. } = &World::new().await;
    save(alice, "body\n").await;
    let one = json!({"old_string": "body", "new_string": "x"});
    let refuse = |body: Value| alice.patch("/v1/skills/p", body);
    refuse(json!({"edits": []})).await.refused(422, "invalid");
    refuse(json!({})).await.refused(422, "invalid");
    refuse(json!({"edits": vec![one.clone(); 101]})).await.refused(422, "invalid");
    refuse(json!({"edits": [{"old_string": "body"}]})).await.refused(422, "invalid");
    refuse(json!({"edits": [one], "more": 1})).await.refused(422, "invalid");
    let nul = json!({"edits": [{"old_string": "body", "new_string": "a\0b"}]});
    refuse(nul).await.refused(422, "invalid");
    read_only.replace("p", "body", "x").await.refused(403, "forbidden");
    bob.replace("p", "body", "x").await.refused(404, "not-found");
    assert_eq!(alice.peek("p").await["version"], 1);
}

#[tokio::test]
async fn a_repeated_patch_accepts_the_base_before_and_after_it() {
    let World { alice, .. } = &World::new().await;
    save(alice, "body\n").await;
    let based = |version: i64| {
        let edits = json!([{"old_string": "body", "new_string": "more body"}]);
        alice.patch("/v1/skills/p", json!({"edits": edits, "expected_version": version}))
    };
    based(1).await.ok(200);
    for version in [1, 2] {
        assert_eq!(based(version).await.ok(200)["unchanged"], true);
    }
    for version in [0, 3, i64::from(i32::MAX), i64::from(i32::MIN)] {
        assert_eq!(based(version).await.refused(409, "version-conflict")["current_version"], 2);
    }
}
