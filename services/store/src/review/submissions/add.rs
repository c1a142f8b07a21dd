//! Stores submissions.

mod proposal;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Check, Error, Result, SubmissionId, SubmissionState, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

pub use proposal::{ModelReads, Proposed, Proposing};

use super::checks;
use crate::WriteTx;
use crate::vault::enum_text::Word;
use crate::vault::{row, statement};

/// Maximum number of a user's pending submissions.
pub const MAX_WAITING: i64 = 50;
/// Maximum total size of a user's pending submissions in bytes.
pub const MAX_WAITING_BYTES: i64 = 32 * 1024 * 1024;
/// Time until a pending submission expires, and retention of a decided submission.
const KEPT: TimeDelta = TimeDelta::days(30);

row! {
    struct KnownSubmissionRow {
        waiting: i64, waiting_bytes: i64, submission_id: Option<Uuid>, state: Option<Word<SubmissionState>>,
        comment: Option<String>, checks: Option<Value>,
    }
}

statement! {
    read FindKnown { name: String, result_digest: Option<Vec<u8>>, shares: bool, except: Option<Uuid> } -> KnownSubmissionRow,
    "-- submissions.find_known
    select w.waiting, w.waiting_bytes, l.submission_id, l.state, l.comment, l.checks
    from (select count(*) as waiting, coalesce(sum(s.bytes), 0)::bigint as waiting_bytes from submissions s
          where s.tenant_id = $1 and s.user_id = $2 and s.state in ('checking', 'needs_review')
            and s.submission_id is distinct from $6) w
    left join lateral (
        select s.submission_id, s.state, s.comment, s.checks from submissions s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = $3 and s.result_digest is not distinct from $4
          and (s.kind = 'share') = $5 and s.submission_id is distinct from $6
          and (s.state in ('checking', 'needs_review') or s.state in ('approved', 'rejected') and s.decided_by is not null)
        order by s.submission_id desc limit 1) l on true"
}

/// The user's pending submissions, and an earlier submission with the same result.
pub struct KnownSubmissions {
    /// Number of the user's pending submissions.
    pub waiting: i64,
    /// Total size of the user's pending submissions in bytes.
    pub waiting_bytes: i64,
    /// The last submission with exactly this result, if it is pending or a person decided it.
    pub last: Option<LastDecision>,
}

/// An earlier submission with the same result.
pub struct LastDecision {
    pub id: SubmissionId,
    pub state: SubmissionState,
    /// The reviewer's comment, if there is one.
    pub comment: Option<String>,
    /// Checks of the submission.
    pub checks: Vec<Check>,
}

/// Result of a change, used to find submissions with an equal result.
pub struct SameResult<'a> {
    pub name: &'a str,
    /// Digest of the new state; `None` for a deletion.
    pub digest: Option<&'a [u8]>,
    /// A submission to ignore, because the new one replaces it; `None` if no submission is replaced.
    pub except: Option<SubmissionId>,
}

/// Finds pending submissions, and a submission with an equal result. The user's catalogue row must be locked, so that
/// the numbers stay correct.
pub async fn find_known(tx: &mut WriteTx, same: SameResult<'_>) -> Result<KnownSubmissions> {
    let SameResult { name, digest, except } = same;
    let result_digest = digest.map(<[u8]>::to_vec);
    find_known_of(tx, FindKnown { name: name.to_owned(), result_digest, shares: false, except: except.map(|id| id.0) })
        .await
}

/// Finds pending submissions, and a share with an equal result. A decision about sharing a text with the tenant does
/// not count for a change to the user's own skills, and vice versa.
pub async fn find_known_share(tx: &mut WriteTx, name: &str, digest: &[u8]) -> Result<KnownSubmissions> {
    let (name, result_digest) = (name.to_owned(), Some(digest.to_vec()));
    find_known_of(tx, FindKnown { name, result_digest, shares: true, except: None }).await
}

async fn find_known_of(tx: &mut WriteTx, asked: FindKnown) -> Result<KnownSubmissions> {
    let row = tx.read(asked).await?.pop().ok_or_else(|| Error::internal("a count without a row"))?;
    let last = match (row.submission_id, row.state, row.checks) {
        (Some(of), Some(Word(state)), Some(stored)) => {
            Some(LastDecision { id: SubmissionId(of), state, comment: row.comment, checks: checks(stored)? })
        }
        _ => None,
    };
    Ok(KnownSubmissions { waiting: row.waiting, waiting_bytes: row.waiting_bytes, last })
}

row! { struct AddedSubmissionRow { tainted: bool, tainted_in: Vec<String>, tainted_by: Vec<String> } }

statement! {
    write AddSubmission {
        id: Uuid, skill_id: Option<Uuid>, name: String, kind: &'static str, source: String, submitter: String,
        session: Option<String>, reason: Option<String>, base_version: i32, base_digest: Option<Vec<u8>>,
        result_digest: Option<Vec<u8>>, document: Option<String>, resources: Value, pinned: Option<bool>,
        request_digest: Option<Vec<u8>>, derived: bool, successor: Option<Uuid>, successor_name: Option<String>,
        checks: Value, bytes: i64, now: DateTime<Utc>, expires_at: DateTime<Utc>, digests: Vec<Vec<u8>>,
        files: Vec<Vec<u8>>, named: Vec<String>, brought: Option<Vec<String>>, audit_id: Uuid, model_decides: bool,
    } -> AddedSubmissionRow,
    "-- submissions.add
    with base as materialized (
        select s.tainted, v.tainted_in, v.tainted_by, coalesce(t.document, r.content) as document,
               array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements(s.resources) e)
                   || coalesce(s.document_digest, t.document_digest) as files
        from skills s
        join skill_versions v on v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = s.version
        left join starter_texts t on t.starter_id = s.starter_id
        left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4
    ), past as materialized (
        select v.tainted_in, v.tainted_by from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $4 and v.digest = $13 and v.tainted
        limit 1
    ), weighed as materialized (
        select w.* from (select 1) one
        left join base b on true
        left join past p on true
        cross join lateral (select coalesce(b.tainted and $18, false) as is_kept) from_text
        cross join lateral app.weigh($27,
            is_kept or p.tainted_in is not null or p.tainted_by is not null or $28::text[] is not null,
            app.merge_some(case when is_kept then b.tainted_in end, p.tainted_in),
            app.merge_some(app.merge_some(case when is_kept then b.tainted_by end, p.tainted_by), $28::text[]),
            array[convert_to(coalesce($14, ''), 'UTF8')] || $26::bytea[],
            array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements($15::jsonb) e),
            case when not b.tainted then b.document end, case when not b.tainted then b.files end,
            -- The passages of an earlier version are stored already, without those of its clean base.
            case when p.tainted_in is null then $3::uuid end, 0) w
    ), added as (
        insert into submissions (tenant_id, user_id, submission_id, skill_id, name, kind, state, source, submitter, session,
            reason, base_version, base_digest, result_digest, document, resources, pinned, request_digest, derived,
            successor_id, successor_name, tainted, tainted_in, tainted_by, checks, bytes, created_at, expires_at)
        select $1, $2, $3, $4, $5, $6, case when $30 and not w.tainted then 'checking' else 'needs_review' end, $7, $8, $9,
               $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, w.tainted, w.tainted_in, w.tainted_by, $21, $22, $23, $24
        from weighed w
        returning tainted, tainted_in, tainted_by
    ), files as (
        insert into submission_files (tenant_id, user_id, submission_id, digest, content)
        select distinct on (f.digest) $1, $2, $3::uuid, f.digest, f.content
        from unnest($25::bytea[], $26::bytea[]) as f (digest, content), added
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'submission', $3, 0 from added, weighed w, unnest(w.sessions) s
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $29, $23, $8, 'submission.add', $5, jsonb_build_object('submission', $3, 'kind', $6), $12, $13 from added
    )
    select tainted, tainted_in, tainted_by from added"
}

statement! {
    write EnqueueReview { id: Uuid, task: &'static str } -> (),
    "-- submissions.enqueue_review
    select app.enqueue($4, jsonb_build_object('submission_id', s.submission_id), s.submission_id::text, true)
    from submissions s
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3"
}

statement! {
    write EnqueueNotice { id: Uuid, task: &'static str } -> (),
    "-- submissions.enqueue_notice
    select app.enqueue($4, jsonb_build_object('submission_id', s.submission_id), s.submission_id::text, true)
    from submissions s
    join webhooks w on w.tenant_id = $1
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3 and s.state = 'needs_review'"
}

/// Queues a notice about a submission to the tenant's webhook, together with COMMIT. Has no effect unless the tenant
/// has a webhook and the submission waits for a person.
pub fn notify_reviewers(tx: &mut WriteTx, id: SubmissionId) {
    tx.send_ahead(EnqueueNotice { id: id.0, task: task::NOTIFY_SUBMISSION });
}

/// Stores a pending submission and returns its id. If the submission is tainted, also returns the sessions that taint
/// it and the sources of the taint.
pub async fn add(tx: &mut WriteTx, new: &Proposing<'_>) -> Result<(SubmissionId, Option<(Vec<String>, Vec<String>)>)> {
    let id = new_id();
    let Proposed { document, resources, new_files, .. } = new.result;
    let result_digest = document.map(|text| manifest::state_digest(&manifest::digest(text.as_bytes()), resources));
    let bytes = document.map_or(0, str::len) + new_files.iter().map(Vec::len).sum::<usize>();
    let owned = |words: &[String]| words.to_vec();
    let add = AddSubmission {
        id,
        skill_id: new.skill.map(|skill| skill.0),
        name: new.name.to_owned(),
        kind: new.kind.as_str(),
        source: new.source.to_owned(),
        submitter: new.submitter.map_or_else(|| tx.actor(), str::to_owned),
        session: new.session.map(str::to_owned),
        reason: new.reason.map(str::to_owned),
        base_version: new.base.map_or(0, |(version, _)| version),
        base_digest: new.base.map(|(_, digest)| digest.to_vec()),
        result_digest: result_digest.map(Vec::from),
        document: document.map(str::to_owned),
        resources: json!(resources),
        pinned: new.result.pinned,
        request_digest: new.result.request_digest.map(Vec::from),
        derived: new.result.derived,
        successor: new.result.successor.map(|(skill, _)| skill.0),
        successor_name: new.result.successor.map(|(_, name)| name.to_owned()),
        checks: json!(new.checks),
        bytes: i64::try_from(bytes).map_err(Error::internal)?,
        now: new.now,
        expires_at: new.now + KEPT,
        digests: new_files.iter().map(|file| manifest::digest(file).to_vec()).collect(),
        files: new_files.to_vec(),
        named: new.named.iter().map(|name| (*name).to_owned()).collect(),
        brought: new.result.brought.map(owned),
        audit_id: new_id(),
        model_decides: new.model == ModelReads::AndDecides,
    };
    let added = tx.write(add).await?.pop().ok_or_else(|| Error::internal("a submission that was not written"))?;
    if new.model != ModelReads::Nothing {
        tx.send_ahead(EnqueueReview { id, task: task::REVIEW_SUBMISSION });
    }
    Ok((SubmissionId(id), added.tainted.then_some((added.tainted_in, added.tainted_by))))
}
