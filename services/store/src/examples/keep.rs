//! Keeps examples within their bounds, and removes them.

use knowhow_domain::lesson::{EXAMPLES_PER_SKILL, EXAMPLES_PER_USER};
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

/// Removes what is above the bounds of a skill, which has as many counter-examples as examples, and of a user: what was confirmed
/// longest ago.
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

/// Removes one example of a skill, or all of them; how many went.
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

/// Removes the examples learned in a session that turned out to be tainted. It is a statement of its own behind the
/// lock: a transaction that was learning from the session has ended by then, or will see the taint.
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

/// Removes the examples that were learned or confirmed in a session's last turn, as the user put the agent right; a
/// counter-example says the same as the user. The caller holds the user's catalogue row.
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

/// Gives the examples of a skill to the one that absorbs it: those that say something new there, and of both the most recently
/// confirmed. Counter-examples stay behind: what one skill was not for, the other may be for.
pub fn hand_over(tx: &mut WriteTx, from: SkillId, to: SkillId, same_up_to: f64) {
    tx.lock_user();
    tx.send_ahead(HandOver { from: from.0, to: to.0, same_up_to });
    evict(tx);
}
