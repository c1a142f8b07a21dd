//! Exports all data of a user: skills as folders, and every row as a line of JSON. The archive is packed while the
//! client downloads it, from one consistent read of the database. Only one piece of each export is in memory.

use knowhow_domain::{Error, Result, UserId};
use knowhow_store::TenantTx;
use knowhow_store::tenants::audit as audit_log;
use knowhow_store::tenants::audit::NewEntry;
use knowhow_store::tenants::takeout::{self, ExportedTable};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::find_named;
use crate::Ctx;
use crate::platform::admission::{self, Turn};
use crate::skills::archive::{PackedFile, Packer};
use crate::skills::export_plan::{ExportLayout, pieces, plan_skills, read};
use crate::skills::send_all;

/// Approximate maximum number of bytes in a file with rows. Larger tables are split into several files.
const FILE_BYTES: usize = 1024 * 1024;

/// Packed chunks of an archive. An error ends the stream, so that the archive is incomplete.
pub type UserExport = Receiver<Result<Vec<u8>>>;

/// Exports all data of a user as a zip.
///
/// # Errors
/// `Forbidden`, `NotFound`; `RateLimited` if too many exports are queued; `Unavailable`.
pub async fn export_user(ctx: &Ctx, external_id: &str) -> Result<UserExport> {
    let user = find_named(ctx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    note(ctx, user).await?;
    let turn = ctx.app.admission.user_exports.turn_for(&ctx.principal, user).await?;
    let mut tx = takeout::begin(&ctx.app.db, &ctx.principal, user).await?;
    // An error up to here is returned to the client as the response. Later errors only end the download.
    let tables = takeout::list_tables(&mut tx).await?;
    let (sender, receiver) = channel(1);
    let work = Takeout { tx, packer: Some(Packer::zip()), client: sender, _turn: turn };
    tokio::spawn(work.run(tables));
    Ok(receiver)
}

/// Puts a folder below `skills`: an import uses the path after the first folder of this name.
fn below_skills(folder: String) -> String {
    let is_below = folder.starts_with("skills/") || folder.starts_with("apart/skills/");
    if is_below { folder } else { format!("skills/{folder}") }
}

/// Records the export in its own transaction, as the export's transaction is read-only.
async fn note(ctx: &Ctx, user: UserId) -> Result<()> {
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "admin.export_user").await?;
    let target = user.to_string();
    audit_log::record(&mut tx, NewEntry { action: "user.export", target: &target, detail: json!({}) }, ctx.now())
        .await?;
    tx.commit().await
}

/// A running export.
struct Takeout {
    tx: TenantTx,
    /// The packer of the archive; `None` while a blocking thread uses it.
    packer: Option<Packer>,
    client: Sender<Result<Vec<u8>>>,
    _turn: Turn,
}

impl Takeout {
    async fn run(mut self, tables: Vec<ExportedTable>) {
        if let Err(error) = self.take(tables).await {
            tracing::warn!(%error, "an export of a user failed");
            // Ends the response with an error, so that the client detects the incomplete archive.
            let _ = self.client.try_send(Err(error));
        }
    }

    async fn take(&mut self, tables: Vec<ExportedTable>) -> Result<()> {
        self.take_skills().await?;
        for table in tables {
            self.export_table(&table).await?;
        }
        let packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        let bytes = admission::compute(move || packer.finish()).await?;
        self.send(&bytes).await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let is_taken = send_all(bytes, &self.client).await;
        if is_taken { Ok(()) } else { Err(Error::Unavailable("the client stopped reading".into())) }
    }

    async fn pack(&mut self, files: Vec<PackedFile>) -> Result<()> {
        let mut packer = self.packer.take().ok_or_else(|| Error::internal("the archive is finished"))?;
        let pack = move || {
            let bytes = packer.add(&files)?;
            Ok((packer, bytes))
        };
        let (packer, bytes) = admission::compute(pack).await?;
        self.packer = Some(packer);
        self.send(&bytes).await
    }

    /// Packs the skills like `knowhow export`, so that an import restores them byte for byte, with their taint.
    async fn take_skills(&mut self) -> Result<()> {
        let files = plan_skills(&mut self.tx, &ExportLayout { strict: None, place: below_skills }).await?;
        for piece in pieces(files) {
            let files = read(&mut self.tx, &piece).await?;
            self.pack(files).await?;
        }
        Ok(())
    }

    async fn export_table(&mut self, table: &ExportedTable) -> Result<()> {
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
                self.pack(vec![PackedFile::plain(path, std::mem::take(&mut bytes))]).await?;
                number += 1;
            }
            if is_last {
                return takeout::close(&mut self.tx).await;
            }
        }
    }
}
