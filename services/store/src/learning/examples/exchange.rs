//! Exports and imports examples and counter-examples. Each line has only a skill and a message.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Result, new_id};
use uuid::Uuid;

use super::evict;
use crate::skills::starters;
use crate::vault::error::refuse;
use crate::vault::{row, statement};
use crate::{TenantTx, WriteTx};

/// Returns all examples and counter-examples of the user, ordered by skill name, oldest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list_for_export(tx: &mut TenantTx) -> Result<Vec<ExampleLine>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query_as!(
        ExampleLine,
        "-- examples.list_for_export
        select s.name as skill, e.message, e.is_counter
        from skill_examples e
        join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = e.skill_id
        where e.tenant_id = $1 and e.user_id = $2
        order by s.name, e.example_id",
        tenant,
        user
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// An example or a counter-example in an export or import.
#[derive(Debug, Clone)]
pub struct ExampleLine {
    /// The skill's full name.
    pub skill: String,
    pub message: String,
    /// Whether the skill did not apply to the message.
    pub is_counter: bool,
}

/// The result for an imported example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    Added,
    /// The skill already has the message as an example or a counter-example.
    Known,
    /// The user has no skill of that name.
    NoSkill,
}

row! { struct OutcomeRow { has_skill: bool, is_new: bool } }

// The result depends on the number of jobs. Otherwise Postgres would not evaluate the expression that enqueues them.
statement! {
    write Import {
        skills: Vec<String>, messages: Vec<String>, digests: Vec<Vec<u8>>, ids: Vec<Uuid>, session: Option<String>,
        task: Option<String>, now: DateTime<Utc>, are_counters: Vec<bool>,
    } -> OutcomeRow,
    "-- examples.import
    with given as materialized (
        select g.name, g.message, g.digest, g.example_id, g.is_counter, g.place
        from unnest($3::text[], $4::text[], $5::bytea[], $6::uuid[], $10::boolean[]) with ordinality
            as g (name, message, digest, example_id, is_counter, place)
        where not app.is_tainted($7)
    ), found as materialized (
        select g.example_id, g.message, g.digest, g.is_counter, g.place, s.skill_id
        from given g
        left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.name = g.name
    ), made as (
        insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, learned_at,
            confirmed_at, is_counter)
        select $1, $2, f.skill_id, f.example_id, f.message, f.digest, $9, $9, f.is_counter
        from found f
        where f.skill_id is not null
        order by f.place
        on conflict (tenant_id, user_id, skill_id, message_digest) do nothing
        returning example_id
    ), enqueued as (
        select count(app.enqueue($8, '{}', 'all', true)) as jobs
        from (select from made limit 1) any_made where $8::text is not null
    )
    select f.skill_id is not null and jobs >= 0 as has_skill, m.example_id is not null as is_new
    from enqueued
    cross join found f
    left join made m on m.example_id = f.example_id
    order by f.place"
}

/// Examples to import.
#[derive(Debug, Clone, Copy)]
pub struct NewExamples<'a> {
    pub lines: &'a [ExampleLine],
    /// The session that the import belongs to.
    pub session: Option<&'a str>,
    /// Task of the job that computes the vectors of the examples; `None` without a model.
    pub task: Option<&'a str>,
}

/// Imports examples without a session and without vectors. Returns `None`, without any import, if the session that the
/// import belongs to is tainted.
///
/// # Errors
/// `Unavailable`.
pub async fn import(tx: &mut WriteTx, new: NewExamples<'_>, now: DateTime<Utc>) -> Result<Option<Vec<Imported>>> {
    let NewExamples { lines, session, task } = new;
    tx.lock_user();
    starters::settle(tx).await?;
    let import = Import {
        skills: lines.iter().map(|line| line.skill.clone()).collect(),
        messages: lines.iter().map(|line| line.message.clone()).collect(),
        digests: lines.iter().map(|line| manifest::digest(line.message.as_bytes()).to_vec()).collect(),
        ids: lines.iter().map(|_| new_id()).collect(),
        session: session.map(str::to_owned),
        task: task.map(str::to_owned),
        now,
        are_counters: lines.iter().map(|line| line.is_counter).collect(),
    };
    let rows = tx.write(import).await?;
    evict(tx);
    let outcome = |row: OutcomeRow| match (row.has_skill, row.is_new) {
        (_, true) => Imported::Added,
        (true, false) => Imported::Known,
        (false, false) => Imported::NoSkill,
    };
    let outcomes: Vec<Imported> = rows.into_iter().map(outcome).collect();
    Ok((outcomes.len() == lines.len()).then_some(outcomes))
}
