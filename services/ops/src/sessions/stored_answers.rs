//! Stores the answers of turns without the bodies of skills. References to the stored skill versions replace the
//! bodies. A restored answer has exactly the original bytes; otherwise an error is returned.

use std::collections::HashMap;

use knowhow_domain::sessions::prompt::PrintedBody;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result};
use knowhow_store::sessions::StoredTurn;
use knowhow_store::skills;
use serde::{Deserialize, Serialize};

use super::view::{ActiveView, TurnAnswer};
use crate::Ctx;

/// Position of a body in a stored SKILL.md.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BodyPosition {
    /// Hex SHA-256 of the SKILL.md.
    pub(super) document: String,
    /// Offset of the body in the SKILL.md, in bytes.
    pub(super) from: usize,
    /// Number of bytes of the body that the turn includes.
    pub(super) bytes: usize,
}

/// A body in a turn: its stored position, and the text as rendered.
pub(super) struct TurnBody {
    pub(super) at: BodyPosition,
    pub(super) printed: PrintedBody,
}

impl BodyPosition {
    fn read<'a>(&self, documents: &'a HashMap<String, String>) -> Option<&'a str> {
        documents.get(&self.document)?.get(self.from..self.from.checked_add(self.bytes)?)
    }
}

#[derive(Serialize, Deserialize)]
struct PackedAnswer {
    /// The answer, with empty bodies and an empty text.
    answer: TurnAnswer,
    /// Positions of the bodies: first of the active skills, then of the relevant skills.
    bodies: Vec<BodyPosition>,
    /// Parts of the text before, between and after the bodies.
    between: Vec<String>,
    /// Order of the bodies in the text, as indexes into `bodies`.
    printed: Vec<usize>,
}

/// An answer to store. `digest` is the SHA-256 of the whole answer, if bodies were left out.
pub(super) struct AnswerToStore {
    pub(super) stored: String,
    pub(super) digest: Option<[u8; 32]>,
}

/// Removes the bodies of skills from an answer with the bytes `whole`. Keeps the bodies if the exact bytes could not
/// be restored without them.
pub(super) fn pack(mut answer: TurnAnswer, whole: &str, bodies: Vec<TurnBody>) -> Result<AnswerToStore> {
    let all = || AnswerToStore { stored: whole.to_owned(), digest: None };
    if bodies.is_empty() {
        return Ok(all());
    }
    let (bodies, printed): (Vec<BodyPosition>, Vec<PrintedBody>) =
        bodies.into_iter().map(|body| (body.at, body.printed)).unzip();
    let contents: Vec<String> = contents(&mut answer).map(std::mem::take).collect();
    let text = std::mem::take(&mut answer.text);
    let order = printed_order(&answer, contents.len());
    let Some(between) = cut_out(&text, in_order(&order, &printed)) else {
        return Ok(all());
    };
    let packed = PackedAnswer { answer, bodies, between, printed: order };
    let stored = serde_json::to_string(&packed).map_err(Error::internal)?;
    // Parses the packed answer like a later read, to detect numbers that change in a round trip.
    let read: PackedAnswer = serde_json::from_str(&stored).map_err(Error::internal)?;
    match fill(read, contents, &printed)? == whole {
        true => Ok(AnswerToStore { stored, digest: Some(manifest::digest(whole.as_bytes())) }),
        false => Ok(all()),
    }
}

/// Restores the exact bytes of a stored answer.
///
/// # Errors
/// `Conflict` `answer-gone` if a stored skill version in the answer has been deleted.
pub(super) async fn unpack(ctx: &Ctx, stored_turn: StoredTurn) -> Result<String> {
    let Some(digest) = stored_turn.digest else { return Ok(stored_turn.answer) };
    let packed: PackedAnswer = serde_json::from_str(&stored_turn.answer).map_err(Error::internal)?;
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
        "this turn was already answered, but a skill version it included has been deleted, so the same answer cannot \
         be returned; send the message with a new turn_key"
            .into();
    Error::Conflict { code: "answer-gone", detail }
}

/// Returns the bodies in an answer, in the order of [`PackedAnswer::bodies`].
fn contents(answer: &mut TurnAnswer) -> impl Iterator<Item = &mut String> {
    let active = answer.active.iter_mut().map(|active| &mut active.content);
    active.chain(answer.relevant.iter_mut().filter_map(|relevant| relevant.content.as_mut()))
}

/// Returns the order of the bodies in the text. Skills that the message calls for come before skills that it
/// mentions.
fn printed_order(answer: &TurnAnswer, bodies: usize) -> Vec<usize> {
    let (called, mentioned): (Vec<usize>, Vec<usize>) =
        (0..answer.active.len()).partition(|place| answer.active.get(*place).is_some_and(ActiveView::is_called));
    called.into_iter().chain(mentioned).chain(answer.active.len()..bodies).collect()
}

fn in_order<'a>(order: &[usize], printed: &'a [PrintedBody]) -> impl Iterator<Item = &'a str> {
    order.iter().filter_map(|place| printed.get(*place)).map(PrintedBody::as_str)
}

/// Returns the parts of a text before, between and after the rendered bodies. Returns `None` if the text does not
/// contain the bodies in this order.
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

fn fill(packed: PackedAnswer, bodies: Vec<String>, printed: &[PrintedBody]) -> Result<String> {
    let PackedAnswer { mut answer, between, printed: order, .. } = packed;
    for (content, body) in contents(&mut answer).zip(bodies) {
        *content = body;
    }
    let printed = in_order(&order, printed).chain([""]);
    answer.text = between.iter().zip(printed).flat_map(|(before, body)| [before, body]).collect();
    serde_json::to_string(&answer).map_err(Error::internal)
}
