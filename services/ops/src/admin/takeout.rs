//! Export of all that is kept of a user: skills as folders, and every row as a line of JSON. It is packed while the client takes it,
//! in one consistent read, so a process holds a piece of each export and no more.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use knowhow_domain::{Error, Result, UserId};
use knowhow_store::audit::{self as audit_log, NewEntry};
use knowhow_store::takeout::{self, TakenTable};
use knowhow_store::{TenantTx, check_external_id, skills, users};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::begin;
use crate::Ctx;
use crate::archive::{PackedFile, Packer, Provenance};
use crate::dear::{self, Line, Turn};
use crate::skills::{folder_of, send_all};

/// Skills read at a time.
const SKILLS: i64 = 50;
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
    ctx.principal.require_admin()?;
    check_external_id(external_id).map_err(|_| Error::not_found("user"))?;
    let mut tx = begin(ctx).await?;
    let user = users::find_id(&mut tx, external_id).await?.ok_or_else(|| Error::not_found("user"))?;
    tx.commit().await?;
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
        let (mut after, mut placed, mut provenance) = (String::new(), BTreeSet::new(), Provenance::default());
        loop {
            let batch = skills::list_for_export(&mut self.tx, &after, SKILLS).await?;
            let Some(last) = batch.last() else { break };
            after.clone_from(&last.name);
            for skill in batch {
                let folder = below_skills(folder_of(&skill.name, &placed));
                placed.insert(skill.name.clone());
                placed.extend(skill.resources.iter().map(|r| format!("{}/{}", skill.name, r.path)));
                let path = format!("{folder}/SKILL.md");
                if let Some(tainted_by) = skill.tainted_by {
                    provenance.add(&path, skill.document.clone(), tainted_by);
                }
                self.take_file(path, &skill.document, skill.starter).await?;
                for resource in skill.resources {
                    self.take_file(format!("{folder}/{}", resource.path), &resource.digest, None).await?;
                }
            }
        }
        match provenance.write()? {
            Some(file) => self.pack(vec![file]).await,
            None => Ok(()),
        }
    }

    async fn take_file(&mut self, path: String, digest: &str, starter: Option<i32>) -> Result<()> {
        let stored = if starter.is_some() { Vec::new() } else { vec![digest.to_owned()] };
        let starters: Vec<i32> = starter.into_iter().collect();
        let read = skills::read_for_export(&mut self.tx, &stored, &starters).await?;
        let bytes = read.into_iter().next().map(|(_, bytes)| bytes);
        let bytes = bytes.ok_or_else(|| Error::internal("a file of a skill is missing"))?;
        self.pack(vec![PackedFile { path, bytes }]).await
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
