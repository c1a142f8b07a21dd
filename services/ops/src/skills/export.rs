//! Export: every skill of the user as folders in one archive, byte for byte, or in the strict form. It is packed while the
//! client takes it, so a process holds a piece of each export and no more.

use std::sync::LazyLock;
use std::time::Duration;

use knowhow_domain::{Error, Limits, Result, Scope};
use knowhow_store::replica::Reading;
use knowhow_store::{Database, Principal, TenantTx};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

use super::export_plan::{PIECE_BYTES, Planned, make_strict, pieces, plan, read, total};
use crate::Ctx;
use crate::archive::{PackedFile, Packer};
use crate::dear::{self, Line, Turn};

/// A client that takes nothing of its archive for so long is left.
const LONGEST_STALL: Duration = Duration::from_secs(20);
/// Bytes that are sent at a time.
const CHUNK_BYTES: usize = 64 * 1024;
/// Large exports at work; each holds a piece, plain and packed, and a chunk on its way: 3 MiB at most.
const LARGE_AT_ONCE: usize = 6;
/// Small ones are packed at once, and wait for no large one.
const SMALL_AT_ONCE: usize = 4;

static LARGE: LazyLock<Line> = LazyLock::new(|| Line::new("exports of this tenant", LARGE_AT_ONCE));
static SMALL: LazyLock<Line> = LazyLock::new(|| Line::new("exports of this tenant", SMALL_AT_ONCE));

/// The format of an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A zip file.
    #[default]
    Zip,
    /// A gzip'd tar file.
    #[serde(rename = "tar.gz")]
    TarGz,
}

/// Options of an export.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `zip` (the default) or `tar.gz`.
    #[param(inline)]
    pub format: Option<Format>,
    /// Passes the validator of agentskills.io: unknown top-level keys are moved under `metadata`.
    pub strict: Option<bool>,
    /// Adds `knowhow-examples.jsonl`, the messages after which skills were used. They are the user's own words, so an archive
    /// that is to be shared does without.
    pub examples: Option<bool>,
}

/// An archive and what it is.
pub struct Exported {
    /// The bytes; the same skills give the same bytes.
    pub content: Content,
    /// For `Content-Type`.
    pub media_type: &'static str,
    /// For `Content-Disposition`.
    pub file_name: &'static str,
}

/// The bytes of an archive.
pub enum Content {
    /// All bytes of the archive.
    Whole(Vec<u8>),
    /// Those that are packed so far; the others follow. An error, of which nobody can be told any more, ends them early.
    Stream(Receiver<Result<Vec<u8>>>),
}

/// Exports all skills of the user.
///
/// # Errors
/// `Unavailable`; `RateLimited` where too many wait.
pub async fn export_skills(ctx: &Ctx, query: &ExportQuery) -> Result<Exported> {
    ctx.principal.require(Scope::SkillsRead)?;
    let strict = query.strict.unwrap_or_default();
    let mut reading = Reading::of_export(&ctx.app.db, ctx.app.replica.as_ref()).await;
    let mut files = reading.ask(async |db| plan(ctx, &db, query).await, |_| true).await?;
    let (packer, media_type, file_name) = match query.format.unwrap_or_default() {
        Format::Zip => (Packer::zip(), "application/zip", "skills.zip"),
        Format::TarGz => (Packer::tar_gz(), "application/gzip", "skills.tar.gz"),
    };
    let is_small = total(&files) <= PIECE_BYTES;
    let turn = if is_small {
        SMALL.turn(&ctx.principal).await?
    } else {
        // Drops the plan, which is large too, while the request waits for its turn.
        drop(files);
        let turn = LARGE.turn(&ctx.principal).await?;
        files = reading.ask(async |db| plan(ctx, &db, query).await, |_| true).await?;
        turn
    };
    let mut export = Export { ctx: ctx.clone(), reading, packer: Some(packer), strict, _turn: turn };
    let mut pieces = pieces(files).into_iter();
    // What fails here is told; later the answer has begun.
    let first = match pieces.next() {
        Some(piece) => export.pack(piece).await?,
        None => Vec::new(),
    };
    let content = if is_small {
        let mut bytes = first;
        for piece in pieces {
            bytes.extend(export.pack(piece).await?);
        }
        bytes.extend(export.finish().await?);
        Content::Whole(bytes)
    } else {
        let (sender, receiver) = channel(1);
        tokio::spawn(async move { export.send(first, pieces, &sender).await });
        Content::Stream(receiver)
    };
    Ok(Exported { content, media_type, file_name })
}

async fn read_piece(db: &Database, principal: &Principal, piece: &[Planned]) -> Result<Vec<PackedFile>> {
    let mut tx = TenantTx::begin(db, principal, "skills.export").await?;
    let entries = read(&mut tx, piece).await?;
    tx.commit().await?;
    Ok(entries)
}

/// An export at work.
struct Export {
    ctx: Ctx,
    reading: Reading,
    /// Away while it packs.
    packer: Option<Packer>,
    strict: bool,
    _turn: Turn,
}

impl Export {
    /// Reads and packs a piece.
    async fn pack(&mut self, piece: Vec<Planned>) -> Result<Vec<u8>> {
        let principal = &self.ctx.principal;
        let mut entries = self.reading.ask(async |db| read_piece(&db, principal, &piece).await, |_| true).await?;
        let (limits, strict) = (self.ctx.app.limits.clone(), self.strict);
        let mut packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        let pack = move || {
            if strict {
                strictly(&limits, &mut entries)?;
            }
            let bytes = packer.add(&entries)?;
            Ok((packer, bytes))
        };
        let (packer, bytes) = dear::compute(pack).await?;
        self.packer = Some(packer);
        Ok(bytes)
    }

    async fn finish(&mut self) -> Result<Vec<u8>> {
        let packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        dear::compute(move || packer.finish()).await
    }

    /// Sends everything, as fast as the client takes it.
    async fn send(
        mut self,
        first: Vec<u8>,
        pieces: impl Iterator<Item = Vec<Planned>>,
        client: &Sender<Result<Vec<u8>>>,
    ) {
        let mut bytes = Ok(first);
        let mut pieces = pieces.map(Some).chain([None]);
        loop {
            match bytes {
                Ok(packed) if !send_all(&packed, client).await => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "an export broke off");
                    // The client that reads it learns that the archive is not whole.
                    let _ = timeout(LONGEST_STALL, client.send(Err(error))).await;
                    return;
                }
            }
            bytes = match pieces.next() {
                Some(Some(piece)) => self.pack(piece).await,
                Some(None) => self.finish().await,
                None => return,
            };
        }
    }
}

/// Sends bytes in chunks; `false` where the client is gone, or takes nothing any more.
pub(crate) async fn send_all(bytes: &[u8], client: &Sender<Result<Vec<u8>>>) -> bool {
    for chunk in bytes.chunks(CHUNK_BYTES) {
        match timeout(LONGEST_STALL, client.send(Ok(chunk.to_vec()))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return false,
            Err(_) => {
                tracing::info!("an export was left: its client takes nothing");
                return false;
            }
        }
    }
    true
}

fn strictly(limits: &Limits, entries: &mut [PackedFile]) -> Result<()> {
    entries.iter_mut().try_for_each(|entry| make_strict(limits, entry))
}
