//! The vectors of examples: reads all of them for recall, and stores one.

use knowhow_domain::learning::lesson::EXAMPLES_PER_USER;
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct ExamplesRevisionRow { examples_revision: i64 } }

row! { struct VectorRow { skill_id: Uuid, embedding: Vec<f32>, is_counter: bool } }

// The revision is read in the same statement, so it belongs to these rows. A user without examples has a single row
// with only the revision.
statement! {
    read ListVectors<'a> { model: &'a str, most: i64 } -> (ExamplesRevisionRow, Option<VectorRow>),
    "-- examples.list_vectors
    select c.examples_revision, e.skill_id, e.embedding::vector::real[] as embedding, e.is_counter
    from user_catalogs c
    left join skill_examples e on e.tenant_id = $1 and e.user_id = $2 and e.model = $3
    where c.tenant_id = $1 and c.user_id = $2
    order by e.confirmed_at desc
    limit $4"
}

/// The learned vectors of a user's skills, at one revision.
#[derive(Debug, Clone, Default)]
pub struct LearnedVectors {
    pub revision: i64,
    /// The vectors of examples with their skills, the most recently confirmed first.
    pub examples: Vec<(SkillId, Vec<f32>)>,
    /// The vectors of counter-examples with their skills, in the same order.
    pub counter_examples: Vec<(SkillId, Vec<f32>)>,
}

/// Returns the vectors that `model` made of a user's examples.
///
/// # Errors
/// `Unavailable`.
pub async fn list_vectors(db: &Database, principal: &Principal, model: &str) -> Result<LearnedVectors> {
    let mut learned = LearnedVectors::default();
    for (ExamplesRevisionRow { examples_revision }, vector) in
        read(db, principal, ListVectors { model, most: EXAMPLES_PER_USER as i64 }).await?
    {
        learned.revision = examples_revision;
        let Some(row) = vector else { continue };
        let list = if row.is_counter { &mut learned.counter_examples } else { &mut learned.examples };
        list.push((SkillId(row.skill_id), row.embedding));
    }
    Ok(learned)
}

// If an example is equivalent to another one of its skill, it is deleted and confirms the other one. An example that
// was deleted in the meantime gets no vector. If an example and a counter-example are equivalent, the most recently
// confirmed one stays.
statement! {
    write PutVector { example: Uuid, model: String, embedding: Vec<f32>, same_up_to: f64 } -> (),
    "-- examples.put_vector
    with given as (
        select $5::real[]::vector::halfvec as embedding
    ), own as materialized (
        select e.skill_id, e.is_counter, e.confirmed_at, e.confirmations, e.confirmed_in, e.confirmed_turn
        from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3
    ), compared as materialized (
        select e.example_id, e.is_counter = own.is_counter as agrees, e.confirmed_at > own.confirmed_at as is_later,
               case when e.model = $4 and vector_dims(e.embedding::vector) = vector_dims(given.embedding::vector)
                    then e.embedding <=> given.embedding end as distance
        from own cross join given
        join skill_examples e on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = own.skill_id
        where e.example_id <> $3
    ), known as materialized (
        select example_id from compared where distance <= $6 and agrees order by distance limit 1
    ), later as materialized (
        select example_id from compared where distance <= $6 and not agrees and is_later limit 1
    ), contradicted as (
        delete from skill_examples e using compared c
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = c.example_id and c.distance <= $6 and not c.agrees
          and not c.is_later
        returning e.example_id
    ), confirmed as (
        update skill_examples e
        set confirmations = e.confirmations + own.confirmations,
            confirmed_at = greatest(e.confirmed_at, own.confirmed_at),
            confirmed_in = case when own.confirmed_at > e.confirmed_at then own.confirmed_in else e.confirmed_in end,
            confirmed_turn = case when own.confirmed_at > e.confirmed_at then own.confirmed_turn
                                  else e.confirmed_turn end
        from known, own
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = known.example_id
          and not exists (select from later)
    ), doubled as (
        delete from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3
          and (exists (select from known) or exists (select from later))
        returning e.example_id
    ), put as (
        update skill_examples e set model = $4, embedding = given.embedding from given
        where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3
          and not exists (select from known) and not exists (select from later)
        returning e.example_id
    )
    update user_catalogs c set examples_revision = c.examples_revision + 1
    where c.tenant_id = $1 and c.user_id = $2
      and exists (select from put union all select from doubled union all select from contradicted)"
}
