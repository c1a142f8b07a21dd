//! Merges several skills into one. The merged skills are archived, and their names redirect to the resulting skill.

use std::collections::BTreeSet;

use knowhow_domain::ChangeKind;
use knowhow_domain::learning::dream::Merged;
use knowhow_store::WriteTx;

use super::halt::{Applied, conflict, refuse};
use super::{Applying, LockedSkill, absorb, change, check_room, lock, open_at, refuse_taint, write_made};
use crate::Ctx;
use crate::change::Successor;
use crate::learning::dream::journal::JournalStep;

pub(super) struct Merge<'a> {
    pub(super) into: &'a str,
    pub(super) sources: &'a [Merged],
}

/// Merges skills. All checks run before the first write.
pub(super) async fn merge(
    ctx: &Ctx,
    tx: &mut WriteTx,
    of: &Applying<'_>,
    merge: Merge<'_>,
) -> Applied<Vec<JournalStep>> {
    let Merge { into, sources } = merge;
    let names: BTreeSet<&str> =
        std::iter::once(into).chain(sources.iter().map(|source| source.name.as_str())).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let mut found = lock(tx, names.iter().copied()).await?;
    let mut take = |name: &str| names.iter().position(|known| *known == name).and_then(|at| found[at].take());
    let target = take(into);
    let version_of = |name: &str| sources.iter().find(|source| source.name == name).map(|source| source.version);
    let target = match (target, version_of(into)) {
        (Some(target), Some(version)) => Some(open_at(Some(target), into, version)?),
        (Some(_), None) => return conflict(format!("a skill '{into}' exists by now")),
        (None, Some(_)) => return conflict(format!("'{into}' was deleted")),
        (None, None) => None,
    };
    let mut leaving = Vec::new();
    for Merged { name, version } in sources.iter().filter(|source| source.name != into) {
        let source = open_at(take(name), name, *version)?;
        if !source.skill.resources.is_empty() {
            return refuse(format!("'{name}' has files other than SKILL.md, which a merge would lose"));
        }
        refuse_taint(of, &source)?;
        leaving.push(source);
    }
    check_room(ctx, tx, into, &target.iter().chain(&leaving).collect::<Vec<_>>()).await?;
    let mut steps = Vec::new();
    let union = match target {
        Some(current) => {
            let id = current.skill.id;
            steps.push(change(ctx, tx, of, LockedSkill { kind: ChangeKind::Merge, current }).await?);
            Successor { id, name: into.to_owned() }
        }
        None => {
            let made = write_made(ctx, tx, of, ChangeKind::Merge).await?;
            let union = Successor { id: made.skill, name: made.name.clone() };
            steps.push(JournalStep::Made(made));
            union
        }
    };
    for source in &leaving {
        steps.push(absorb(ctx, tx, source, &union).await?);
    }
    Ok(steps)
}
