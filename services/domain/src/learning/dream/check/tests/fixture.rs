//! Fixture: skills and conversations for checking plans.

use std::collections::{BTreeMap, HashMap};

use chrono::TimeZone;
use serde_json::{Value, json};

use super::super::*;
use crate::learning::dream::read_plan;
use crate::{Limits, Source};

/// Sources that dreams never change.
pub const PROTECTED: [Source; 4] = [Source::User, Source::Import, Source::Sync, Source::Starter];

/// Returns a skill at version 3 that an agent wrote and that was shown in full.
pub fn skill(name: &str, body: &str) -> ShownSkill {
    let last = name.rsplit('/').next().unwrap();
    ShownSkill {
        name: name.to_owned(),
        version: 3,
        source: Source::Agent,
        is_pinned: false,
        has_files: false,
        is_whole: true,
        raw: format!(
            "---\nname: {last}\ndescription: Says how.\nallowed-tools: Bash\nmetadata:\n  tags: [one]\n---\n\n{body}\n"
        ),
        merged_at: None,
        merges: 0,
        is_tainted: false,
        grown: 0,
    }
}

/// Returns the data for checking the plan of a pass:
///
/// - `deploy-web` and `ship-web` are duplicates, and so are `note-a` to `note-f`.
/// - `mail/send` and `mail/read` are a family without a guide.
/// - `mine` is the user's and `kept` is pinned.
/// - The conversations s1, s2 and s4 have one request in common, s3, s4 and s5 another. Only s4 succeeded.
pub fn shown(pass: Pass) -> Shown {
    let mut skills = vec![
        skill("deploy-web", "Run `npm ci` and `npm run build`, then wait 30s."),
        skill("ship-web", "Run `npm run build`, then wait 30s."),
        skill("mail/send", "Send it with `sendmail`."),
        skill("mail/read", "Read it with `mutt`."),
        ShownSkill { source: Source::User, ..skill("mine", "Mine, with `npm ci`.") },
        ShownSkill { is_pinned: true, ..skill("kept", "Kept, with `npm ci`.") },
    ];
    let notes = ["note-a", "note-b", "note-c", "note-d", "note-e", "note-f"];
    skills.extend(notes.iter().map(|name| skill(name, "Write it down.")));
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let all_pairs = |names: &[&str]| -> Vec<[String; 2]> {
        names.iter().flat_map(|one| names.iter().map(|other| [(*one).to_owned(), (*other).to_owned()])).collect()
    };
    let gap = |sessions: &[&str]| sessions.iter().map(|name| (*name).to_owned()).collect();
    Shown {
        pass: pass.into(),
        now: chrono::Utc.with_ymd_and_hms(2026, 6, 1, 3, 0, 0).unwrap(),
        names: names.iter().map(|name| (*name).to_owned()).chain(["hidden".to_owned()]).collect(),
        sessions: ["s1", "s2", "s3", "s4", "s5"]
            .map(|name| ShownSession { name: name.to_owned(), is_success: name == "s4" })
            .to_vec(),
        candidates: Candidates {
            pairs: [all_pairs(&["deploy-web", "ship-web", "mine", "kept"]), all_pairs(&notes)].concat(),
            prefixes: ["mail".to_owned()].into(),
            near: ["deploy-web".to_owned()].into(),
            gaps: vec![gap(&["s1", "s2", "s4"]), gap(&["s3", "s4", "s5"])],
            weak: ["deploy-web", "ship-web", "mine", "kept"].map(str::to_owned).into(),
        },
        skills,
        is_tainted: false,
        archiving: Archiving { days: 30, open_skills: 100, archived_lately: 0 },
        closest: HashMap::new(),
        resting: BTreeMap::new(),
        answered: BTreeMap::new(),
        twins: HashMap::new(),
        limits: Limits::default(),
    }
}

/// Reads and checks a plan with these operations.
pub fn rulings(shown: &Shown, operations: &Value) -> Vec<Ruling> {
    let plan = json!({ "ops": operations }).to_string();
    check_plan(&read_plan(&plan, &|_| None).unwrap(), shown)
}

/// Reads and checks a plan with one operation.
pub fn ruling(shown: &Shown, operation: &Value) -> Ruling {
    rulings(shown, &json!([operation])).remove(0)
}

/// Returns the reason for refusing an operation. Panics if the operation is not refused.
pub fn refusal(shown: &Shown, operation: &Value) -> String {
    match ruling(shown, operation) {
        Ruling::Refuse(reason) | Ruling::Rest(reason) => reason,
        other => panic!("{operation}: {other:?}"),
    }
}

/// Returns the reasons for an operation to wait, on one line. Panics if the operation does not wait.
pub fn waiting(shown: &Shown, operation: &Value) -> String {
    match ruling(shown, operation) {
        Ruling::Wait(reasons) => reasons.join("; "),
        other => panic!("{operation}: {other:?}"),
    }
}

/// Returns the ruling as a letter: `a` for applied, `w` for waiting, `r` for refused.
pub fn letter(ruling: &Ruling) -> char {
    match ruling {
        Ruling::Apply => 'a',
        Ruling::Wait(_) => 'w',
        Ruling::Refuse(_) | Ruling::Rest(_) => 'r',
    }
}

/// Returns the rulings, each as a letter.
pub fn letters(shown: &Shown, operations: &Value) -> String {
    rulings(shown, operations).iter().map(letter).collect()
}

/// Returns a copy of the operation with one member changed.
pub fn with(operation: &Value, member: &str, value: Value) -> Value {
    let mut operation = operation.clone();
    operation[member] = value;
    operation
}

/// Changes one shown skill.
pub fn change(shown: &mut Shown, name: &str, how: impl FnOnce(&mut ShownSkill)) {
    how(shown.skills.iter_mut().find(|skill| skill.name == name).unwrap());
}
