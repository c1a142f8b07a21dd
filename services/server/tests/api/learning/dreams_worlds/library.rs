//! The small library of a world, and the state of its skills.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::learning::dreams_stage::{Dreamer, Stage};
use crate::process::cached_skills::Dice;
use crate::sql::{column_at, execute_at};

/// Names of an agent's skills that form one family. Questions show their full texts.
pub const FAMILY: [&str; 6] = ["f/a", "f/b", "f/c", "f/d", "f/e", "f/f"];
/// Names of the other skills: one of the agent, one of the user, and one that is pinned.
pub const OTHERS: [&str; 3] = ["alone", "own", "kept"];
/// First words of the lines of a text.
pub const LINES: [&str; 4] = ["First", "Second", "Third", "Fourth"];

/// The state of a user's skills, by name.
pub type Digest = BTreeMap<String, Value>;

pub fn path(name: &str) -> String {
    format!("/v1/skills/{}", name.replace('/', "%2F"))
}

pub fn body(name: &str) -> String {
    LINES.map(|line| format!("{line} of {name}.\n\n")).concat()
}

/// Builds a user's library from random choices. Two users with equal `dice` get equal libraries.
pub async fn build(stage: &Stage, user: &Dreamer, mut dice: Dice) {
    let who = &user.who;
    for name in FAMILY.into_iter().chain(OTHERS) {
        let writer = if name == "own" { who } else { &user.agent };
        let description = format!("Does {name}. Use when somebody asks for it.");
        writer.create(json!({"name": name, "description": description, "content": body(name)})).await;
        for _ in 0..dice.of(3) {
            who.get(&path(name)).await.ok(200);
        }
    }
    who.put(&format!("{}/fields", path("kept")), json!({"pinned": true})).await.ok(200);
    who.put(&format!("{}/fields", path("f/b")), json!({"see_also": ["f/c"]})).await.ok(200);
    for n in 0..dice.of(3) {
        // Deletes some skills. Their names then lead to a skill of the family.
        let old = format!("old-{n}");
        user.agent.create(json!({"name": old, "description": "Was.", "content": "It was.\n"})).await;
        let into = FAMILY[dice.of(FAMILY.len())];
        who.delete(&path(&old)).json(&json!({"absorbed_into": into})).await.empty(204);
    }
    for _ in 0..dice.of(5) {
        relate(user, &mut dice).await;
        let (skill, outcome) = (FAMILY[dice.of(FAMILY.len())], ["success", "failure"][dice.of(2)]);
        let used = json!({"skill": skill, "outcome": outcome, "session_key": "k"});
        who.post("/v1/skills/used", used).await.ok(200);
    }
    let age = "created_at = timestamptz '2026-01-01' + interval '1 day' * (hashtext(t.name) % 30)";
    assert!(stage.set(user, "skills", age) > 0);
}

/// Declares a random relation between two skills of the family.
async fn relate(user: &Dreamer, dice: &mut Dice) {
    let (one, other) = (dice.of(FAMILY.len()), dice.of(FAMILY.len() - 1));
    let other = if other >= one { other + 1 } else { other };
    let kind = ["requires", "complements", "extends"][dice.of(3)];
    let declared = user.who.put(&relation(FAMILY[one], kind, FAMILY[other]), json!(null)).await;
    assert!([201, 204].contains(&declared.status), "{declared}");
}

fn relation(one: &str, kind: &str, other: &str) -> String {
    format!("{}/relations/{kind}/{}", path(one), other.replace('/', "%2F"))
}

/// Reads the state of a user's skills, without ids and without times of the test run.
pub fn digest(stage: &Stage, user: &Dreamer) -> Digest {
    let of = stage.of(user);
    let statement = format!(
        "select jsonb_build_object(
            'name', t.name, 'raw', convert_from(t.document, 'UTF8'), 'pinned', t.pinned, 'tainted', t.tainted, 'source', t.source,
            'created', case when t.created_at < timestamptz '2026-03-01' then t.created_at::text else 'now' end,
            'used', u.times_used, 'successes', u.successes, 'failures', u.failures, 'partials', u.partials,
            'was_used', u.last_used_at is not null,
            'names', (select coalesce(jsonb_agg(d.name order by d.name), '[]') from skill_redirects d
                      where d.tenant_id = t.tenant_id and d.user_id = t.user_id and d.skill_id = t.skill_id),
            'events', (select coalesce(jsonb_agg(jsonb_build_array(e.kind, e.outcome, e.n) order by e.kind, e.outcome), '[]') from (
                           select kind, outcome, sum(times) as n from usage_events e
                           where e.tenant_id = t.tenant_id and e.user_id = t.user_id and e.skill_id = t.skill_id
                           group by kind, outcome) e),
            'says', (select coalesce(jsonb_agg(jsonb_build_array(r.type, o.name, r.said_by = t.skill_id and r.type <> 'complements') order by r.type, o.name, r.said_by = t.skill_id and r.type <> 'complements'), '[]')
                     from relations r join skill_states o on o.tenant_id = r.tenant_id and o.user_id = r.user_id
                      and o.skill_id = case when r.from_id = t.skill_id then r.to_id else r.from_id end
                     where r.tenant_id = t.tenant_id and r.user_id = t.user_id and r.source = 'declared'
                       and t.skill_id in (r.from_id, r.to_id)))::text
         from skill_states t join skill_usage u using (tenant_id, user_id, skill_id)
         where {of}"
    );
    let rows = column_at(&stage.ground.owner, &statement);
    let rows = rows.iter().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let skills = rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row));
    skills.filter(|(name, _)| !name.starts_with("mark-of-")).collect()
}

/// Asserts that the counts in `user_catalogs` equal the sums over the user's skills.
pub fn check_sums(stage: &Stage, user: &Dreamer) {
    let of = stage.of(user);
    let wrong = format!(
        "select from user_catalogs t where {of} and (t.skill_count, t.byte_count) <> (
            select count(*), coalesce(sum(s.document_bytes + s.resource_bytes), 0) from skills s
            where s.tenant_id = t.tenant_id and s.user_id = t.user_id)"
    );
    assert_eq!(execute_at(&stage.ground.owner, &wrong), 0, "the sums of {} are wrong", user.name);
}
