//! Every statement that the store declares, so that a test can prepare them all: one that is declared and missing here is
//! found by the same test.

use crate::across::system;
use crate::vault::ahead::Often;
use crate::vault::statement::{Accepts, Columns, LookUp, Read, Statement, Write};
use crate::{
    analytics, conversations, directives, dreams, embeddings, examples, graph, history, idempotency, library, memories,
    offered, offers, reflections, scans, sessions, skills, snapshots, souls, starters, submissions, usage, vault,
    versions,
};

/// What most requests run, for connections to prepare ahead.
pub const OFTEN_RUN: Often = Often { reads: &OFTEN_READ, changes: &OFTEN_CHANGED };

/// What most requests read, or count, in one round trip.
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

/// What most changes are made with.
const OFTEN_CHANGED: [&str; 6] = [
    vault::write_tx::LockUser::SQL,
    skills::lock::LockCounts::SQL,
    skills::lock::ReadBase::SQL,
    skills::insert::InsertSkill::SQL,
    sessions::turn::WriteTurn::SQL,
    skills::update::UpdateSkill::SQL,
];

/// A declared statement, as a test compares it with what Postgres says.
#[derive(Debug, Clone)]
pub struct Declared {
    pub sql: &'static str,
    /// Whether it is run where it may change something.
    pub writes: bool,
    /// Whether it is run across tenants. Then no parameters stand before those declared.
    pub is_across: bool,
    /// Whether the value of each declared parameter can be bound to a type. `$1` and `$2` before them are UUIDs.
    pub parameters: Vec<Accepts>,
    /// The columns that are read, and whether each can be read from a type.
    pub columns: Vec<(&'static str, Accepts)>,
}

fn declared<S: Statement>(writes: bool) -> Declared {
    let mut columns = Vec::new();
    <S::Row as Columns>::add_to(&mut columns);
    Declared { sql: S::SQL, writes, is_across: false, parameters: S::accepts(), columns }
}

fn look_up<S: LookUp>() -> Declared {
    Declared { is_across: true, ..declared::<S>(false) }
}

fn read<S: Read>() -> Declared {
    declared::<S>(false)
}

fn write<S: Write>() -> Declared {
    declared::<S>(true)
}

/// Lists all declared statements.
pub fn list_declared() -> Vec<Declared> {
    [list_look_ups(), list_reads(), list_writes(), list_of_graph(), list_of_dreams(), list_of_reflections()].concat()
}

fn list_look_ups() -> Vec<Declared> {
    vec![look_up::<system::FindTenant>(), look_up::<system::FindKeys>()]
}

fn list_reads() -> Vec<Declared> {
    vec![
        read::<conversations::ListConversations>(),
        read::<conversations::SearchConversations>(),
        read::<directives::FindInForce>(),
        read::<embeddings::FindSkill>(),
        read::<embeddings::ListSkills>(),
        read::<embeddings::ListMemories>(),
        read::<embeddings::ListExamples>(),
        read::<examples::learn::FindLesson>(),
        read::<examples::list::ListExamples>(),
        read::<examples::vectors::ListVectors>(),
        read::<history::FindStoredBytes>(),
        read::<idempotency::FindAnswer>(),
        read::<library::FindBase>(),
        read::<memories::ListMemories>(),
        read::<memories::FindAll>(),
        read::<memories::texts::FindStamp>(),
        read::<memories::texts::ListHeads>(),
        read::<memories::texts::ReadTexts>(),
        read::<offered::ListOffers>(),
        read::<offers::ListOutdated>(),
        read::<offers::FindGiven>(),
        read::<scans::ListUnread>(),
        read::<scans::ListFiles>(),
        read::<scans::ListFound>(),
        read::<scans::FindScan>(),
        read::<scans::WasAsked>(),
        read::<sessions::before::FindBefore>(),
        read::<sessions::log::ListMessages>(),
        read::<sessions::log::ListLastMessages>(),
        read::<sessions::log::ListSessions>(),
        read::<sessions::find::Find>(),
        read::<sessions::turn::FindState>(),
        read::<sessions::turn::FindTurn>(),
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
        read::<skills::raw::ReadRaw>(),
        read::<skills::raw::FindResource>(),
        read::<skills::load::NameOf>(),
        read::<skills::miss::ExplainMiss>(),
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
        read::<snapshots::ReadParts>(),
        read::<souls::ListSouls>(),
        read::<submissions::add::FindKnown>(),
        read::<submissions::notice::FindUnnotified>(),
        read::<submissions::list::FindSubmission>(),
        read::<submissions::list::ListSubmissions>(),
        read::<starters::ListOutdatedCopies>(),
        read::<starters::ListWithdrawn>(),
        read::<versions::ListVersions>(),
        read::<versions::FindVersion>(),
        read::<versions::WasRequested>(),
    ]
}

fn list_writes() -> Vec<Declared> {
    vec![
        write::<conversations::PutSummary>(),
        write::<embeddings::PutVectors>(),
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
        write::<history::Trim>(),
        write::<history::ClearDeleted>(),
        write::<history::ForgetOldestVersions>(),
        write::<history::ExpireOldestEntry>(),
        write::<idempotency::ClaimKey>(),
        write::<idempotency::KeepAnswer>(),
        write::<memories::AddMemory>(),
        write::<memories::DeleteMemory>(),
        write::<memories::approve::FindToApprove>(),
        write::<memories::approve::ApproveMemory>(),
        write::<scans::PutScans>(),
        write::<scans::FinishScan>(),
        write::<scans::NoteScan>(),
        write::<sessions::join::Join>(),
        write::<sessions::log::End>(),
        write::<sessions::reply::AddReply>(),
        write::<sessions::log::Taint>(),
        write::<sessions::feedback::AddFeedback>(),
        write::<sessions::open::Open>(),
        write::<sessions::open::ReplaceSnapshot>(),
        write::<sessions::turn::WriteTurn>(),
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
        write::<snapshots::FindCurrent>(),
        write::<snapshots::PutSnapshot>(),
        write::<souls::PutSoul>(),
        write::<souls::approve::FindToApprove>(),
        write::<souls::approve::ApproveSoul>(),
        write::<submissions::add::AddSubmission>(),
        write::<submissions::add::EnqueueReview>(),
        write::<submissions::add::EnqueueNotice>(),
        write::<submissions::notice::NoteNotified>(),
        write::<submissions::decide::ReadUndecided>(),
        write::<submissions::decide::CloseSubmission>(),
        write::<submissions::decide::NoteCheck>(),
        write::<submissions::decide::ApproveVersion>(),
        write::<starters::Lend>(),
        write::<starters::LockRelease>(),
        write::<starters::Settle>(),
        write::<starters::Bring>(),
        write::<starters::ForgetInstall>(),
        write::<offered::CountInapplicable>(),
        write::<offers::NoteOffer>(),
        write::<offers::NoteMerged>(),
        write::<usage::CountUse>(),
        write::<vault::write_tx::LockUser>(),
    ]
}

fn list_of_graph() -> Vec<Declared> {
    vec![
        read::<graph::around::ListEdges>(),
        read::<graph::around::ListNodes>(),
        read::<graph::around::ListStrongest>(),
        read::<analytics::ListFigures>(),
        read::<graph::entities::ListEntities>(),
        read::<graph::hop::ListHops>(),
        read::<graph::knowledge::ListDaysOfUse>(),
        read::<graph::knowledge::ListLinkedMemories>(),
        read::<graph::neighbours::ListNeighbours>(),
        read::<graph::relate::ListUnread>(),
        read::<graph::relations::ListRelations>(),
        read::<graph::standings::FindStanding>(),
        read::<graph::standings::ListStandings>(),
        read::<graph::standings::RankSkills>(),
        read::<graph::surroundings::ListNamedRelations>(),
        read::<graph::surroundings::ListSurroundings>(),
        read::<graph::things::ListThings>(),
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

fn list_of_reflections() -> Vec<Declared> {
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

fn list_of_dreams() -> Vec<Declared> {
    use dreams::{absorb, end_run, inputs, ops, restore, runs, settings};
    vec![
        read::<absorb::ReadSurroundings>(),
        write::<absorb::AbsorbSkill>(),
        read::<inputs::ListDocuments>(),
        read::<inputs::ListSkills>(),
        read::<inputs::ListSessions>(),
        read::<inputs::ListMessages>(),
        write::<inputs::PutSessionVectors>(),
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
