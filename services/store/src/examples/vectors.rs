//! The vectors of examples: for recall, and those that are missing.

use knowhow_domain::Result;
use knowhow_domain::lesson::EXAMPLES_PER_USER;
use pgvector::HalfVector;
use uuid::Uuid;

use crate::error::refuse;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, TenantTx};

row! { struct RevisionRow { examples_revision: i64 } }

row! { struct VectorRow { skill_id: Uuid, embedding: Vec<f32> } }

row! { struct StaleRow { example_id: Uuid, message: String } }

// The revision is read in the same statement, so it is that of the rows. A user without examples has one row of it alone.
statement! {
    read ListVectors<'a> { model: &'a str, most: i64 } -> (RevisionRow, Option<VectorRow>),
    "-- examples.list_vectors
    select c.examples_revision, e.skill_id, e.embedding::vector::real[] as embedding
    from user_catalogs c
    left join skill_examples e on e.tenant_id = $1 and e.user_id = $2 and e.model = $3
    where c.tenant_id = $1 and c.user_id = $2
    order by e.confirmed_at desc
    limit $4"
}

statement! {
    read ListStale<'a> { model: &'a str, after: Uuid, limit: i64 } -> StaleRow,
    "-- examples.list_stale
    select e.example_id, e.message from skill_examples e
    where e.tenant_id = $1 and e.user_id = $2 and e.example_id > $4 and e.model is distinct from $3
    order by e.example_id
    limit $5"
}

/// What a user's skills learned, at one revision.
#[derive(Debug, Clone, Default)]
pub struct LearnedVectors {
    pub revision: i64,
    /// Skills with a vector each, the most recently confirmed first.
    pub vectors: Vec<(Uuid, Vec<f32>)>,
}

/// The vectors by `model` of a user's examples.
///
/// # Errors
/// `Unavailable`.
pub async fn list_vectors(db: &Database, principal: &Principal, model: &str) -> Result<LearnedVectors> {
    let mut learned = LearnedVectors::default();
    for (RevisionRow { examples_revision }, vector) in
        read(db, principal, ListVectors { model, most: EXAMPLES_PER_USER as i64 }).await?
    {
        learned.revision = examples_revision;
        learned.vectors.extend(vector.map(|row| (row.skill_id, row.embedding)));
    }
    Ok(learned)
}

/// Examples behind one that have no vector of this model, in the order of their ids: id and message.
///
/// # Errors
/// `Unavailable`.
pub async fn list_stale(
    db: &Database,
    principal: &Principal,
    model: &str,
    after: Uuid,
    limit: i64,
) -> Result<Vec<(Uuid, String)>> {
    let rows = read(db, principal, ListStale { model, after, limit }).await?;
    Ok(rows.into_iter().map(|row| (row.example_id, row.message)).collect())
}

/// Puts vectors of one model, one after the other. One that says what another example of its skill says goes, and confirms
/// that one; what is gone by now gets none.
///
/// # Errors
/// `Unavailable`; `Internal` for a vector that Postgres does not take.
pub async fn put_vectors(tx: &mut TenantTx, model: &str, vectors: &[(Uuid, Vec<f32>)], same_up_to: f64) -> Result<()> {
    let (tenant, user) = (tx.tenant(), tx.user());
    tx.lock_catalog().await?;
    for (example, vector) in vectors {
        sqlx::query!(
            "-- examples.put_vectors
            with own as materialized (
                select e.skill_id, e.confirmed_at, e.confirmations, e.confirmed_in, e.confirmed_turn
                from skill_examples e
                where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3
            ), compared as materialized (
                select e.example_id,
                       case when e.model = $4 and vector_dims(e.embedding::vector) = vector_dims($5::halfvec::vector)
                            then e.embedding <=> $5::halfvec end as distance
                from own
                join skill_examples e on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = own.skill_id
                where e.example_id <> $3
            ), known as materialized (
                select example_id from compared where distance <= $6 order by distance limit 1
            ), confirmed as (
                update skill_examples e
                set confirmations = e.confirmations + own.confirmations,
                    confirmed_at = greatest(e.confirmed_at, own.confirmed_at),
                    confirmed_in = case when own.confirmed_at > e.confirmed_at then own.confirmed_in else e.confirmed_in end,
                    confirmed_turn = case when own.confirmed_at > e.confirmed_at then own.confirmed_turn
                                          else e.confirmed_turn end
                from known, own
                where e.tenant_id = $1 and e.user_id = $2 and e.example_id = known.example_id
            ), doubled as (
                delete from skill_examples e using known
                where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3
                returning e.example_id
            ), put as (
                update skill_examples e set model = $4, embedding = $5::halfvec
                where e.tenant_id = $1 and e.user_id = $2 and e.example_id = $3 and not exists (select from known)
                returning e.example_id
            )
            update user_catalogs c set examples_revision = c.examples_revision + 1
            where c.tenant_id = $1 and c.user_id = $2
              and exists (select from put union all select from doubled)",
            tenant,
            user,
            example,
            model,
            HalfVector::from_f32_slice(vector) as HalfVector,
            same_up_to
        )
        .execute(tx.conn())
        .await
        .map_err(refuse)?;
    }
    Ok(())
}
