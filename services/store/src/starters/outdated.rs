//! What a user has of starters that a release has another text of, or has no more.

use knowhow_domain::Result;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { OutdatedCopy { name: String, document: String } }

/// A copy of a starter that says what was given, and the text that the release brings.
#[derive(Debug)]
pub struct OutdatedCopy {
    /// The skill's name.
    pub name: String,
    /// The new SKILL.md.
    pub document: String,
}

statement! {
    read ListOutdatedCopies { release: Vec<u8> } -> OutdatedCopy,
    "-- starters.list_outdated_copies
    select t.name, convert_from(t.document, 'UTF8') as document
    from starter_releases b
    join starter_texts t on t.starter_id = b.starter_id
    join skills s on s.tenant_id = $1 and s.user_id = $2 and s.name = t.name
    join starter_installs i on i.tenant_id = $1 and i.user_id = $2 and i.name = t.name
    where b.release = $3 and s.document_digest = i.document_digest and s.document_digest <> t.document_digest
    order by t.name"
}

/// The starters that have a text of the user's own which is nevertheless the one that was given (it was changed and changed
/// back, has got other files, or was shared with the tenant), where the release brings another.
///
/// # Errors
/// `Unavailable`.
pub async fn list_outdated_copies(tx: &mut WriteTx, release: &[u8]) -> Result<Vec<OutdatedCopy>> {
    tx.read(ListOutdatedCopies { release: release.to_vec() }).await
}

row! { struct NameRow { name: String } }

statement! {
    read ListWithdrawn { release: Vec<u8> } -> NameRow,
    "-- starters.list_withdrawn
    select s.name from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.library_id is not null and not s.pinned and not exists (
        select from starter_releases b join starter_texts t on t.starter_id = b.starter_id
        where b.release = $3 and t.name = s.name)
    order by s.name"
}

/// The names of skills that the user has as the tenant's library gave them, and that the release has no more. Pinned ones
/// stay, as does what the user has changed.
///
/// # Errors
/// `Unavailable`.
pub async fn list_withdrawn(tx: &mut WriteTx, release: &[u8]) -> Result<Vec<String>> {
    let withdrawn = tx.read(ListWithdrawn { release: release.to_vec() }).await?;
    Ok(withdrawn.into_iter().map(|row| row.name).collect())
}
