//! Limits and removal of examples.

use knowhow_domain::learning::lesson::{EXAMPLES_PER_SKILL, EXAMPLES_PER_USER};
use knowhow_domain::{ExampleId, Result, SessionId, SkillId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

statement! {
    write Evict { of_skill: i64, of_user: i64 } -> (),
    "-- examples.evict
    with ranked as (
        select e.example_id,
               row_number() over (partition by e.skill_id, e.is_counter
                                  order by e.confirmed_at desc, e.example_id desc) as of_skill,
               row_number() over (order by e.confirmed_at desc, e.example_id desc) as of_user
        from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2
    ), gone as (
        delete from skill_examples e using ranked r
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = r.example_id and (r.of_skill > $3 or r.of_user > $4)
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)"
}

/// Removes examples above the limits per skill and per user, the least recently confirmed first. The limit per skill
/// applies to examples and to counter-examples separately.
pub fn evict(tx: &mut WriteTx) {
    tx.send_ahead(Evict { of_skill: EXAMPLES_PER_SKILL as i64, of_user: EXAMPLES_PER_USER as i64 });
}

row! { struct GoneRow { gone: i64 } }

statement! {
    write Remove { skill: Uuid, example: Option<Uuid> } -> GoneRow,
    "-- examples.remove
    with gone as (
        delete from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and ($4::uuid is null or e.example_id = $4)
        returning e.example_id
    ), catalog as (
        update user_catalogs c set examples_revision = c.examples_revision + 1
        where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)
    )
    select count(*) as gone from gone"
}

/// Removes one example of a skill, or all of them. Returns the number of removed examples.
///
/// # Errors
/// `Unavailable`.
pub async fn remove(tx: &mut WriteTx, skill: SkillId, example: Option<ExampleId>) -> Result<i64> {
    tx.lock_user();
    Ok(tx
        .write(Remove { skill: skill.0, example: example.map(|example| example.0) })
        .await?
        .iter()
        .map(|row| row.gone)
        .sum())
}

statement! {
    write RemoveOfSession { session: Uuid } -> (),
    "-- examples.remove_of_session
    with gone as (
        delete from skill_examples e where e.tenant_id = $1 and e.user_id = $2 and e.session_id = $3
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)"
}

/// Removes the examples learned in a session that has become tainted. This is a separate statement after the lock. So
/// a concurrent transaction that learns from the session has either ended, or will see the taint.
pub fn remove_of_session(tx: &mut WriteTx, session: SessionId) {
    tx.lock_user();
    tx.send_ahead(RemoveOfSession { session: session.0 });
}

statement! {
    write RemoveOfTurn { session: Uuid } -> (),
    "-- examples.remove_of_turn
    with gone as (
        delete from skill_examples e using sessions s
        where e.tenant_id = $1 and e.user_id = $2 and s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3
          and not e.is_counter
          and ((e.session_id, e.turn) = (s.session_id, s.turns)
               or (e.confirmed_in, e.confirmed_turn) = (s.session_id, s.turns))
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)"
}

/// Removes the examples that were learned or confirmed in a session's last turn, because the user corrected the
/// agent. Counter-examples stay, because they agree with the user. The caller must have locked the user's catalogue
/// row.
pub(crate) fn remove_of_turn(tx: &mut WriteTx, session: SessionId) {
    tx.send_ahead(RemoveOfTurn { session: session.0 });
}

statement! {
    write HandOver { from: Uuid, to: Uuid, same_up_to: f64 } -> (),
    "-- examples.hand_over
    with doubled as materialized (
        select e.example_id
        from skill_examples e
        join skill_examples o on o.tenant_id = $1 and o.user_id = $2 and o.skill_id = $4
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3
          and (o.message_digest = e.message_digest or coalesce(
               case when o.model = e.model and vector_dims(o.embedding::vector) = vector_dims(e.embedding::vector)
                    then o.embedding <=> e.embedding end <= $5, false))
    ), moved as (
        update skill_examples e set skill_id = $4
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and not e.is_counter
          and not exists (select from doubled d where d.example_id = e.example_id)
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from moved)"
}

/// Moves the examples of a skill to the skill that absorbs it. Examples that have an equivalent there are not moved.
/// If there are too many, the most recently confirmed examples of both skills stay. Counter-examples are not moved,
/// because a message that `from` did not apply to may be an example for `to`.
pub fn hand_over(tx: &mut WriteTx, from: SkillId, to: SkillId, same_up_to: f64) {
    tx.lock_user();
    tx.send_ahead(HandOver { from: from.0, to: to.0, same_up_to });
    evict(tx);
}
