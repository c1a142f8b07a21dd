//! Export of all that is kept of a user: skills as folders, and every row as a line of JSON. It is packed while the client takes it,
//! in one consistent read, so a process holds a piece of each export and no more.

use std::sync::LazyLock;

use knowhow_domain::{Error, Result, UserId};
use knowhow_store::TenantTx;
use knowhow_store::audit::{self as audit_log, NewEntry};
use knowhow_store::takeout::{self, TakenTable};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::find_named;
use crate::Ctx;
use crate::archive::{PackedFile, Packer};
use crate::dear::{self, Line, Turn};
use crate::skills::export_plan::{Layout, pieces, plan_skills, read};
use crate::skills::send_all;

/// A table is packed in files of about so many bytes.
const FILE_BYTES: usize = 1024 * 1024;
/// Each holds a connection and a transaction for as long as its client takes.
const AT_ONCE: usize = 2;

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("exports of users of this tenant", AT_ONCE));

/// The bytes of an archive, as they are packed; an error ends them early.
pub type Taken = Receiver<Result<Vec<u8>>>;

/// Exports all that is kept of a user, as a zip.
///
/// # Errors
/// `Forbidden`, `NotFound`; `RateLimited` where too many wait; `Unavailable`.
pub async fn export_user(ctx: &Ctx, external_id: &str) -> Result<Taken> {
    let user = find_named(ctx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    note(ctx, user).await?;
    let turn = LINE.turn_for(&ctx.principal, user).await?;
    let mut tx = takeout::begin(&ctx.app.db, &ctx.principal, user).await?;
    // What fails here is told; later the answer has begun.
    let tables = takeout::list_tables(&mut tx).await?;
    let (sender, receiver) = channel(1);
    let work = Takeout { tx, packer: Some(Packer::zip()), client: sender, _turn: turn };
    tokio::spawn(work.run(tables));
    Ok(receiver)
}

/// An import takes what follows the first folder named `skills` for the name.
fn below_skills(folder: String) -> String {
    let is_below = folder.starts_with("skills/") || folder.starts_with("apart/skills/");
    if is_below { folder } else { format!("skills/{folder}") }
}

/// In a transaction of its own: the export itself only reads.
async fn note(ctx: &Ctx, user: UserId) -> Result<()> {
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.export_user").await?;
    let target = user.to_string();
    audit_log::record(&mut tx, NewEntry { action: "user.export", target: &target, detail: json!({}) }, ctx.now())
        .await?;
    tx.commit().await
}

/// An export at work.
struct Takeout {
    tx: TenantTx,
    /// Away while it packs.
    packer: Option<Packer>,
    client: Sender<Result<Vec<u8>>>,
    _turn: Turn,
}

impl Takeout {
    async fn run(mut self, tables: Vec<TakenTable>) {
        if let Err(error) = self.take(tables).await {
            tracing::warn!(%error, "an export of a user broke off");
            // The client that reads it learns that the archive is not whole.
            let _ = self.client.try_send(Err(error));
        }
    }

    async fn take(&mut self, tables: Vec<TakenTable>) -> Result<()> {
        self.take_skills().await?;
        for table in tables {
            self.take_table(&table).await?;
        }
        let packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        let bytes = dear::compute(move || packer.finish()).await?;
        self.send(&bytes).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let is_taken = send_all(bytes, &self.client).await;
        if is_taken { Ok(()) } else { Err(Error::Unavailable("the client takes nothing any more".into())) }
    }

    async fn pack(&mut self, files: Vec<PackedFile>) -> Result<()> {
        let mut packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        let pack = move || {
            let bytes = packer.add(&files)?;
            Ok((packer, bytes))
        };
        let (packer, bytes) = dear::compute(pack).await?;
        self.packer = Some(packer);
        self.send(&bytes).await
    }

    /// As `knowhow export` writes them, so that an import takes them back byte for byte, and trusts them no more than before.
    async fn take_skills(&mut self) -> Result<()> {
        let files = plan_skills(&mut self.tx, &Layout { strict: None, place: below_skills }).await?;
        for piece in pieces(files) {
            let files = read(&mut self.tx, &piece).await?;
            self.pack(files).await?;
        }
        Ok(())
    }

    async fn take_table(&mut self, table: &TakenTable) -> Result<()> {
        takeout::open(&mut self.tx, table).await?;
        let (mut bytes, mut number) = (Vec::new(), 1);
        loop {
            let lines = takeout::next(&mut self.tx).await?;
            let is_last = lines.is_empty();
            for line in lines {
                bytes.extend(line.into_bytes());
                bytes.push(b'\n');
            }
            if !bytes.is_empty() && (is_last || bytes.len() >= FILE_BYTES) {
                let path = format!("data/{}-{number:04}.jsonl", table.name);
                self.pack(vec![PackedFile { path, bytes: std::mem::take(&mut bytes) }]).await?;
                number += 1;
            }
            if is_last {
                return takeout::close(&mut self.tx).await;
            }
        }
    }
}
