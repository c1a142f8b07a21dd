//! A list of all declared statements. A test prepares them, and finds declared statements that are missing here.

use crate::across::system;
use crate::learning::{directives, dreams, examples, reflections};
use crate::review::{scans, submissions};
use crate::sessions::{conversations, judge, memories, snapshots, souls};
use crate::skills::{analytics, embeddings, history, library, offer_counts, starter_offers, starters, versions};
use crate::tenants::{console_sessions, idempotency, usage};
use crate::vault::statement::{Accepts, Columns, LookUp, Read, Statement, Write};
use crate::vault::warm_up::FrequentStatements;
use crate::{graph, sessions, skills, vault};

/// Statements that most requests run. Connections prepare them in advance.
pub const OFTEN_RUN: FrequentStatements = FrequentStatements { reads: &OFTEN_READ, changes: &OFTEN_CHANGED };

/// Most frequent statements of one round trip.
const OFTEN_READ: [&str; 11] = [
    skills::counts::CheckCounts::SQL,
    skills::load::Load::SQL,
    skills::load::LoadInSession::SQL,
    skills::counts::CountLoad::SQL,
    skills::counts::CountLoadInSession::SQL,
    skills::catalogue::FindRevisions::SQL,
    skills::catalogue::ListStamps::SQL,
    skills::catalogue::ListTexts::SQL,
    sessions::turn::FindState::SQL,
    sessions::turn::WriteTurn::SQL,
    skills::list::ListPage::SQL,
];

/// Most frequent statements of write transactions.
const OFTEN_CHANGED: [&str; 6] = [
    vault::write_tx::LockUser::SQL,
    skills::lock::LockCounts::SQL,
    skills::lock::ReadBase::SQL,
    skills::insert::InsertSkill::SQL,
    sessions::turn::WriteTurn::SQL,
    skills::update::UpdateSkill::SQL,
];

/// A declared statement. A test compares it with what Postgres reports.
#[derive(Debug, Clone)]
pub struct DeclaredStatement {
    pub sql: &'static str,
    /// Whether the statement runs in a transaction that allows writes.
    pub writes: bool,
    /// Whether the statement runs across tenants. If so, the declared parameters start at `$1`.
    pub is_across: bool,
    /// For each declared parameter, a check whether it accepts a Postgres type. `$1` and `$2`, which precede them,
    /// are UUIDs.
    pub parameters: Vec<Accepts>,
    /// Names of the columns, each with a check whether it can be read from a Postgres type.
    pub columns: Vec<(&'static str, Accepts)>,
}

fn declared<S: Statement>(writes: bool) -> DeclaredStatement {
    let mut columns = Vec::new();
    <S::Row as Columns>::add_to(&mut columns);
    DeclaredStatement { sql: S::SQL, writes, is_across: false, parameters: S::accepts(), columns }
}

fn look_up<S: LookUp>() -> DeclaredStatement {
    DeclaredStatement { is_across: true, ..declared::<S>(false) }
}

fn read<S: Read>() -> DeclaredStatement {
    declared::<S>(false)
}

fn write<S: Write>() -> DeclaredStatement {
    declared::<S>(true)
}

/// Lists all declared statements.
pub fn list_declared() -> Vec<DeclaredStatement> {
    [
        list_look_ups(),
        list_reads_of_skills(),
        list_writes_of_skills(),
        list_of_sessions(),
        list_of_learning(),
        list_of_review(),
        list_of_callers(),
        list_of_graph(),
        list_of_dreams(),
        list_of_reflections(),
    ]
    .concat()
}

fn list_look_ups() -> Vec<DeclaredStatement> {
    vec![look_up::<system::FindTenant>(), look_up::<system::FindKeys>(), look_up::<system::FindConsoleSession>()]
}

fn list_reads_of_skills() -> Vec<DeclaredStatement> {
    vec![
        read::<embeddings::FindSkill>(),
        read::<embeddings::ListSkills>(),
        read::<embeddings::ListMemories>(),
        read::<embeddings::ListExamples>(),
        read::<history::FindStoredBytes>(),
        read::<library::FindBase>(),
        read::<offer_counts::ListOffers>(),
        read::<starter_offers::ListOutdated>(),
        read::<starter_offers::FindGiven>(),
        read::<skills::archive::CountNames>(),
        read::<skills::catalogue::FindRevisions>(),
        read::<skills::catalogue::ListStamps>(),
        read::<skills::catalogue::ListTexts>(),
        read::<skills::catalogue::ReadBodies>(),
        read::<skills::catalogue::ListClose>(),
        read::<skills::catalogue::ListCosines>(),
        read::<skills::catalogue::ReadDocuments>(),
        read::<skills::compare::Compare>(),
        read::<skills::counts::CheckCounts>(),
        read::<skills::digests::ListDigests>(),
        read::<skills::enrich::FindEnriching>(),
        read::<skills::list::ListPage>(),
        read::<skills::list::ListRows>(),
        read::<skills::list::ListIndex>(),
        read::<skills::load::Peek>(),
        read::<skills::stored_files::ReadRaw>(),
        read::<skills::stored_files::FindResource>(),
        read::<skills::load::NameOf>(),
        read::<skills::name_suggestions::ExplainMiss>(),
        read::<skills::lock::ReadBase>(),
        read::<skills::lock::LookUp>(),
        read::<skills::lock::Find>(),
        read::<skills::lock::ReadFiles>(),
        read::<skills::lock::ReadNamedFiles>(),
        read::<skills::published::ListPublished>(),
        read::<skills::published::FindPublished>(),
        read::<skills::published::FindFile>(),
        read::<skills::published::ReadFolder>(),
        read::<skills::taint::FindTainted>(),
        read::<skills::taint::ListTaintedNames>(),
        read::<starters::ListOutdatedCopies>(),
        read::<starters::ListWithdrawn>(),
        read::<versions::ListVersions>(),
        read::<versions::FindVersion>(),
        read::<versions::WasRequested>(),
    ]
}

fn list_writes_of_skills() -> Vec<DeclaredStatement> {
    vec![
        write::<embeddings::PutVectors>(),
        write::<history::Trim>(),
        write::<history::ClearDeleted>(),
        write::<history::ForgetOldestVersions>(),
        write::<history::ExpireOldestEntry>(),
        write::<skills::taint::RefuseTainted>(),
        write::<skills::archive::ArchiveSkill>(),
        write::<skills::counts::CountLoad>(),
        write::<skills::counts::CountLoadInSession>(),
        write::<skills::load::Load>(),
        write::<skills::load::LoadInSession>(),
        write::<skills::lock::LockCounts>(),
        write::<skills::enrich::NoteEnrichTry>(),
        write::<skills::enrich::PutDiscovery>(),
        write::<skills::enrich::FollowDiscovery>(),
        write::<skills::flags::SetFlags>(),
        write::<skills::follow_up::KeepStarterVectors>(),
        write::<skills::follow_up::NoteFiles>(),
        write::<skills::insert::InsertSkill>(),
        write::<skills::update::UpdateSkill>(),
        write::<starters::Lend>(),
        write::<starters::LockRelease>(),
        write::<starters::Settle>(),
        write::<starters::Bring>(),
        write::<starters::ForgetInstall>(),
        write::<offer_counts::CountInapplicable>(),
        write::<starter_offers::NoteOffer>(),
        write::<starter_offers::NoteMerged>(),
        write::<starter_offers::OfferAgain>(),
    ]
}

fn list_of_sessions() -> Vec<DeclaredStatement> {
    vec![
        read::<conversations::ListConversations>(),
        read::<conversations::SearchConversations>(),
        read::<judge::ListDescriptions>(),
        read::<memories::ListMemories>(),
        read::<memories::FindAll>(),
        read::<memories::change::ListVersions>(),
        read::<memories::texts::FindStamp>(),
        read::<memories::texts::ListHeads>(),
        read::<memories::texts::ReadTexts>(),
        read::<sessions::previous_conversation::FindBefore>(),
        read::<sessions::exchange::FindExchange>(),
        read::<sessions::log::ListMessages>(),
        read::<sessions::log::ListLastMessages>(),
        read::<sessions::log::ListRecentTexts>(),
        read::<sessions::log::ListSessions>(),
        read::<sessions::find::Find>(),
        read::<sessions::turn::FindState>(),
        read::<sessions::turn::FindTurn>(),
        read::<snapshots::ReadParts>(),
        read::<snapshots::PeekCurrent>(),
        read::<souls::ListSouls>(),
        write::<conversations::PutSummary>(),
        write::<judge::ReserveTokens>(),
        write::<judge::SettleTokens>(),
        write::<memories::AddMemory>(),
        write::<memories::DeleteMemory>(),
        read::<memories::change::FindSame>(),
        write::<memories::change::ChangeMemory>(),
        write::<memories::approve::FindForUpdate>(),
        write::<memories::approve::ApproveMemory>(),
        write::<sessions::by_key::Join>(),
        write::<sessions::log::End>(),
        write::<sessions::reply::AddReply>(),
        write::<sessions::log::Taint>(),
        write::<sessions::feedback::AddFeedback>(),
        write::<sessions::open::Open>(),
        write::<sessions::open::ReplaceSnapshot>(),
        write::<sessions::turn::WriteTurn>(),
        write::<snapshots::FindCurrent>(),
        write::<snapshots::PutSnapshot>(),
        write::<souls::PutSoul>(),
        write::<souls::approve::FindToApprove>(),
        write::<souls::approve::ApproveSoul>(),
    ]
}

fn list_of_learning() -> Vec<DeclaredStatement> {
    vec![
        read::<directives::FindInForce>(),
        read::<examples::learn::FindLesson>(),
        read::<examples::list::ListExamples>(),
        read::<examples::vectors::ListVectors>(),
        write::<examples::vectors::PutVector>(),
        write::<examples::exchange::Import>(),
        write::<examples::keep::Evict>(),
        write::<examples::keep::Remove>(),
        write::<examples::keep::RemoveOfSession>(),
        write::<examples::keep::RemoveOfTurn>(),
        write::<examples::keep::HandOver>(),
        write::<examples::learn::Learn>(),
        write::<examples::learn::Unlearn>(),
        write::<examples::learn::UnmarkInapplicable>(),
    ]
}

fn list_of_review() -> Vec<DeclaredStatement> {
    vec![
        read::<scans::ListUnread>(),
        read::<scans::ListFiles>(),
        read::<scans::ListFound>(),
        read::<scans::FindScan>(),
        read::<scans::WasAsked>(),
        read::<submissions::add::FindKnown>(),
        read::<submissions::notice::FindUnnotified>(),
        read::<submissions::list::FindSubmission>(),
        read::<submissions::list::ListSubmissions>(),
        write::<scans::PutScans>(),
        write::<scans::FinishScan>(),
        write::<scans::NoteScan>(),
        write::<submissions::add::AddSubmission>(),
        write::<submissions::add::EnqueueReview>(),
        write::<submissions::add::EnqueueNotice>(),
        write::<submissions::notice::NoteNotified>(),
        write::<submissions::decide::ReadUndecided>(),
        write::<submissions::decide::CloseSubmission>(),
        write::<submissions::decide::NoteCheck>(),
        write::<submissions::decide::ApproveVersion>(),
    ]
}

fn list_of_callers() -> Vec<DeclaredStatement> {
    vec![
        write::<console_sessions::AddSession>(),
        write::<console_sessions::NoteUse>(),
        write::<console_sessions::StateReason>(),
        write::<console_sessions::EndSession>(),
        read::<idempotency::FindAnswer>(),
        write::<idempotency::ClaimKey>(),
        write::<idempotency::KeepAnswer>(),
        write::<usage::CountUse>(),
        write::<vault::write_tx::LockUser>(),
    ]
}

fn list_of_graph() -> Vec<DeclaredStatement> {
    vec![
        read::<graph::subgraph::ListEdges>(),
        read::<graph::subgraph::ListNodes>(),
        read::<graph::subgraph::ListStrongest>(),
        read::<analytics::ListFigures>(),
        read::<graph::entities::ListEntities>(),
        read::<graph::linked_items::ListHops>(),
        read::<graph::knowledge::ListDaysOfUse>(),
        read::<graph::knowledge::ListLinkedMemories>(),
        read::<graph::neighbours::ListNeighbours>(),
        read::<graph::relate::ListUnread>(),
        read::<graph::relations::ListRelations>(),
        read::<graph::ranking::FindStanding>(),
        read::<graph::ranking::ListStandings>(),
        read::<graph::ranking::RankSkills>(),
        read::<graph::short_relations::ListNamedRelations>(),
        read::<graph::short_relations::ListSurroundings>(),
        read::<graph::entity_names::ListThings>(),
        write::<graph::declare::DeclareRelation>(),
        write::<graph::declare::RemoveRelation>(),
        write::<graph::forget::ForgetSkill>(),
        write::<graph::importance::PutImportance>(),
        write::<graph::link::LinkMemory>(),
        write::<graph::pending::TakePending>(),
        write::<graph::finish_relating::FinishRelating>(),
        write::<graph::relate::ForgetNamesakes>(),
        write::<graph::relate::OutdateRelations>(),
        write::<graph::relate::RelateSkill>(),
    ]
}

fn list_of_reflections() -> Vec<DeclaredStatement> {
    use reflections::{inputs, keep, rows};
    vec![
        read::<inputs::ListConversations>(),
        read::<inputs::ListBelow>(),
        read::<inputs::ListUsed>(),
        write::<keep::QueueReflection>(),
        read::<keep::FindState>(),
        write::<keep::FinishReflection>(),
        write::<keep::Carry>(),
        read::<keep::CountActions>(),
        read::<rows::FindReflection>(),
        read::<rows::ListReflections>(),
        read::<rows::FindToday>(),
    ]
}

fn list_of_dreams() -> Vec<DeclaredStatement> {
    use dreams::{absorb, end_run, inputs, log, notice, ops, restore, runs, settings};
    vec![
        read::<absorb::ReadSurroundings>(),
        write::<absorb::AbsorbSkill>(),
        read::<inputs::ListDocuments>(),
        read::<inputs::ListSkills>(),
        read::<inputs::ListSessions>(),
        read::<log::ListMessages>(),
        read::<log::ListUses>(),
        write::<inputs::PutSessionVectors>(),
        write::<notice::EnqueueNotice>(),
        read::<notice::FindUnnotified>(),
        write::<notice::NoteNotified>(),
        write::<ops::AddOps>(),
        read::<ops::ListOps>(),
        write::<ops::PutOps>(),
        read::<ops::FindLater>(),
        read::<ops::ListOpen>(),
        read::<ops::ListLearned>(),
        read::<restore::RecheckRestored>(),
        write::<restore::TakeArchived>(),
        write::<restore::PutBack>(),
        write::<restore::GiveBack>(),
        write::<runs::AddRun>(),
        read::<runs::FindRun>(),
        read::<runs::ListCalls>(),
        write::<runs::LockRun>(),
        read::<runs::ListRunRows>(),
        write::<end_run::EndRun>(),
        read::<settings::FindLearning>(),
        read::<settings::ListPasses>(),
        write::<settings::PutTimeZone>(),
        write::<settings::PutPasses>(),
        write::<settings::NoteFailure>(),
        write::<settings::NoteSuccess>(),
        write::<settings::NoteNight>(),
        write::<settings::TakeTokens>(),
        read::<settings::ListResting>(),
        write::<settings::PutRests>(),
    ]
}
