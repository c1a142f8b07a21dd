//! Writes a text to the tenant's library within its limits: an admin's text, or a text that a user shared and an admin
//! approved.

use std::borrow::Cow;

use knowhow_domain::review::scanner::{self, Scan};
use knowhow_domain::skills::library::{LIBRARY_BYTES, LIBRARY_SKILLS};
use knowhow_domain::{Error, Result, SkillDocument, SkillName};
use knowhow_store::TenantTx;
use knowhow_store::skills::library::{self, LibraryScan, LibraryState, NewText};
use knowhow_store::skills::starters::StarterText;
use serde_json::Value;

use crate::change::scan::{findings_of, rules};
use crate::{Ctx, compute};

/// A text to write to the library.
pub(crate) struct LibraryDraft<'a> {
    pub(crate) name: &'a SkillName,
    pub(crate) document: &'a SkillDocument,
    /// The author of the text.
    pub(crate) actor: &'a str,
    /// The approving admin, if another user is the author.
    pub(crate) approved_by: Option<&'a str>,
    /// Additional members of the audit entry, as an object.
    pub(crate) detail: Value,
    /// The scan of the document.
    pub(crate) scan: &'a Scan,
}

/// Scans a text for attacks.
pub(crate) async fn scan_text(document: &SkillDocument) -> Result<Scan> {
    let raw = document.raw().to_owned();
    compute(move || Ok(scanner::scan(&raw, &[]))).await
}

/// Makes a text the current version of a library skill, in the transaction that locked `state`. Returns the version
/// number. If the text is already current, no version is created.
///
/// # Errors
/// `Invalid` for a frontmatter that hosts could not read unchanged; `Quota` if the library is full.
pub(crate) async fn put_in(
    ctx: &Ctx,
    tx: &mut TenantTx,
    putting: &LibraryDraft<'_>,
    state: &LibraryState,
) -> Result<i32> {
    let LibraryDraft { name, document, actor, approved_by, detail, scan } = putting;
    if state.current.is_none() {
        name.require_unreserved()?;
    }
    let served = document.served(name);
    if !matches!(served.text, Cow::Borrowed(_)) {
        let detail = format!(
            "the frontmatter must contain name: {} and a description, between lines of ---, so that all hosts can \
                read it unchanged",
            name.last_segment()
        );
        return Err(Error::invalid("/skill_md", detail));
    }
    let frontmatter = Value::Object(served.frontmatter);
    let text = StarterText { name, document, frontmatter: &frontmatter };
    if let Some(current) = state.current.as_ref().filter(|current| current.digest == text.digest()) {
        return Ok(current.version);
    }
    if state.current.is_none() && state.skills >= LIBRARY_SKILLS {
        return Err(Error::Quota(format!("the library has {LIBRARY_SKILLS} skills, the limit; remove one first")));
    }
    if state.bytes + i64::try_from(document.raw().len()).unwrap_or(i64::MAX) > LIBRARY_BYTES {
        return Err(Error::Quota(format!(
            "the library stores {} bytes of texts, including earlier versions; the limit is {LIBRARY_BYTES}",
            state.bytes
        )));
    }
    let scan = LibraryScan { rules: rules(), verdict: scan.verdict, findings: findings_of(scan).into() };
    let new = NewText { text, actor, approved_by: *approved_by, detail: detail.clone(), scan, now: ctx.now() };
    library::put(tx, &new, state).await
}
