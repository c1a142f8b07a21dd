//! The isolation matrix: every tenant table x every verb x every caller x every owner of the row, as SQL under the
//! service's roles. A function that returns what is wrong, so that other tests can see it turn red.

use std::fmt;

use sqlx::{AssertSqlSafe, Executor, PgConnection, Row};
use uuid::Uuid;

use crate::rows::{self, Owner};

/// Tables with statements across tenants, hence with a policy for the system role, and why.
pub const OPEN_TO_SYSTEM: &[(&str, &str)] = &[
    ("tenants", "a credential names its tenant before anything is verified; operators stand above tenants"),
    ("issuers", "a token is verified before there is a principal"),
    ("api_keys", "a key is looked up by its prefix, and only its row says whose it is"),
    ("users", "a user is made at first sight, before there is a user to run as"),
    ("user_catalogs", "made with its user; locked by clearing up"),
    ("audit_log", "operators' changes of tenants are noted; what is past its time is a question over all tenants"),
    ("idempotency_keys", "what is past its time is a question over all tenants"),
    ("usage_days", "what is past its time is a question over all tenants"),
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

/// Tables of a tenant that its users may read, and why.
pub const SHARED: &[(&str, &str)] = &[
    ("library_texts", "the skills that the tenant gives to all of its users"),
    ("library_releases", "which of them make what is given"),
    ("library_vectors", "their vectors, by which each user finds them"),
    ("directives", "what jobs of each user say to a model"),
    ("webhooks", "whether there is anybody to tell of what waits; no more of it is granted"),
];

/// Tables of which the functions that run as their owner read the rows of a whole tenant, and why.
const READ_BY_OWNER: &[(&str, &str)] = &[
    ("users", "a history shows the names of whoever it names by id"),
    ("audit_log", "the digests of a tenant's entries are made, which nobody else may read all of"),
    ("erasures", "only who is in the ledger can be erased"),
];

/// Tables of which a function of the owner sees the rows of all users, to sum them up and to drop what is over.
const ROLLED_UP: &[&str] = &["usage_days", "usage_events"];

/// A table with a tenant's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Whether its rows belong to users, not to the tenant as a whole.
    pub of_users: bool,
    /// Whether it only shows rows of tables.
    pub is_view: bool,
}

/// Every table of the schema that has a `tenant_id`.
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

/// Whose rows the matrix is about.
pub struct Cast {
    own: Owner,
    other_user: Owner,
    other_tenant: Owner,
    namesake: Owner,
}

impl Cast {
    /// Four owners with a row in every table.
    pub async fn seed(conn: &mut PgConnection) -> Self {
        let id = knowhow_domain::new_id;
        let own = Owner::new(id(), id());
        let other_user = Owner::new(own.tenant, id());
        let cast = Self { own, other_user, other_tenant: Owner::new(id(), id()), namesake: own.namesake() };
        rows::seed(conn, &[cast.own, cast.other_user, cast.other_tenant, cast.namesake]).await;
        cast
    }

    fn owner(&self, target: Target) -> Owner {
        match target {
            Target::Own => self.own,
            Target::OtherUser => self.other_user,
            Target::OtherTenant => self.other_tenant,
            Target::Namesake => self.namesake,
        }
    }
}

/// How a cell is set apart: on a connection of its own, or within a transaction that has changed something.
#[derive(Clone, Copy, PartialEq)]
pub enum Frame {
    /// `begin` to `rollback`, as the service's login.
    Transaction,
    /// A savepoint of the superuser's transaction.
    Savepoint,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Tenant,
    Admin,
    System,
    /// The owner of the tables, as whom some functions run. No login can become it.
    Owner,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Tenant => "knowhow_tenant",
            Self::Admin => "knowhow_admin",
            Self::System => "knowhow_system",
            Self::Owner => "knowhow_owner",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Context {
    Own,
    TenantWide,
    NoUser,
    NoTenant,
    Nothing,
    /// Within the function that removes the rows of the user.
    Erasing,
    /// Within the function that sums up the use of all users.
    RollingUp,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    Own,
    OtherUser,
    OtherTenant,
    Namesake,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verb {
    Select,
    Insert,
    Update,
    Delete,
    /// Updates the caller's own row so that it would be the target's.
    GiveAway,
    /// Selects without naming an owner.
    SelectAll,
}

/// Who calls.
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

/// How functions of the owner call.
const OWNER: &[(Role, Context)] = &[
    (Role::Owner, Context::Own),
    (Role::Owner, Context::Erasing),
    (Role::Owner, Context::RollingUp),
    (Role::Owner, Context::Nothing),
];

#[derive(Debug, Clone, Copy)]
struct Cell {
    role: Role,
    context: Context,
    verb: Verb,
    target: Target,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with context {:?}, {:?} of {:?}", self.role, self.context, self.verb, self.target)
    }
}

/// What came of a statement.
#[derive(Debug, PartialEq)]
enum Outcome {
    Rows(u64),
    NoContext,
    RefusedByPolicy,
    NoGrant,
    /// Let through by the policy, stopped by a key.
    Constraint,
    Else(String),
}

/// Runs all cells of these tables and tells, each in a sentence, which came out otherwise than they must.
pub async fn findings(conn: &mut PgConnection, frame: Frame, cast: &Cast, tables: &[Table]) -> Vec<String> {
    try_all(conn, &Trial { frame, cast, tables, callers: CALLERS }).await
}

/// The same for the owner of the tables, within a superuser's transaction.
pub async fn findings_of_owner(conn: &mut PgConnection, cast: &Cast, tables: &[Table]) -> Vec<String> {
    try_all(conn, &Trial { frame: Frame::Savepoint, cast, tables, callers: OWNER }).await
}

/// What is tried, and by whom.
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
            // A view is read alone, and by users and admins: its grants say so.
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

#[derive(Debug, PartialEq)]
enum Kind {
    None,
    Some,
    NoContext,
    RefusedByPolicy,
    NoGrant,
    Constraint,
    Else,
}

fn kind(outcome: &Outcome) -> Kind {
    match outcome {
        Outcome::Rows(0) => Kind::None,
        Outcome::Rows(_) => Kind::Some,
        Outcome::NoContext => Kind::NoContext,
        Outcome::RefusedByPolicy => Kind::RefusedByPolicy,
        Outcome::NoGrant => Kind::NoGrant,
        Outcome::Constraint => Kind::Constraint,
        Outcome::Else(_) => Kind::Else,
    }
}

/// The rule of the house, for one cell.
fn expected(table: &Table, cell: Cell, granted: bool) -> Vec<Kind> {
    let Cell { role, context, verb, target } = cell;
    if role == Role::System {
        let open = OPEN_TO_SYSTEM.iter().any(|(name, _)| *name == table.name);
        return vec![match (granted, open) {
            (false, _) => Kind::NoGrant,
            (true, true) => Kind::Some,
            (true, false) => Kind::None,
        }];
    }
    if role == Role::Owner {
        return expected_of_owner(table, cell);
    }
    let within_context = matches!(context, Context::Own | Context::TenantWide);
    if !granted {
        // Without a context either refusal may come first.
        return if within_context { vec![Kind::NoGrant] } else { vec![Kind::NoGrant, Kind::NoContext] };
    }
    let refused = if matches!(verb, Verb::Insert | Verb::GiveAway) { Kind::RefusedByPolicy } else { Kind::None };
    let is_read = matches!(verb, Verb::Select | Verb::SelectAll);
    if role == Role::Tenant && is_read && SHARED.iter().any(|(name, _)| *name == table.name) {
        return vec![match (context, target) {
            (Context::NoTenant | Context::Nothing, _) => Kind::NoContext,
            (_, Target::Own) => Kind::Some,
            _ => Kind::None,
        }];
    }
    if role == Role::Tenant && !table.of_users {
        // No policy names this role, so there is nothing for it, with or without a context.
        return vec![if verb == Verb::GiveAway { Kind::None } else { refused }];
    }
    if !within_context {
        return vec![Kind::NoContext];
    }
    let own = target == Target::Own && (context == Context::Own || !table.of_users);
    let readable = own || (role == Role::Admin && matches!(target, Target::Own | Target::OtherUser));
    match verb {
        Verb::Select if readable => vec![Kind::Some],
        Verb::Insert | Verb::Update | Verb::Delete if own => vec![Kind::Some, Kind::Constraint],
        // Nothing else may come: what comes from others is counted as `Else`.
        Verb::SelectAll => vec![Kind::Some],
        _ => vec![refused],
    }
}

/// The owner has the rights, and what the policies leave of them: some tables to read, and the rows of whoever is being erased.
fn expected_of_owner(table: &Table, cell: Cell) -> Vec<Kind> {
    let Cell { context, verb, target, .. } = cell;
    let refused = match verb {
        Verb::Insert => Kind::RefusedByPolicy,
        // A row that may be changed may not be given away.
        Verb::GiveAway if context == Context::Erasing && table.of_users => Kind::RefusedByPolicy,
        _ => Kind::None,
    };
    if context == Context::Nothing {
        return vec![refused, Kind::NoContext];
    }
    if context == Context::RollingUp {
        let sees = ROLLED_UP.contains(&table.name.as_str());
        return match verb {
            Verb::Select | Verb::SelectAll if sees => vec![Kind::Some],
            _ if sees => vec![Kind::Some, Kind::Constraint],
            _ => vec![refused],
        };
    }
    let reads = READ_BY_OWNER.iter().any(|(name, _)| *name == table.name);
    let erases = context == Context::Erasing && table.of_users;
    match verb {
        Verb::Select if reads && matches!(target, Target::Own | Target::OtherUser) => vec![Kind::Some],
        Verb::SelectAll if reads || erases => vec![Kind::Some],
        Verb::Select if erases && target == Target::Own => vec![Kind::Some],
        Verb::Insert | Verb::Update | Verb::Delete if erases && target == Target::Own => {
            vec![Kind::Some, Kind::Constraint]
        }
        _ => vec![refused],
    }
}

/// What the catalogue grants a role on a table, as far as the statements here need it.
struct Rights {
    select: bool,
    insert: bool,
    update: bool,
    delete: bool,
    give_away: bool,
    /// A column that the role may update; any, where it may update none.
    column: String,
}

impl Rights {
    async fn read(conn: &mut PgConnection, table: &Table, role: Role) -> Self {
        let keys: &[&str] = if table.of_users { &["tenant_id", "user_id"] } else { &["tenant_id"] };
        let reads = match role {
            Role::System => "has_any_column_privilege($1, $2, 'select')".to_owned(),
            _ => all(keys, "select"),
        };
        let sql = format!(
            "select {reads}, has_table_privilege($1, $2, 'insert'), has_any_column_privilege($1, $2, 'update'),
                    has_table_privilege($1, $2, 'delete'), {},
                    (select attname::text from pg_attribute
                     where attrelid = $2::regclass and attnum > 0 and not attisdropped and attgenerated = ''
                     order by has_column_privilege($1, attrelid, attnum, 'update') desc, attnum desc limit 1)",
            all(keys, "update")
        );
        let row = sqlx::query(AssertSqlSafe(sql)).bind(role.name()).bind(&table.name).fetch_one(conn).await.unwrap();
        Self {
            select: row.get(0),
            insert: row.get(1),
            update: row.get(2),
            delete: row.get(3),
            give_away: row.get(4),
            column: row.get(5),
        }
    }

    /// A statement that says whose rows it means reads them too.
    fn suffice(&self, verb: Verb) -> bool {
        match verb {
            Verb::Select | Verb::SelectAll => self.select,
            Verb::Insert => self.insert,
            Verb::Update => self.select && self.update,
            Verb::Delete => self.select && self.delete,
            Verb::GiveAway => self.select && self.give_away,
        }
    }
}

fn all(columns: &[&str], privilege: &str) -> String {
    let each: Vec<_> =
        columns.iter().map(|column| format!("has_column_privilege($1, $2, '{column}', '{privilege}')")).collect();
    each.join(" and ")
}

/// What is tried on a table.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    table: &'a Table,
    /// As [`Rights`] names it.
    column: &'a str,
    cell: Cell,
}

async fn run(conn: &mut PgConnection, frame: Frame, cast: &Cast, attempt: Attempt<'_>) -> Outcome {
    let cell = attempt.cell;
    let (open, close) = match frame {
        Frame::Transaction => ("begin", "rollback"),
        Frame::Savepoint => ("savepoint cell", "rollback to cell"),
    };
    let context = settings(cell.context, cast);
    let begin = format!("{open}; set local role {}{context}", cell.role.name());
    conn.execute(AssertSqlSafe(begin)).await.unwrap();
    let outcome = make(conn, cast, attempt).await;
    conn.execute(close).await.unwrap();
    outcome
}

/// As the service sets it with `begin`.
fn settings(context: Context, cast: &Cast) -> String {
    let tenant = format!("; set local app.tenant_id = '{}'", cast.own.tenant);
    let user = |id: Uuid| format!("; set local app.user_id = '{id}'");
    match context {
        Context::Own => tenant + &user(cast.own.user),
        Context::TenantWide => tenant + &user(Uuid::nil()),
        Context::NoUser => tenant,
        Context::NoTenant => user(cast.own.user),
        Context::Nothing => String::new(),
        Context::RollingUp => {
            format!("; set local app.tenant_id = '{}'; set local app.rolls_up = 'on'", Uuid::nil())
        }
        Context::Erasing => format!("{tenant}; set local app.erased_user = '{}'", cast.own.user),
    }
}

async fn make(conn: &mut PgConnection, cast: &Cast, attempt: Attempt<'_>) -> Outcome {
    let Attempt { table, column, cell } = attempt;
    let (name, target) = (&table.name, cast.owner(cell.target));
    let owned = |owner: Owner| {
        let user = if table.of_users { format!(" and user_id = '{}'", owner.user) } else { String::new() };
        format!("tenant_id = '{}'{user}", owner.tenant)
    };
    let sql = match cell.verb {
        Verb::Select => format!("select tenant_id from {name} where {}", owned(target)),
        Verb::Insert => rows::insert(name, target).unwrap(),
        Verb::Update => format!("update {name} set {column} = {column} where {}", owned(target)),
        Verb::Delete => format!("delete from {name} where {}", owned(target)),
        Verb::GiveAway => {
            let new = owned(target).replace(" and ", ", ");
            format!("update {name} set {new} where {}", owned(cast.own))
        }
        Verb::SelectAll => return select_all(conn, cast, table, cell).await,
    };
    outcome(conn.execute(AssertSqlSafe(sql)).await.map(|done| done.rows_affected()))
}

/// Everything a caller sees who names nobody must be within their reach.
async fn select_all(conn: &mut PgConnection, cast: &Cast, table: &Table, cell: Cell) -> Outcome {
    if cell.role == Role::System || cell.context == Context::RollingUp {
        let count = sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!("select count(*) from {}", table.name)));
        return outcome(count.fetch_one(conn).await.map(i64::unsigned_abs));
    }
    let user = if table.of_users { "user_id" } else { "null::uuid" };
    let sql = format!("select tenant_id, {user} from {}", table.name);
    let seen = match sqlx::query_as::<_, (Uuid, Option<Uuid>)>(AssertSqlSafe(sql)).fetch_all(conn).await {
        Ok(seen) => seen,
        Err(error) => return outcome(Err(error)),
    };
    let own = cast.own;
    let reach = |tenant: Uuid, user: Option<Uuid>| {
        let is_wide = matches!(cell.role, Role::Admin | Role::Owner);
        tenant == own.tenant && (is_wide || user.is_none_or(|user| user == own.user))
    };
    match seen.iter().find(|(tenant, user)| !reach(*tenant, *user)) {
        Some((tenant, user)) => Outcome::Else(format!("sees a row of {tenant} {user:?}")),
        None => Outcome::Rows(seen.len() as u64),
    }
}

fn outcome(result: Result<u64, sqlx::Error>) -> Outcome {
    let error = match result {
        Ok(rows) => return Outcome::Rows(rows),
        Err(error) => error,
    };
    let Some(refusal) = error.as_database_error() else { return Outcome::Else(error.to_string()) };
    let (code, message) = (refusal.code().unwrap_or_default(), refusal.message());
    match &*code {
        "42501" if message == "no tenant context" => Outcome::NoContext,
        "42501" if message.starts_with("new row violates row-level security policy") => Outcome::RefusedByPolicy,
        "42501" if message.starts_with("permission denied") => Outcome::NoGrant,
        "23505" | "23503" => Outcome::Constraint,
        _ => Outcome::Else(format!("{code} {message}")),
    }
}
