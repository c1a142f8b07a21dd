//! Adds the example or counter-example that follows from a use, and removes examples that a later report contradicts.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SessionId, SkillId, new_id};
use pgvector::HalfVector;
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// The message of a session's current turn, which may become an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    pub session: SessionId,
    /// Number of the turn that the message belongs to.
    pub turn: i32,
    /// The first 2,000 characters of the user's message.
    pub message: String,
}

statement! {
    read FindLesson { session: String, since: DateTime<Utc>, named: Vec<String> } -> Lesson,
    "-- examples.find_lesson (the function reads rows of the caller alone)
    select l.session_id as session_id, l.turn as turn, l.message as message
    from app.current_lesson($3, $4) l
    where not exists (select from unnest($5::text[]) n where app.is_tainted(n))
      and $1::uuid is not null and $2::uuid is not null"
}

/// Returns the lesson of the session that a caller names by id or key. Returns `None` in three cases:
/// - the session has no turn since `since`
/// - the session is tainted
/// - one of `named`, the other sessions named by the request, is tainted or unknown
///
/// # Errors
/// `Unavailable`.
pub async fn find_lesson(
    tx: &mut WriteTx,
    session: &str,
    named: &[&str],
    since: DateTime<Utc>,
) -> Result<Option<Lesson>> {
    let named = named.iter().map(|name| (*name).to_owned()).collect();
    Ok(tx.read(FindLesson { session: session.to_owned(), since, named }).await?.into_iter().next())
}

/// A message for an example or a counter-example of a skill.
#[derive(Debug, Clone, Copy)]
pub struct NewExample<'a> {
    pub skill: SkillId,
    /// Whether the skill did not apply.
    pub is_counter: bool,
    /// The session that the message belongs to.
    pub session: SessionId,
    /// Number of the turn that the message belongs to.
    pub turn: i32,
    /// The stored part of the message.
    pub message: &'a str,
    /// SHA-256 of the stored part.
    pub digest: [u8; 32],
    /// The vector of the message and its model, if it is cached.
    pub embedding: Option<(&'a str, &'a [f32])>,
    /// Largest cosine distance at which two examples count as equivalent.
    pub same_up_to: f64,
    /// Task of the job that computes vectors; `None` if no job is enqueued for an example without a vector.
    pub task: Option<&'a str>,
    /// Time at which the example is learned.
    pub now: DateTime<Utc>,
}

row! { struct ExampleMadeRow { made: bool } }

// The result depends on the number of jobs. Otherwise Postgres would not evaluate the expression that enqueues them.
// `made` depends on `contradicted`, because the same message must be deleted before it is inserted.
statement! {
    write Learn {
        skill: Uuid, session: Uuid, turn: i32, example_id: Uuid, message: String, digest: Vec<u8>, model: Option<String>,
        embedding: Option<HalfVector>, same_up_to: f64, task: Option<String>, now: DateTime<Utc>, is_counter: bool,
    } -> ExampleMadeRow,
    "-- examples.learn
    with allowed as materialized (
        select k.skill_id
        from skills k
        join sessions s on s.tenant_id = $1 and s.user_id = $2 and s.session_id = $4 and s.tainted_by = '{}'
        where k.tenant_id = $1 and k.user_id = $2 and k.skill_id = $3
          and ($14 or not exists (select from failed_lessons f
                                  where f.tenant_id = $1 and f.user_id = $2 and f.session_id = $4 and f.turn = $5
                                    and f.skill_id = $3)
                  and not exists (select from session_feedback j
                                  where j.tenant_id = $1 and j.user_id = $2 and j.session_id = $4 and j.turn = $5
                                    and j.kind in ('correction', 'thumbs_down')))
    ), compared as materialized (
        select e.example_id, e.is_counter, e.message_digest = $8 as is_same,
               case when e.model = $9 and vector_dims(e.embedding::vector) = vector_dims($10::halfvec::vector)
                    then e.embedding <=> $10::halfvec end as distance
        from allowed, skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3
    ), contradicted as (
        delete from skill_examples e using compared c
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = c.example_id and c.is_counter <> $14
          and (c.is_same or c.distance <= $11)
        returning e.example_id
    ), known as (
        select example_id from compared
        where is_counter = $14 and (is_same or distance <= $11)
        order by is_same desc, distance
        limit 1
    ), confirmed as (
        update skill_examples e
        set confirmed_at = greatest(e.confirmed_at, $13), confirmations = e.confirmations + 1, confirmed_in = $4,
            confirmed_turn = $5
        from known
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = known.example_id
          and (e.confirmed_in, e.confirmed_turn) is distinct from ($4::uuid, $5::integer)
    ), made as (
        insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, session_id, turn,
            confirmed_in, confirmed_turn, model, embedding, learned_at, confirmed_at, is_counter)
        select $1, $2, skill_id, $6, $7, $8, $4, $5, $4, $5, $9::text, $10::halfvec, $13, $13, $14
        from allowed
        where not exists (select from known) and (select count(*) from contradicted) >= 0
        returning model
    ), catalog as (
        update user_catalogs c set examples_revision = c.examples_revision + 1
        where c.tenant_id = $1 and c.user_id = $2
          and (exists (select from made where model is not null) or exists (select from contradicted))
    ), enqueued as (
        select count(app.enqueue($12, '{}', 'all')) as jobs from made where made.model is null and $12::text is not null
    )
    select exists (select from made) and jobs >= 0 as made from enqueued"
}

/// Adds an example or a counter-example, or confirms an equivalent one, once per turn. The last report wins: a new
/// counter-example replaces an equivalent example, and a new example an equivalent counter-example.
///
/// The skill and the session must exist, and the session must not be tainted. Adds no example if the turn was
/// corrected, or if the skill failed or did not apply in it. Returns whether the example is new. If so, the caller
/// must call [`evict`](super::evict).
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres rejects.
pub async fn learn(tx: &mut WriteTx, new: &NewExample<'_>) -> Result<bool> {
    tx.lock_user();
    let (model, vector) = new.embedding.unzip();
    let learn = Learn {
        skill: new.skill.0,
        session: new.session.0,
        turn: new.turn,
        example_id: new_id(),
        message: new.message.to_owned(),
        digest: new.digest.to_vec(),
        model: model.map(str::to_owned),
        embedding: vector.map(HalfVector::from_f32_slice),
        same_up_to: new.same_up_to,
        task: new.task.map(str::to_owned),
        now: new.now,
        is_counter: new.is_counter,
    };
    Ok(tx.write(learn).await?.iter().any(|row| row.made))
}

statement! {
    write Unlearn { skill: Uuid, session: String, is_inapplicable: bool } -> (),
    "-- examples.unlearn
    with lesson as materialized (
        select s.session_id, s.turns as turn from sessions s
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = app.find_session($4) and s.turns > 0
    ), failed as (
        insert into failed_lessons as f (tenant_id, user_id, session_id, turn, skill_id, failed, inapplicable)
        select $1, $2, session_id, turn, $3, not $5, $5 from lesson
        on conflict (tenant_id, user_id, session_id, turn, skill_id) do update
        set failed = f.failed or excluded.failed, inapplicable = f.inapplicable or excluded.inapplicable
        where (f.failed, f.inapplicable) <> (f.failed or excluded.failed, f.inapplicable or excluded.inapplicable)
    ), gone as (
        delete from skill_examples e using lesson l
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and not e.is_counter
          and ((e.session_id, e.turn) = (l.session_id, l.turn)
               or (e.confirmed_in, e.confirmed_turn) = (l.session_id, l.turn))
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)"
}

/// Records that a skill failed in the current turn of the caller's session. Removes the examples that the skill
/// learned or had confirmed in that turn. The skill learns no further example in that turn.
pub fn fail(tx: &mut WriteTx, skill: SkillId, session: &str) {
    unlearn(tx, skill, session, false);
}

/// Records that a skill did not apply in the current turn, with the same effect on examples as `fail`. If a success
/// is reported in that turn later, `unmark_inapplicable` withdraws the record.
pub fn mark_inapplicable(tx: &mut WriteTx, skill: SkillId, session: &str) {
    unlearn(tx, skill, session, true);
}

fn unlearn(tx: &mut WriteTx, skill: SkillId, session: &str, is_inapplicable: bool) {
    tx.lock_user();
    tx.send_ahead(Unlearn { skill: skill.0, session: session.to_owned(), is_inapplicable });
}

statement! {
    write UnmarkInapplicable { skill: Uuid, session: Uuid, turn: i32 } -> (),
    "-- examples.unmark_inapplicable
    with unmarked as (
        update failed_lessons f set inapplicable = false
        where f.tenant_id = $1 and f.user_id = $2 and f.session_id = $4 and f.turn = $5 and f.skill_id = $3
          and f.inapplicable and f.failed
        returning f.turn
    ), removed as (
        delete from failed_lessons f
        where f.tenant_id = $1 and f.user_id = $2 and f.session_id = $4 and f.turn = $5 and f.skill_id = $3
          and f.inapplicable and not f.failed
        returning f.turn
    ), gone as (
        delete from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and e.is_counter
          and (exists (select from unmarked) or exists (select from removed))
          and ((e.session_id, e.turn) = ($4, $5) or (e.confirmed_in, e.confirmed_turn) = ($4, $5))
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2 and exists (select from gone)"
}

/// Withdraws the record that a skill did not apply in a turn, because a success was reported in that turn. A recorded
/// failure in the turn stays.
pub fn unmark_inapplicable(tx: &mut WriteTx, skill: SkillId, session: SessionId, turn: i32) {
    tx.lock_user();
    tx.send_ahead(UnmarkInapplicable { skill: skill.0, session: session.0, turn });
}
