//! Offers of newer starter texts to users who changed the starter: inputs to the merge, and its outcome.

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Result, SubmissionId, new_id};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// A starter that the user changed and that has a newer text.
#[derive(Debug, Clone)]
pub struct Outdated {
    pub name: String,
    /// The text that was installed, the common base of the merge.
    pub base: String,
    /// The user's current text.
    pub own: String,
    /// SHA-256 of the user's text.
    pub own_digest: Vec<u8>,
    /// The newer text, from the user's release.
    pub newer: String,
    /// SHA-256 of the newer text.
    pub newer_digest: Vec<u8>,
}

row! { Outdated { name: String, base: String, own: String, own_digest: Vec<u8>, newer: String, newer_digest: Vec<u8> } }

statement! {
    read ListOutdated {} -> Outdated,
    "-- starter_offers.list_outdated
    select s.name, convert_from(g.document, 'UTF8') as base, convert_from(r.content, 'UTF8') as own,
           s.document_digest as own_digest, convert_from(t.document, 'UTF8') as newer, t.document_digest as newer_digest
    from user_catalogs c
    join starter_releases b on b.release = c.starters_release
    join starter_texts t on t.starter_id = b.starter_id
    join starter_installs i on i.tenant_id = $1 and i.user_id = $2 and i.name = t.name
    join skills s on s.tenant_id = $1 and s.user_id = $2 and s.name = t.name and s.starter_id is null
    cross join lateral (
        select f.content from skill_resources f
        where f.tenant_id = $1 and f.user_id = $2 and f.digest = s.document_digest offset 0) r
    cross join lateral (
        select x.document from starter_texts x where x.name = t.name and x.document_digest = i.document_digest limit 1) g
    where c.tenant_id = $1 and c.user_id = $2 and c.starters_at is null and i.document_digest <> t.document_digest
      and s.document_digest not in (i.document_digest, t.document_digest)
      and i.offered_digest is distinct from t.document_digest
    order by s.name"
}

/// Lists changed starters with a newer text in the user's release, if that text was not offered yet.
pub async fn list_outdated(db: &Database, principal: &Principal) -> Result<Vec<Outdated>> {
    read(db, principal, ListOutdated {}).await
}

statement! {
    write NoteOffer {
        name: String, newer: Vec<u8>, submission: Option<Uuid>, submitter: &'static str, now: DateTime<Utc>, audit_id: Uuid,
    } -> (),
    "-- starter_offers.note
    with noted as (
        update starter_installs set offered_digest = $4 where tenant_id = $1 and user_id = $2 and name = $3
    ), outdated as (
        update submissions s set state = 'stale', comment = 'a newer text of this starter is offered', decided_at = $7
        where s.tenant_id = $1 and s.user_id = $2 and s.name = $3 and s.submitter = $6 and s.state in ('checking', 'needs_review')
          and s.submission_id is distinct from $5
        returning s.submission_id
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
    select $1, $2, $8, $7, $6, 'submission.stale', $3, jsonb_build_object('submissions', jsonb_agg(submission_id))
    from outdated having count(*) > 0"
}

/// An offer that was made, or turned out to be unnecessary.
#[derive(Debug, Clone, Copy)]
pub struct StarterOffer<'a> {
    pub name: &'a str,
    /// SHA-256 of the newer text.
    pub newer: &'a [u8],
    /// Submission of the offer, if one is pending.
    pub submission: Option<SubmissionId>,
    /// Stored name of the author under which offers are submitted.
    pub submitter: &'static str,
    pub now: DateTime<Utc>,
}

/// Records the offer together with COMMIT, so that it is not repeated. Earlier pending offers for the skill become
/// stale.
pub fn note(tx: &mut WriteTx, offered: StarterOffer<'_>) {
    let StarterOffer { name, newer, submission, submitter, now } = offered;
    tx.send_ahead(NoteOffer {
        name: name.to_owned(),
        newer: newer.to_vec(),
        submission: submission.map(|id| id.0),
        submitter,
        now,
        audit_id: new_id(),
    });
}

statement! {
    write NoteMerged { name: String } -> (),
    "-- starter_offers.note_merged
    update starter_installs set document_digest = coalesce(offered_digest, document_digest)
    where tenant_id = $1 and user_id = $2 and name = $3"
}

/// Records that the user accepted or dismissed the offer, together with COMMIT. The next merge is based on the
/// offered text.
pub fn note_merged(tx: &mut WriteTx, name: &str) {
    tx.send_ahead(NoteMerged { name: name.to_owned() });
}

statement! {
    write OfferAgain { name: String, task: &'static str, later: bool } -> (),
    "-- starter_offers.offer_again
    with again as (
        update starter_installs set offered_digest = null
        where tenant_id = $1 and user_id = $2 and name = $3
        returning name
    )
    select count(app.enqueue($4, '{}', 'all', true)) as jobs from again where $5"
}

/// Enqueues a new offer of the newer text, together with COMMIT.
pub fn offer_again(tx: &mut WriteTx, name: &str) {
    tx.send_ahead(OfferAgain { name: name.to_owned(), task: task::OFFER_MERGES, later: true });
}

/// Forgets that the newer text was offered, together with COMMIT, so that the caller can offer it again.
pub fn forget_offer(tx: &mut WriteTx, name: &str) {
    tx.send_ahead(OfferAgain { name: name.to_owned(), task: task::OFFER_MERGES, later: false });
}

row! { struct GivenRow { document: String } }

statement! {
    read FindGiven { name: String } -> GivenRow,
    "-- starter_offers.find_given
    select convert_from(t.document, 'UTF8') as document
    from starter_installs i join starter_texts t on t.name = i.name and t.document_digest = i.document_digest
    where i.tenant_id = $1 and i.user_id = $2 and i.name = $3
    limit 1"
}

/// Returns the installed text of a starter.
pub async fn find_given(tx: &mut WriteTx, name: &str) -> Result<Option<String>> {
    Ok(tx.read(FindGiven { name: name.to_owned() }).await?.pop().map(|row| row.document))
}
