//! Finds a user's starters if a release has a different text for them, or does not contain them.

use knowhow_domain::Result;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { OutdatedCopy { name: String, document: String } }

/// An unchanged copy of a starter, and its new text in the release.
#[derive(Debug)]
pub struct OutdatedCopy {
    pub name: String,
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

/// Lists starters that have a text of their own equal to the installed text, if the text in the release differs. Such a
/// starter was changed and changed back, got other files, or was shared with the tenant.
pub async fn list_outdated_copies(tx: &mut WriteTx, release: &[u8]) -> Result<Vec<OutdatedCopy>> {
    tx.read(ListOutdatedCopies { release: release.to_vec() }).await
}

row! { struct StarterNameRow { name: String } }

statement! {
    read ListWithdrawn { release: Vec<u8> } -> StarterNameRow,
    "-- starters.list_withdrawn
    select s.name from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.library_id is not null and not s.pinned and not exists (
        select from starter_releases b join starter_texts t on t.starter_id = b.starter_id
        where b.release = $3 and t.name = s.name)
    order by s.name"
}

/// Lists unchanged skills from the tenant's library that the release does not contain, by name. Pinned skills are left
/// out.
pub async fn list_withdrawn(tx: &mut WriteTx, release: &[u8]) -> Result<Vec<String>> {
    let withdrawn = tx.read(ListWithdrawn { release: release.to_vec() }).await?;
    Ok(withdrawn.into_iter().map(|row| row.name).collect())
}
