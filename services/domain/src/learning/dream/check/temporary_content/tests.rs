use super::*;

fn kinds(text: &str) -> Vec<&'static str> {
    list_temporary_content(&format!("---\nname: a\ndescription: It does.\n---\n\n{text}\n"))
}

#[test]
fn temporary_content_is_reported_by_kind() {
    for (text, kind) in [
        ("As of 2024-03-05.", "a date"),
        ("On 3/14/2024 or", "a date"),
        ("On 14/3/24 or", "a date"),
        ("On 14.03.2024", "a date"),
        ("Since March 5th", "a date"),
        ("am 3. März 2024", "a date"),
        ("the 5th of May", "a date"),
        ("in January 2023", "a date"),
        ("for Q3 2024", "a date"),
        ("Fixed in ABC-123.", "a ticket id"),
        ("See PR #482", "a ticket id"),
        ("Write to jane.doe@acme.io", "an e-mail address"),
        ("Ｗrite to jane＠acme.io", "an e-mail address"),
        ("ja\u{200b}ne@ac\u{200b}me.io", "an e-mail address"),
        ("Call +49 30 1234567", "a phone number"),
        ("Call (415) 555-2671", "a phone number"),
        ("Call 415-555-2671", "a phone number"),
        ("ssh to 10.2.3.4", "an IP address"),
        ("at fe80:0:0:0:1:2:3:4", "an IP address"),
        ("customer 48210033", "a long number"),
        ("id 0f8fad5b-d9cb-469f-a165-70867728950e", "a long number"),
        ("card 4929 1234 5678 9011", "a long number"),
        ("the password is hunter2!", "a secret"),
        ("API_KEY=q8Zr52LmTx01", "a secret"),
        ("key AKIAQX7ZL4MTN2RWPKCD in", "a secret"),
    ] {
        assert!(kinds(text).contains(&kind), "{text}: {:?}", kinds(text));
    }
}

#[test]
fn permanent_content_is_not_reported() {
    for text in [
        "Encode as UTF-8 with SHA-256 per RFC-2119; use gpt-4 and web-perf-2.",
        "Listen on 127.0.0.1:8080 or 0.0.0.0, never on 192.0.2.7; ::1 and 2001:db8::1 are fine.",
        "Write to user@example.com; clone git@github.com:a/b.git; npm i react@18.2.0.",
        "Wait 30 days, 1,000 times, at 10:30:45, at most 65535 or 86400 s. Version 1.2.10.",
        "Set API_KEY=$KEY or token: <your token>, password: ask the user. The secret is patience.",
        "A plan of 30/60/90 days. You may 5 times a day. March on. Use std::fmt::Display and a::b.",
    ] {
        assert_eq!(kinds(text), Vec::<&str>::new(), "{text}");
    }
}

#[test]
fn a_claim_of_success_differs_from_an_instruction_to_test() {
    for text in ["Verified: works.", "This was tested on all.", "It is confirmed working.", "known to work", "VERIFIED"]
    {
        assert!(claims_success(text), "{text}");
    }
    for text in ["It must be tested.", "Not verified.", "untested", "Run tests.", "Verify it.", "until verified"] {
        assert!(!claims_success(text), "{text}");
    }
}

#[test]
fn a_secret_of_the_previous_text_is_not_new() {
    let document = |text: &str| {
        let raw = format!("---\nname: a\ndescription: It does.\n---\n\n{text}\n");
        SkillDocument::parse(&raw, &crate::Limits::default()).unwrap()
    };
    let (one, other) = (document("password: hunter2x"), document("password: hunter3x"));
    assert!(check_no_new_secret(&[&one], &document("Now: password: hunter2x")).is_ok());
    assert!(check_no_new_secret(&[&one], &other).is_err());
    assert!(check_no_new_secret(&[], &one).is_err());
}
