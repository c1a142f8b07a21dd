use serde_json::{Value, json};

use super::super::*;
use super::fixture::{PROTECTED, change, letters, refusal, ruling, shown, skill, waiting, with};
use crate::Source;

fn archive() -> Value {
    json!({"op": "archive", "name": "ship-web", "version": 3, "absorbed_into": "deploy-web"})
}

#[test]
fn a_skill_is_archived_if_the_absorbing_skill_stays() {
    let shown = shown(Pass::Consolidate);
    assert_eq!(ruling(&shown, &archive()), Ruling::Apply);
    // The absorbing skill is not changed, so it may be protected.
    for into in ["mine", "kept"] {
        assert!(
            matches!(ruling(&shown, &with(&archive(), "absorbed_into", json!(into))), Ruling::Wait(reasons) if reasons.len() == 1)
        );
    }
    for (into, word) in [("hidden", "not shown"), ("nowhere", "not shown"), ("ship-web", "itself")] {
        assert!(refusal(&shown, &with(&archive(), "absorbed_into", json!(into))).contains(word), "{into}");
    }
    assert!(refusal(&shown, &with(&archive(), "version", json!(4))).contains("version"));
}

#[test]
fn protected_skills_are_not_archived() {
    let mut shown = shown(Pass::Consolidate);
    for source in PROTECTED {
        change(&mut shown, "ship-web", |skill| skill.source = source);
        assert!(refusal(&shown, &archive()).contains("must not change it"), "{source:?}");
    }
    change(&mut shown, "ship-web", |skill| (skill.source, skill.is_pinned) = (Source::Agent, true));
    assert!(refusal(&shown, &archive()).contains("pinned"));
    change(&mut shown, "ship-web", |skill| (skill.is_pinned, skill.is_whole) = (false, false));
    assert!(refusal(&shown, &archive()).contains("only a part"));
}

#[test]
fn archiving_waits_if_the_pair_is_unknown_or_tokens_are_lost() {
    let mut shown = shown(Pass::Consolidate);
    assert!(
        waiting(&shown, &with(&archive(), "absorbed_into", json!("mail/send")))
            .contains("approve archiving 'ship-web'")
    );
    change(&mut shown, "ship-web", |shown| shown.raw = skill("ship-web", "Run `rsync -a`.").raw);
    let lost = waiting(&shown, &archive());
    assert!(lost.contains("archiving 'ship-web' would lose 1 of") && lost.contains("rsync -a"), "{lost}");
    assert!(lost.contains("Add the needed ones to 'deploy-web'"), "{lost}");
}

#[test]
fn limits_of_a_run_and_a_month_bound_the_archived_skills() {
    let archive = |name: &str| json!({"op": "archive", "name": name, "version": 3, "absorbed_into": "note-a"});
    let all = json!(["note-b", "note-c", "note-d", "note-e", "note-f"].map(archive));
    let mut shown = shown(Pass::Consolidate);
    for (open_skills, archived_lately, outcome) in [
        (1, 0, "aaarr"),
        (79, 0, "aaarr"),
        (80, 0, "aaaar"),
        (100, 0, "aaaaa"),
        (100, 16, "aaaar"),
        (100, 20, "rrrrr"),
        (10, 2, "arrrr"),
        (10, usize::MAX, "rrrrr"),
    ] {
        shown.archiving = Archiving { days: 30, open_skills, archived_lately };
        assert_eq!(letters(&shown, &all), outcome, "{open_skills} {archived_lately}");
    }
    shown.archiving = Archiving { days: 0, open_skills: 100, archived_lately: 0 };
    assert_eq!(letters(&shown, &all), "rrrrr");
}
