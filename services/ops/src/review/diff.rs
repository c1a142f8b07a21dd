//! What a submission changes, as a reviewer reads it.

use std::fmt::Write;

use knowhow_domain::Result;
use knowhow_domain::inert::is_invisible;
use knowhow_store::submissions::{self, Undecided};
use knowhow_store::{WriteTx, versions};
use uuid::Uuid;

use crate::skills::compare::{Proposal, StateToCompare, compare_proposal};
use crate::{Ctx, compute};

/// Reads a submission with its text, and compares that with the state that it was made from.
pub(super) async fn read(ctx: &Ctx, id: Uuid) -> Result<(Undecided, String)> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.read").await?;
    let proposed = submissions::read_undecided(&mut tx, id).await?;
    let base = match proposed.skill {
        Some(skill) => versions::find(&mut tx, skill, proposed.submission.base_version).await?,
        None => None,
    };
    let old = match base {
        Some(base) => StateToCompare {
            label: format!("version {}", proposed.submission.base_version),
            document: base.document,
            resources: base.resources,
        },
        None => StateToCompare { label: "nothing".into(), document: String::new(), resources: Vec::new() },
    };
    let state = StateToCompare {
        label: "proposed".into(),
        document: proposed.document.clone().unwrap_or_default(),
        resources: proposed.resources.clone(),
    };
    let new = Proposal { state, files: &proposed.files };
    let compared = compare_proposal(&mut tx, old, new).await?;
    tx.commit().await?;
    let diff = compute(move || Ok(show_invisible(&compared.compare().text))).await?;
    Ok((proposed, diff))
}

/// Writes characters that nobody sees as their code points, so that a reviewer does.
fn show_invisible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if is_invisible(c) || c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
            _ => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_written_out() {
        assert_eq!(show_invisible("a\u{200b}b\r\n\tc\u{e0041}"), "a<U+200B>b<U+000D>\n\tc<U+E0041>");
    }
}
