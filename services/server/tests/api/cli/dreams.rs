//! The command `knowhow dream`.

use std::process::Output;

use knowhow_testing::Reply;
use serde_json::{Value, json};

use crate::callers::World;
use crate::dreams::Night;
use crate::service::{knowhow, login_url_of, run, setting};

/// Runs `knowhow dream` on the database of the test, with its models.
fn dream(night: &Night, arguments: &[&str]) -> Output {
    let (login, url) = (login_url_of(night.ground.owner.clone()), night.model.url());
    let folder = setting("KNOWHOW_TEST_MODEL_DIR").expect("the folder of the sentence model");
    let settings = [
        ("KNOWHOW_DATABASE_URL", login.as_str()),
        ("KNOWHOW_MODEL_DIR", &folder),
        ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000"),
        ("KNOWHOW_CHAT_URL", &url),
        ("KNOWHOW_CHAT_MODEL", "fake"),
    ];
    let all: Vec<&str> = ["dream", "alice"].iter().chain(arguments).copied().collect();
    knowhow(&all).envs(settings).output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Adds conversations in which alice asks for the same thing three times within a week.
async fn asks_again(night: &Night) {
    for (days, message) in [
        (9, "Please cancel my gym membership for me"),
        (7, "I want to cancel the membership at my gym, please"),
        (5, "can you cancel my gym membership?"),
        (4, "What will the weather be like in Oslo tomorrow?"),
        (3, "Tell me how many ounces are in a pound of flour"),
    ] {
        night.talked(&night.alice, days, message).await;
    }
    night.ground.idle();
}

fn create() -> Value {
    json!({"ops": [{
        "op": "create", "name": "cancel-membership",
        "description": "Cancels a membership or subscription for the user. Use when the user wants out of a gym, club or plan.",
        "triggers": ["cancel my membership", "cancel the gym"],
        "body": "## When to Use\n\nThe user wants to cancel a membership.\n\n## Procedure\n\n1. Find the contract.\n2. Check the term \
                 of notice.\n3. Write the cancellation and have the user confirm it.\n",
        "evidence": ["s1", "s2"], "reason": "asked for three times\u{1b}[2J\u{200b}",
    }]})
}

#[tokio::test]
async fn a_dream_prints_its_plan_and_leaves_the_decision_to_a_person() {
    let night = Night::begin(json!({})).await;
    asks_again(&night).await;
    night.says(&create());
    let dry = dream(&night, &["--dry-run", "--pass", "gaps"]);
    let shown = said(&dry.stdout);
    assert!(dry.status.success(), "{shown}{}", said(&dry.stderr));
    assert!(shown.starts_with("gaps: planned, a dry run ("), "{shown}");
    for part in [
        "  0. create cancel-membership: proposed\n     asked for three times<U+001B>[2J<U+200B>\n",
        "\n     +2. Check the term of notice.\n",
        "used 1 model call and ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    night.says(&create());
    let run = dream(&night, &["--json", "--pass", "gaps", "--tenant", &night.world.slug]);
    let runs: Value = serde_json::from_slice(&run.stdout).unwrap();
    let by_rest = night.alice.get(&format!("/v1/dreams/{}", runs[0]["id"].as_str().unwrap())).await.ok(200);
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]), (1, &by_rest));
    assert_eq!(
        (&by_rest["started_by"], &by_rest["ops"][0]["outcome"]),
        (&json!("shell for alice"), &json!("proposed"))
    );
    assert!(night.alice.names().await.is_empty());
    night.service.check_log();
}

#[tokio::test]
async fn a_dream_without_proposals_succeeds_and_a_failed_run_does_not() {
    let night = Night::begin(json!({"dreams": {"optimize": "off"}})).await;
    asks_again(&night).await;
    night.says(&json!({"ops": []}));
    let none = dream(&night, &[]);
    let shown = said(&none.stdout);
    assert!(none.status.success() && shown.contains("gaps: skipped, there are no proposals"), "{shown}");
    assert!(shown.contains("\nconsolidate: ") && !shown.contains("optimize"), "{shown}");
    let off = dream(&night, &["--pass", "optimize"]);
    assert!(!off.status.success() && said(&off.stderr).contains("the pass optimize is off"), "{}", said(&off.stderr));
    night.talked(&night.alice, 2, "cancel that gym membership of mine").await;
    night.model.replies([Reply::says("I would rather not.")]);
    let failed = dream(&night, &["--pass", "gaps"]);
    assert_eq!((failed.status.code(), said(&failed.stdout).starts_with("gaps: failed, ")), (Some(1), true));
    night.service.check_log();
}

#[tokio::test]
async fn wrong_arguments_of_dream_are_reported_and_create_no_user() {
    let World { admin, slug, .. } = &World::new().await;
    let said = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(!output.status.success(), "{arguments:?} succeeded");
        said(&output.stderr)
    };
    assert!(said(&["dream", "nobody", "--tenant", slug]).contains("no such user"));
    admin.get("/v1/admin/users/nobody").await.refused(404, "not-found");
    assert!(said(&["dream", "alice", "--tenant", "no-such-tenant"]).contains("no such tenant"));
    World::new().await;
    assert!(said(&["dream", "alice"]).contains("--tenant SLUG"));
    assert!(said(&["dream", "alice", "--pass", "nightmares"]).contains("gaps, consolidate or optimize"));
    assert!(said(&["dream"]).contains("<USER>"));
}
