//! Background jobs, one file each. The payload of a job consists of ids. A job that runs twice has the effect of a
//! single run. No job keeps a transaction open during a model call.

mod dream;
mod embed;
mod end_sessions;
mod enrich;
mod erase;
mod kinds;
mod notify_dream;
mod notify_submission;
mod offer_merges;
mod prune;
mod reflect;
mod relate;
mod render_snapshot;
mod render_snapshots;
mod rescan;
mod review;
mod seal_audit;
mod summarize_conversation;
mod summarize_skill;

pub use relate::{Backlog, find_backlog, reconcile};

use kinds::{JobResult, SystemJob, UserJob, of_system, of_user};

use knowhow_store::jobs::Task;

use crate::App;

/// Returns all kinds of jobs that this process can run. Kinds that need a model are included only if this process has
/// the model.
pub fn tasks(app: &App) -> Vec<Task> {
    let mut tasks = vec![
        of_system::<prune::Prune>(app),
        erase::of_ledger(app),
        of_system::<seal_audit::SealAudit>(app),
        of_system::<erase::EraseUsers>(app),
        of_system::<end_sessions::EndSessions>(app),
        of_user::<summarize_conversation::SummarizeConversation>(app),
        of_system::<render_snapshots::RenderSnapshots>(app),
        of_user::<render_snapshot::RenderSnapshot>(app),
        of_system::<rescan::RescanStale>(app),
        of_user::<dream::Dream>(app),
        of_user::<dream::DreamNight>(app),
        of_system::<dream::DreamNights>(app),
        of_user::<enrich::EnrichSkill>(app),
        of_system::<enrich::EnrichStale>(app),
        of_system::<relate::RelateStale>(app),
        of_user::<relate::RelateSkills>(app),
        of_user::<rescan::RescanSkills>(app),
        of_user::<offer_merges::OfferMerges>(app),
        of_system::<review::ReviewOverdue>(app),
        of_user::<notify_dream::NotifyDream>(app),
        of_user::<notify_submission::NotifySubmission>(app),
    ];
    if app.models.embedder.is_some() {
        tasks.push(of_user::<embed::EmbedSkill>(app));
        tasks.push(of_user::<embed::EmbedExamples>(app));
        tasks.push(of_user::<embed::EmbedMemories>(app));
        tasks.push(of_system::<embed::EmbedStale>(app));
    }
    if app.models.chat.is_some() {
        tasks.push(of_user::<summarize_skill::SummarizeSkill>(app));
        tasks.push(of_user::<review::ReviewSubmission>(app));
        tasks.push(of_user::<reflect::Reflect>(app));
        tasks.push(of_system::<reflect::ReflectDue>(app));
    }
    tasks
}
