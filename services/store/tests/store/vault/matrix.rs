//! The isolation matrix: every combination of tenant table, verb, caller and owner of the row, as SQL under the
//! service's roles. A function returns the wrong outcomes, so that other tests can check that it detects them.

use std::fmt;

use sqlx::{PgConnection, Row};

use super::matrix_attempts::{Attempt, run};
use super::matrix_expected::{Rights, expected, kind};
use crate::rows::{self, Owner};

/// Tables with statements across tenants, which have a policy for the system role, each with the reason.
pub const OPEN_TO_SYSTEM: &[(&str, &str)] = &[
    ("tenants", "a credential names its tenant before anything is verified; operators stand above tenants"),
    ("issuers", "a token is verified before there is a principal"),
    ("api_keys", "a key is looked up by its prefix, and only its row says whose it is"),
    ("console_sessions", "a session is looked up by its cookie, and only its row says whose it is"),
    ("users", "a user is made at first sight, before there is a user to run as"),
    ("user_catalogs", "made with its user; locked by clearing up"),
    ("audit_log", "operators' changes of tenants are noted; what is past its time is a question over all tenants"),
    ("idempotency_keys", "what is past its time is a question over all tenants"),
    ("usage_days", "what is past its time is a question over all tenants"),
    ("judge_usage", "what is past its time is a question over all tenants"),
    ("skill_offers", "what is past its time is a question over all tenants"),
    ("archived_skills", "what is past its time is a question over all tenants"),
    ("skill_resources", "files of what was cleared up"),
    ("skill_versions", "history of what was cleared up"),
    ("skill_files", "which files of what was cleared up are still in use"),
    ("sessions", "who fell silent and what is past its time are questions over all tenants"),
    ("snapshots", "what no session and no user has any more"),
    ("current_snapshots", "whose snapshots are due is a question over all tenants"),
    ("entities", "whose skills are to be read for the graph is a question over all tenants"),
    ("skill_usage", "which snapshots would be rendered alike is a question over all tenants"),
    ("conversation_summaries", "which snapshots would be rendered alike is a question over all tenants"),
    ("skills", "which skills have no vector of the present model is a question over all tenants"),
    ("skill_embeddings", "which skills have no vector of the present model is a question over all tenants"),
    ("memories", "which memories have no vector of the present model is a question over all tenants"),
    ("skill_examples", "what is past its time and what has no vector are questions over all tenants"),
    ("submissions", "what is past its time is a question over all tenants"),
    ("submission_files", "files of submissions that are past their time"),
    ("skill_scans", "whose skills have changed since something was found in them is a question over all tenants"),
    ("memory_embeddings", "which memories have no vector of the present model is a question over all tenants"),
    (
        "audit_seals",
        "a tenant's admin could hide a change by making its seals anew; what is to be sealed is asked over all tenants",
    ),
    ("erasures", "who was erased is nobody, so that the rows are removed as nobody"),
    ("webhooks", "a job is of a user, who may not read where the tenant's messages go"),
    ("learning", "whose night it is is a question over all tenants"),
    ("dream_passes", "whose night it is is a question over all tenants"),
    ("dream_runs", "what is past its time is a question over all tenants"),
    ("dream_rests", "what is past its time is a question over all tenants"),
    ("reflections", "when a day ends where a user is, and what is past its time, are questions over all tenants"),
    ("library_texts", "what a tenant's users are given is put together by whichever request is the first, of a user"),
    ("library_releases", "the same"),
    ("library_scans", "texts are read once for all users of a tenant"),
    ("library_vectors", "vectors for all users of a tenant are made beside a request of one of them"),
];

/// Tables of a tenant that its users may read, each with the reason.
pub const SHARED: &[(&str, &str)] = &[
    ("library_texts", "the skills that the tenant gives to all of its users"),
    ("library_releases", "which of them make what is given"),
    ("library_vectors", "their vectors, by which each user finds them"),
    ("directives", "what jobs of each user say to a model"),
    ("webhooks", "whether there is anybody to tell of what waits; no more of it is granted"),
];

/// Tables of which functions that run as the owner read all rows of a tenant, each with the reason.
pub(super) const READ_BY_OWNER: &[(&str, &str)] = &[
    ("users", "a history shows the names of whoever it names by id"),
    ("audit_log", "the digests of a tenant's entries are made, which nobody else may read all of"),
    ("erasures", "only who is in the ledger can be erased"),
];

/// Tables of which a function of the owner sees the rows of all users, to sum up use and drop ended months.
pub(super) const ROLLED_UP: &[&str] = &["usage_days", "usage_events"];

/// A table with a tenant's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// Whether its rows belong to users, not to the tenant as a whole.
    pub of_users: bool,
    /// Whether it is a view.
    pub is_view: bool,
}

/// Returns every table and view of the schema with a `tenant_id`.
pub async fn tables(conn: &mut PgConnection) -> Vec<Table> {
    sqlx::query(
        "select c.relname::text, exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'user_id'),
                c.relkind = 'v'
         from pg_class c
         join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id' and not t.attisdropped
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
         order by 1",
    )
    .fetch_all(conn)
    .await
    .unwrap()
    .iter()
    .map(|row| Table { name: row.get(0), of_users: row.get(1), is_view: row.get(2) })
    .collect()
}

/// The owners of the rows in the matrix.
pub struct Cast {
    pub(super) own: Owner,
    pub(super) other_user: Owner,
    pub(super) other_tenant: Owner,
    pub(super) namesake: Owner,
}

impl Cast {
    /// Inserts a row of every table for each of four owners.
    pub async fn seed(conn: &mut PgConnection) -> Self {
        let id = knowhow_domain::new_id;
        let own = Owner::new(id(), id());
        let other_user = Owner::new(own.tenant, id());
        let cast = Self { own, other_user, other_tenant: Owner::new(id(), id()), namesake: own.namesake() };
        rows::seed(conn, &[cast.own, cast.other_user, cast.other_tenant, cast.namesake]).await;
        cast
    }

    pub(super) fn owner(&self, target: Target) -> Owner {
        match target {
            Target::Own => self.own,
            Target::OtherUser => self.other_user,
            Target::OtherTenant => self.other_tenant,
            Target::Namesake => self.namesake,
        }
    }
}

/// Isolation of each attempt: on a separate connection, or in a transaction that has changed something.
#[derive(Clone, Copy, PartialEq)]
pub enum Frame {
    /// From `begin` to `rollback`, as the service's login role.
    Transaction,
    /// A savepoint of the superuser's transaction.
    Savepoint,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    Tenant,
    Admin,
    System,
    /// The owner of the tables, as which some functions run. No login can take this role.
    Owner,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tenant => "knowhow_tenant",
            Self::Admin => "knowhow_admin",
            Self::System => "knowhow_system",
            Self::Owner => "knowhow_owner",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Context {
    Own,
    TenantWide,
    NoUser,
    NoTenant,
    Nothing,
    /// Inside the function that removes the rows of a user.
    Erasing,
    /// Inside the function that sums up the use of all users.
    RollingUp,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    Own,
    OtherUser,
    OtherTenant,
    Namesake,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verb {
    Select,
    Insert,
    Update,
    Delete,
    /// Updates the caller's own row so that it would belong to the target.
    GiveAway,
    /// Selects without naming an owner.
    SelectAll,
}

/// Roles and contexts of callers.
const CALLERS: &[(Role, Context)] = &[
    (Role::Tenant, Context::Own),
    (Role::Tenant, Context::NoUser),
    (Role::Tenant, Context::NoTenant),
    (Role::Tenant, Context::Nothing),
    (Role::Admin, Context::Own),
    (Role::Admin, Context::TenantWide),
    (Role::Admin, Context::Nothing),
    (Role::System, Context::Nothing),
];

/// Roles and contexts of functions that run as the owner.
const OWNER: &[(Role, Context)] = &[
    (Role::Owner, Context::Own),
    (Role::Owner, Context::Erasing),
    (Role::Owner, Context::RollingUp),
    (Role::Owner, Context::Nothing),
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) role: Role,
    pub(super) context: Context,
    pub(super) verb: Verb,
    pub(super) target: Target,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with context {:?}, {:?} of {:?}", self.role, self.context, self.verb, self.target)
    }
}

/// Outcome of a statement.
#[derive(Debug, PartialEq)]
pub(super) enum Outcome {
    Rows(u64),
    NoContext,
    RefusedByPolicy,
    NoGrant,
    /// Allowed by the policy, but refused by a key.
    Constraint,
    Else(String),
}

/// Runs all attempts on these tables, and returns a sentence for each unexpected outcome.
pub async fn findings(conn: &mut PgConnection, frame: Frame, cast: &Cast, tables: &[Table]) -> Vec<String> {
    try_all(conn, &Trial { frame, cast, tables, callers: CALLERS }).await
}

/// Runs the attempts of the owner of the tables, inside a superuser's transaction.
pub async fn findings_of_owner(conn: &mut PgConnection, cast: &Cast, tables: &[Table]) -> Vec<String> {
    try_all(conn, &Trial { frame: Frame::Savepoint, cast, tables, callers: OWNER }).await
}

/// Parameters of a run of the matrix.
struct Trial<'a> {
    frame: Frame,
    cast: &'a Cast,
    tables: &'a [Table],
    callers: &'a [(Role, Context)],
}

async fn try_all(conn: &mut PgConnection, trial: &Trial<'_>) -> Vec<String> {
    let Trial { frame, cast, tables, callers } = *trial;
    let mut findings = Vec::new();
    for table in tables {
        if !table.is_view && rows::insert(&table.name, cast.own).is_none() {
            findings.push(format!("{}: no row is known for this table, add one", table.name));
            continue;
        }
        let mut rights = Vec::new();
        for role in [Role::Tenant, Role::Admin, Role::System, Role::Owner] {
            rights.push(Rights::read(conn, table, role).await);
        }
        for cell in cells(table, callers) {
            let rights = &rights[cell.role as usize];
            let granted = rights.suffice(cell.verb);
            let outcome = run(conn, frame, cast, Attempt { table, column: &rights.column, cell }).await;
            if !expected(table, cell, granted).contains(&kind(&outcome)) {
                findings.push(format!("{}: {cell}: {outcome:?}", table.name));
            }
        }
    }
    findings
}

fn cells(table: &Table, callers: &[(Role, Context)]) -> Vec<Cell> {
    let targets: &[Target] = if table.of_users {
        &[Target::Own, Target::OtherUser, Target::OtherTenant, Target::Namesake]
    } else {
        &[Target::Own, Target::OtherTenant]
    };
    let mut cells = Vec::new();
    for &(role, context) in callers {
        let mut add = |verb, target| {
            // A view can only be read, by users and admins.
            let reads_views = matches!(role, Role::Tenant | Role::Admin);
            if !table.is_view || (reads_views && matches!(verb, Verb::Select | Verb::SelectAll)) {
                cells.push(Cell { role, context, verb, target });
            }
        };
        if role == Role::System {
            add(Verb::SelectAll, Target::Own);
            continue;
        }
        let near = match context {
            Context::Own | Context::TenantWide | Context::Erasing => targets,
            _ => &targets[..1],
        };
        for &target in near {
            for verb in [Verb::Select, Verb::Insert, Verb::Update, Verb::Delete] {
                add(verb, target);
            }
            if matches!(context, Context::Own | Context::Erasing) && target != Target::Own {
                add(Verb::GiveAway, target);
            }
        }
        add(Verb::SelectAll, Target::Own);
    }
    cells
}
