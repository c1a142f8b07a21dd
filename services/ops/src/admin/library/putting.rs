//! Puts a text into the tenant's library, within its bounds: an admin's own, or one that a user shares and an admin approves.

use std::borrow::Cow;

use knowhow_domain::library::{LIBRARY_BYTES, LIBRARY_SKILLS};
use knowhow_domain::{Error, Result, SkillDocument, SkillName};
use knowhow_store::TenantTx;
use knowhow_store::library::{self, LibraryState, NewText};
use knowhow_store::starters::StarterText;
use serde_json::Value;

use crate::Ctx;

/// A text that is to be the library's.
pub(crate) struct Putting<'a> {
    pub(crate) name: &'a SkillName,
    pub(crate) document: &'a SkillDocument,
    /// Who wrote it.
    pub(crate) actor: &'a str,
    /// Who let it in, where that is another.
    pub(crate) approved_by: Option<&'a str>,
    /// More for the audit log: an object.
    pub(crate) detail: Value,
}

/// Makes a text the current one of its name, in a transaction that holds the library at `state`; its version. The same text
/// again makes none.
///
/// # Errors
/// `Invalid` for a frontmatter that hosts do not take as it is; `Quota` where the library is full.
pub(crate) async fn put_in(ctx: &Ctx, tx: &mut TenantTx, putting: &Putting<'_>, state: &LibraryState) -> Result<i32> {
    let Putting { name, document, actor, approved_by, detail } = putting;
    if state.current.is_none() {
        name.require_unreserved()?;
    }
    let served = document.served(name);
    if !matches!(served.text, Cow::Borrowed(_)) {
        let detail = format!(
            "the frontmatter must say name: {} and a description, between lines of ---, so that all hosts read it as it is",
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
        return Err(Error::Quota(format!("the library has {LIBRARY_SKILLS} skills, the limit; remove one")));
    }
    if state.bytes + i64::try_from(document.raw().len()).unwrap_or(i64::MAX) > LIBRARY_BYTES {
        return Err(Error::Quota(format!(
            "the library keeps {} bytes of texts, earlier versions among them, of at most {LIBRARY_BYTES}",
            state.bytes
        )));
    }
    let new = NewText { text, actor, approved_by: *approved_by, detail: detail.clone(), now: ctx.now() };
    library::put(tx, &new, state).await
}
