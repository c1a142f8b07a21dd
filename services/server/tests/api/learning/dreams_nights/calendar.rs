//! The days of a user: skills, requests, corrections and failures. Each conversation has a number in its first
//! message, by which the model names it.

use serde_json::json;

use crate::learning::dreams_stage::{Dreamer, Stage};
use crate::sql::execute_at;
use crate::talk::Talk;

/// Skills with their number of lines. The two `kinbill` skills have similar vectors.
const SKILLS: [(&str, &str, &str); 6] = [
    ("deploy", "Puts the site online. Use when a release is ready.", "deploy"),
    ("refunds", "Refunds an order. Use when a customer wants money back.", "refunds"),
    ("backup", "Backs up the shop. Use before a change of the shop.", "backup"),
    ("bills/show", "Shows kinbill to customers. Use when somebody asks for it.", "show"),
    ("bills/print", "Prints kinbill for customers. Use when somebody asks for it.", "print"),
    ("migrate", "Migrates the database. Use after an update.", ""),
];

/// The corrections of two weeks: the day, the skill and the user's words.
const CORRECTIONS: [(usize, &str, &str); 9] = [
    (0, "deploy", "run the tests first"),
    (1, "refunds", "to the account, not the card"),
    (3, "deploy", "tell the team before it starts"),
    (3, "refunds", "always send a receipt"),
    (6, "backup", "to the second disk too"),
    (7, "deploy", "never on a Friday"),
    (8, "backup", "check that it can be restored"),
    (10, "refunds", "ask for the order number"),
    (12, "deploy", "watch the log for an hour"),
];

/// Creates the user's skills, all of them old.
pub async fn library(stage: &Stage, user: &Dreamer) {
    for (name, description, line) in SKILLS {
        let lines = (0..8).map(|n| format!("{n}. Step {n} of {line}: run `{line}-{n}` and read what it says.\n"));
        let body = if line.is_empty() { "Run `make migrate`.\n".to_owned() } else { lines.collect() };
        let content = format!("## Procedure\n\n{body}");
        user.agent.create(json!({"name": name, "description": description, "content": content})).await;
    }
    stage.set(user, "skills", "created_at = now() - interval '30 days'");
    stage.set(user, "skill_versions", "created_at = now() - interval '30 days'");
    stage.idle(user).await;
}

/// The conversations so far, by their number: the day of each.
#[derive(Default)]
pub struct Diary {
    days: Vec<usize>,
}

impl Diary {
    /// Returns the days of the conversations that a text names as `#n`.
    pub fn days_of(&self, text: &str) -> Vec<usize> {
        let numbers = text.split('#').skip(1).filter_map(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok()
        });
        numbers.map(|number| self.days[number]).collect()
    }

    /// Holds the conversations of a day.
    pub async fn day(&mut self, stage: &Stage, user: &Dreamer, day: usize) {
        for (_, skill, note) in CORRECTIONS.into_iter().filter(|(on, ..)| *on == day) {
            let talk = self.talk(user, day, &format!("use {skill} for me, please")).await;
            talk.tell("/reply", json!({"message": "That is done.", "rounds": 1})).await;
            talk.tell("/feedback", json!({"kind": "correction", "note": note})).await;
            end(stage, &talk);
        }
        let migrated = self.talk(user, day, "use migrate, there was an update").await;
        migrated.tell("/reply", json!({"message": "It ran.", "rounds": 1})).await;
        end(stage, &migrated);
        if day % 3 != 2 {
            let wish = self.talk(user, day, &format!("please kinwish for guest {day}")).await;
            end(stage, &wish);
        }
        if day >= 5 && day.is_multiple_of(2) {
            let tax = self.talk(user, day, &format!("do kintax for month {day}")).await;
            end(stage, &tax);
        }
        stage.idle(user).await;
    }

    async fn talk(&mut self, user: &Dreamer, day: usize, message: &str) -> Talk {
        let talk = Talk::long(&user.who).await;
        talk.say(&format!("{message} #{}", self.days.len())).await;
        self.days.push(day);
        talk
    }
}

/// Ends a conversation that took place eight hours before the night.
pub fn end(stage: &Stage, talk: &Talk) {
    let ago = "now() - interval '8 hours'";
    let of = format!("where session_id = '{}'", talk.id);
    let sets = [
        format!("update sessions set started_at = {ago}, last_message_at = {ago} {of}"),
        format!("update messages set at = {ago} {of}"),
        format!("update session_feedback set at = {ago} {of}"),
    ];
    for set in sets {
        execute_at(&stage.ground.owner, &set);
    }
}

/// Moves all of the user's data a day into the past.
pub async fn sleep(stage: &Stage, user: &Dreamer) {
    stage.idle(user).await;
    let back = |columns: &[&str]| {
        let sets: Vec<String> =
            columns.iter().map(|column| format!("{column} = t.{column} - interval '1 day'")).collect();
        sets.join(", ")
    };
    // Two steps, as the days of a skill are unique at any time.
    stage.set(user, "usage_events", &format!("day = t.day - 1000, {}", back(&["at", "outcome_at"])));
    stage.set(user, "usage_events", "day = t.day + 999");
    for (table, columns) in [
        ("sessions", &["started_at", "last_message_at", "ended_at"][..]),
        ("messages", &["at"]),
        ("turns", &["created_at"]),
        ("session_feedback", &["at"]),
        ("skills", &["created_at", "updated_at"]),
        ("skill_versions", &["created_at"]),
        ("skill_usage", &["last_used_at"]),
        ("dream_passes", &["fingerprint_at"]),
        ("dream_runs", &["created_at", "finished_at", "texts_until"]),
        ("dream_rests", &["rests_until"]),
    ] {
        stage.set(user, table, &back(columns));
    }
}
