//! Delete: what a skill has learned, one message or all.

use knowhow_domain::{Error, Result, Scope};
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::{Principal, WriteTx, examples};
use uuid::Uuid;

use crate::skills::lookup::{self, Reach};
use crate::{App, Call};

/// Deletes one example of a skill.
///
/// # Errors
/// `NotFound`, for the skill or the example.
pub async fn delete_example(app: &App, principal: &Principal, call: &Call, skill: &str, example: &str) -> Result<()> {
    // What is no id is nobody's id; whether there is such a skill is said first.
    let id = Uuid::try_parse(example.trim()).unwrap_or_default();
    let gone = remove(app, principal, call, skill, Some(id)).await?;
    if gone == 0 { Err(Error::not_found("example")) } else { Ok(()) }
}

/// Deletes all examples of a skill.
///
/// # Errors
/// `NotFound`.
pub async fn delete_examples(app: &App, principal: &Principal, call: &Call, skill: &str) -> Result<()> {
    remove(app, principal, call, skill, None).await.map(|_| ())
}

async fn remove(app: &App, principal: &Principal, call: &Call, skill: &str, example: Option<Uuid>) -> Result<i64> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let found = lookup::find(app, principal, skill, Reach::Exact, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "examples.delete").await?;
        let gone = call
            .once(app, &mut tx, &("examples.delete", skill, example), async |tx| {
                let (id, _, _) = skills::find(tx, key).await?.ok_or_else(lookup::missing)?;
                examples::remove(tx, id, example).await
            })
            .await?;
        tx.commit().await?;
        Ok(gone)
    })
    .await?;
    Ok(found.item)
}
