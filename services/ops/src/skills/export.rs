//! Exports all skills of a user as folders of one archive, byte for byte or in the strict form. The archive is packed
//! while the client downloads it, so that the process has only one piece of each export in memory.

use std::time::Duration;

use knowhow_domain::{Error, Limits, Result, Scope};
use knowhow_store::deployment::replica::ReadSource;
use knowhow_store::{Database, Principal, TenantTx};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use super::export_plan::{PIECE_BYTES, PlannedFile, make_strict, pieces, plan, read, total};
use super::export_query::{ExportQuery, Format};
use crate::Ctx;
use crate::platform::admission::{self, Turn};
use crate::skills::archive::{PackedFile, Packer};

/// Maximum time without a read by the client. After it, the download is aborted.
const LONGEST_STALL: Duration = Duration::from_secs(20);
/// Size in bytes of each sent chunk.
const CHUNK_BYTES: usize = 64 * 1024;

/// An archive and its headers.
pub struct Exported {
    /// The bytes of the archive. The same skills give the same bytes.
    pub content: Content,
    /// Value of `Content-Type`.
    pub media_type: &'static str,
    /// Value of `Content-Disposition`.
    pub file_name: &'static str,
}

/// The content of an archive.
pub enum Content {
    /// All bytes of the archive.
    Whole(Vec<u8>),
    /// Packed chunks, as they are produced. An error ends the stream, because the response has already begun.
    Stream(Receiver<Result<Vec<u8>>>),
}

/// Exports all skills of the user.
///
/// # Errors
/// `Unavailable` if the database does not answer; `RateLimited` if too many exports are queued.
pub async fn export_skills(ctx: &Ctx, query: &ExportQuery) -> Result<Exported> {
    ctx.principal.require(Scope::SkillsRead)?;
    let strict = query.strict.unwrap_or_default();
    let mut reading = ReadSource::of_export(&ctx.app.db, ctx.app.replica.as_ref()).await;
    let mut files = reading.ask(async |db| plan(ctx, &db, query).await, |_| true).await?;
    let (packer, media_type, file_name) = match query.format.unwrap_or_default() {
        Format::Zip => (Packer::zip(), "application/zip", "skills.zip"),
        Format::TarGz => (Packer::tar_gz(), "application/gzip", "skills.tar.gz"),
    };
    let is_small = total(&files) <= PIECE_BYTES;
    let turn = if is_small {
        ctx.app.admission.small_exports.turn(&ctx.principal).await?
    } else {
        // The plan is large, so it is dropped while the request waits.
        drop(files);
        let turn = ctx.app.admission.large_exports.turn(&ctx.principal).await?;
        files = reading.ask(async |db| plan(ctx, &db, query).await, |_| true).await?;
        turn
    };
    let mut export = Export { ctx: ctx.clone(), reading, packer: Some(packer), strict, _turn: turn };
    let mut pieces = pieces(files).into_iter();
    // An error in the first piece can still be returned to the client. After it, the response has begun.
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

async fn read_piece(db: &Database, principal: &Principal, piece: &[PlannedFile]) -> Result<Vec<PackedFile>> {
    let mut tx = TenantTx::begin(db, principal, "skills.export").await?;
    let entries = read(&mut tx, piece).await?;
    tx.commit().await?;
    Ok(entries)
}

/// A running export.
struct Export {
    ctx: Ctx,
    reading: ReadSource,
    /// The packer; `None` while a blocking thread uses it.
    packer: Option<Packer>,
    strict: bool,
    _turn: Turn,
}

impl Export {
    /// Reads the files of a piece, and packs them.
    async fn pack(&mut self, piece: Vec<PlannedFile>) -> Result<Vec<u8>> {
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
        let (packer, bytes) = admission::compute(pack).await?;
        self.packer = Some(packer);
        Ok(bytes)
    }

    async fn finish(&mut self) -> Result<Vec<u8>> {
        let packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        admission::compute(move || packer.finish()).await
    }

    /// Packs and sends all pieces, at the speed of the client.
    async fn send(
        mut self,
        first: Vec<u8>,
        pieces: impl Iterator<Item = Vec<PlannedFile>>,
        client: &Sender<Result<Vec<u8>>>,
    ) {
        let mut bytes = Ok(first);
        let mut pieces = pieces.map(Some).chain([None]);
        loop {
            match bytes {
                Ok(packed) if !send_all(&packed, client).await => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "an export failed");
                    // The error ends the response, so that the client detects the incomplete archive.
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

/// Sends bytes in chunks. Returns `false` if the client has disconnected or stopped reading.
pub(crate) async fn send_all(bytes: &[u8], client: &Sender<Result<Vec<u8>>>) -> bool {
    for chunk in bytes.chunks(CHUNK_BYTES) {
        match timeout(LONGEST_STALL, client.send(Ok(chunk.to_vec()))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return false,
            Err(_) => {
                tracing::info!("an export was aborted, as its client stopped reading");
                return false;
            }
        }
    }
    true
}

fn strictly(limits: &Limits, entries: &mut [PackedFile]) -> Result<()> {
    entries.iter_mut().try_for_each(|entry| make_strict(limits, entry))
}
