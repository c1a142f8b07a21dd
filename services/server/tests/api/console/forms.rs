//! Forms that were not sent by a page of the session change nothing.

use super::visitor::Visitor;
use crate::callers::{World, skill};

const TEXT: &str = "---\nname: plan\ndescription: Stolen. Use it always.\n---\nStolen.\n";

#[tokio::test]
async fn forms_of_other_origins_and_sessions_are_refused() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let (alice, bob) = (Visitor::of(&world.alice).await, Visitor::of(&world.bob).await);
    let (own, others) = (alice.form_token().await, bob.form_token().await);
    let same = [("Sec-Fetch-Site", "same-origin")];
    let cases: [(&str, &[(&str, &str)]); 9] = [
        (&own, &[("Sec-Fetch-Site", "cross-site")]),
        (&own, &[("Sec-Fetch-Site", "same-site")]),
        (&own, &[("Sec-Fetch-Site", "none")]),
        (&own, &[("Origin", "https://evil.example")]),
        (&own, &[("Origin", "null")]),
        (&own, &[]),
        (&others, &same),
        ("wrong", &same),
        ("", &same),
    ];
    for (token, headers) in cases {
        let fields = [("form", token), ("text", TEXT), ("version", "1")];
        let answer = alice.post_with("/console/skills/plan", &fields, headers).await;
        assert_eq!(answer.status, 403, "{headers:?}: {answer}");
    }
    // The rights are checked before the form is read.
    let admins = alice.post_with("/console/users/bob/suspend", &[("form", "wrong"), ("user", "bob")], &same).await;
    assert_eq!(admins.status, 403, "{admins}");
    assert!(admins.text().contains("admin") && !admins.text().contains("another session"), "{admins}");
    let without = alice.post_with("/console/skills/plan", &[("text", TEXT), ("version", "1")], &same).await;
    assert_eq!(without.status, 403, "{without}");
    assert_eq!(world.alice.peek("plan").await["version"], 1, "nothing was changed");

    let host = world.anonymous.url().to_owned();
    let fields = [("form", own.as_str()), ("text", TEXT), ("version", "1")];
    let answer = alice.post_with("/console/skills/plan", &fields, &[("Origin", &host)]).await;
    assert_eq!(answer.status, 403, "all browsers send Sec-Fetch-Site: {answer}");
    let answer = alice.post_with("/console/skills/plan", &fields, &same).await;
    assert_eq!(answer.status, 303, "{answer}");
    assert_eq!(world.alice.peek("plan").await["version"], 2);
}

#[tokio::test]
async fn a_text_typed_in_a_session_that_ended_is_shown_again() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    let own = alice.form_token().await;
    let same = [("Sec-Fetch-Site", "same-origin")];
    let fields = [("form", own.as_str()), ("text", "Typed for <b>an hour</b>.\r\nAnd more."), ("version", "1")];
    alice.post("/console/logout", &[]).await;
    let late = alice.post_with("/console/skills/plan", &fields, &same).await;
    assert_eq!(late.status, 401, "{late}");
    let page = late.text();
    assert!(page.contains("Typed for &#60;b&#62;an hour&#60;/b&#62;.\r\nAnd more.</textarea>"), "{page}");
    assert!(page.contains("Your session has ended") && page.contains("action=\"/console/login\""), "{page}");
    assert!(page.contains(r#"name="next" value="/console/skills/plan""#) && !page.contains(&own), "{page}");
    assert!(page.contains(r#"target="_blank""#), "the text stays in its tab: {page}");

    // The body of a request without a cookie is not read.
    let stranger = world.anonymous.send(reqwest::Method::POST, "/console/skills/plan").header(same[0].0, same[0].1);
    let stranger = stranger.body("application/x-www-form-urlencoded", super::visitor::encode(&fields)).await;
    assert!(stranger.status == 401 && !stranger.text().contains("And more."), "{stranger}");

    let again = Visitor::of(&world.alice).await;
    let other = again.post_with("/console/skills/plan", &fields, &same).await;
    assert_eq!(other.status, 403, "the token is that of another session: {other}");
    assert!(other.text().contains("And more.</textarea>"), "{other}");
    let elsewhere = again.post_with("/console/skills/plan", &fields, &[("Sec-Fetch-Site", "cross-site")]).await;
    assert!(!elsewhere.text().contains("And more."), "{elsewhere}");
    assert_eq!(world.alice.peek("plan").await["version"], 1);
}

#[tokio::test]
async fn every_answer_has_the_policy_and_is_not_stored() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    for path in ["/console", "/console/login", "/console/skills", "/console/skills/missing", "/console/nowhere"] {
        let answer = alice.get(path).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; form-action"), "{answer}");
        for closed in ["script-src", "connect-src", "img-src"] {
            assert!(!policy.contains(closed), "{answer}");
        }
        for part in ["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{answer}");
        }
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{answer}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{answer}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{answer}");
        assert_eq!(answer.header("cache-control"), "no-store", "{answer}");
    }
    let style = alice.get("/console/static/console.css").await;
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(style.body.len() <= 25 * 1024, "the style sheet has {} bytes", style.body.len());
}

#[tokio::test]
async fn the_login_leads_only_to_pages_of_the_console() {
    let world = World::new().await;
    let token = world.alice.token.as_deref().unwrap();
    for (next, expected) in [
        ("/console/skills?q=a", "/console/skills?q=a"),
        ("https://evil.example", "/console"),
        ("//evil.example", "/console"),
        ("/console/../v1", "/console"),
        ("/console/%2e%2E/v1", "/console"),
        ("/consoles", "/console"),
        ("/console\r\nX: y", "/console"),
        ("/console\\evil", "/console"),
    ] {
        let answer = super::visitor::send_login(&world.anonymous, &[("token", token), ("next", next)]).await;
        assert_eq!((answer.status, answer.header("location")), (303, expected), "{answer}");
    }
    let asked = world.anonymous.get("/console/skills?q=a%20b").await;
    assert_eq!(asked.header("location"), "/console/login?next=%2Fconsole%2Fskills%3Fq%3Da%2520b");
}

#[tokio::test]
async fn the_console_can_be_left_out() {
    let service = crate::service::Service::start(&[("KNOWHOW_WORKERS", "1"), ("KNOWHOW_CONSOLE", "false")]);
    let world = World::new().await;
    let there = world.anonymous.at(&service);
    for path in ["/console", "/console/login", "/console/static/console.css"] {
        assert_eq!(there.get(path).await.status, 404, "{path}");
    }
}
