//! A turn as it is kept: what the skills' texts say in its answer is left out, with a reference to where they are stored. Read
//! again, it is the same bytes, or it is refused.

use std::collections::HashMap;

use knowhow_domain::prompt::PrintedBody;
use knowhow_domain::{Error, Result, manifest};
use knowhow_store::sessions::KeptTurn;
use knowhow_store::skills;
use serde::{Deserialize, Serialize};

use super::view::{ActiveView, TurnAnswer};
use crate::Ctx;

/// Where the text of a body is: in the SKILL.md of this digest (hex), so many bytes from there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BodyAt {
    /// SHA-256 of the SKILL.md, hex.
    pub(super) document: String,
    /// The byte where the body begins.
    pub(super) from: usize,
    /// Bytes of it that the turn brought.
    pub(super) bytes: usize,
}

/// A body that a turn brings: where its text is stored, and the text as it is printed.
pub(super) struct GivenBody {
    pub(super) at: BodyAt,
    pub(super) printed: PrintedBody,
}

impl BodyAt {
    fn read<'a>(&self, documents: &'a HashMap<String, String>) -> Option<&'a str> {
        documents.get(&self.document)?.get(self.from..self.from.checked_add(self.bytes)?)
    }
}

#[derive(Serialize, Deserialize)]
struct Packed {
    /// Without its bodies and its text.
    answer: TurnAnswer,
    /// Of the active skills, then of the relevant ones that came with theirs.
    bodies: Vec<BodyAt>,
    /// What stands in the text before, between and behind the bodies,
    between: Vec<String>,
    /// and which of them stands where.
    printed: Vec<usize>,
}

/// An answer to keep: what is stored of it, and the digest of the whole where something was left out.
pub(super) struct ToKeep {
    pub(super) stored: String,
    pub(super) digest: Option<[u8; 32]>,
}

/// Leaves the bodies of skills out of an answer whose bytes are `whole`. Keeps the whole answer if the same bytes could
/// not be made again from the rest.
pub(super) fn pack(mut answer: TurnAnswer, whole: &str, bodies: Vec<GivenBody>) -> Result<ToKeep> {
    let all = || ToKeep { stored: whole.to_owned(), digest: None };
    if bodies.is_empty() {
        return Ok(all());
    }
    let (bodies, printed): (Vec<BodyAt>, Vec<PrintedBody>) =
        bodies.into_iter().map(|body| (body.at, body.printed)).unzip();
    let contents: Vec<String> = contents(&mut answer).map(std::mem::take).collect();
    let text = std::mem::take(&mut answer.text);
    let order = printed_order(&answer, contents.len());
    let Some(between) = cut_out(&text, in_order(&order, &printed)) else {
        return Ok(all());
    };
    let packed = Packed { answer, bodies, between, printed: order };
    let stored = serde_json::to_string(&packed).map_err(Error::internal)?;
    // Read as it will be read, numbers included.
    let read: Packed = serde_json::from_str(&stored).map_err(Error::internal)?;
    match fill(read, contents, &printed)? == whole {
        true => Ok(ToKeep { stored, digest: Some(manifest::digest(whole.as_bytes())) }),
        false => Ok(all()),
    }
}

/// The bytes of a kept turn as they went out.
///
/// # Errors
/// `Conflict` `answer-gone` where a text that it brought is stored no more.
pub(super) async fn unpack(ctx: &Ctx, kept: KeptTurn) -> Result<String> {
    let Some(digest) = kept.digest else { return Ok(kept.answer) };
    let packed: Packed = serde_json::from_str(&kept.answer).map_err(Error::internal)?;
    let wanted: Vec<String> = packed.bodies.iter().map(|body| body.document.clone()).collect();
    let documents: HashMap<String, String> =
        skills::read_documents(&ctx.app.db, &ctx.principal, &wanted).await?.into_iter().collect();
    let contents: Option<Vec<String>> =
        packed.bodies.iter().map(|body| body.read(&documents).map(str::to_owned)).collect();
    let Some(contents) = contents else { return Err(gone()) };
    let printed: Vec<PrintedBody> = contents.iter().map(|content| PrintedBody::of(content)).collect();
    let whole = fill(packed, contents, &printed)?;
    if manifest::digest(whole.as_bytes()).as_slice() == digest { Ok(whole) } else { Err(gone()) }
}

fn gone() -> Error {
    let detail =
        "this turn was had, and the version of a skill that came with it is kept no more, so that it cannot be \
                  answered again in the same words; send the message under a fresh turn_key"
            .into();
    Error::Conflict { code: "answer-gone", detail }
}

/// The bodies in an answer, in the order of [`Packed::bodies`].
fn contents(answer: &mut TurnAnswer) -> impl Iterator<Item = &mut String> {
    let active = answer.active.iter_mut().map(|active| &mut active.content);
    active.chain(answer.relevant.iter_mut().filter_map(|relevant| relevant.content.as_mut()))
}

/// The text has the skills that the message calls for before those that it only mentions.
fn printed_order(answer: &TurnAnswer, bodies: usize) -> Vec<usize> {
    let (called, mentioned): (Vec<usize>, Vec<usize>) =
        (0..answer.active.len()).partition(|place| answer.active.get(*place).is_some_and(ActiveView::is_called));
    called.into_iter().chain(mentioned).chain(answer.active.len()..bodies).collect()
}

fn in_order<'a>(order: &[usize], printed: &'a [PrintedBody]) -> impl Iterator<Item = &'a str> {
    order.iter().filter_map(|place| printed.get(*place)).map(PrintedBody::as_str)
}

/// Returns the parts of a text around the printed bodies; `None` if the bodies do not stand in it in this order.
fn cut_out<'a>(text: &str, printed: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    let mut rest = text;
    let mut between = Vec::new();
    for body in printed {
        let (before, behind) = rest.split_once(body)?;
        between.push(before.to_owned());
        rest = behind;
    }
    between.push(rest.to_owned());
    Some(between)
}

fn fill(packed: Packed, bodies: Vec<String>, printed: &[PrintedBody]) -> Result<String> {
    let Packed { mut answer, between, printed: order, .. } = packed;
    for (content, body) in contents(&mut answer).zip(bodies) {
        *content = body;
    }
    let printed = in_order(&order, printed).chain([""]);
    answer.text = between.iter().zip(printed).flat_map(|(before, body)| [before, body]).collect();
    serde_json::to_string(&answer).map_err(Error::internal)
}
