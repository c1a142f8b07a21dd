//! Finds and locks the skill to change.

use knowhow_domain::Result;
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Locked, SkillKey};

use super::proposal::{SkillChange, Target};
use crate::context::lookup;

/// Finds and locks the target of a change. Returns `None` if no skill has the name of a `Target::Named`, so that the
/// change creates the skill.
pub(crate) async fn lock_target(tx: &mut WriteTx, change: &impl SkillChange) -> Result<Option<Locked>> {
    let additional = change.reads();
    let lock = async |tx: &mut WriteTx, key: &SkillKey| {
        Ok(skills::lock_all(tx, std::slice::from_ref(key), &additional).await?.pop().flatten())
    };
    match change.target() {
        Target::Called(asked, matching) => lookup::find_in(tx, asked, matching, lock).await.map(Some),
        Target::Named(name) => lock(tx, &SkillKey::Name(name.as_str().to_owned())).await,
    }
}
