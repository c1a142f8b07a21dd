//! Expected outcomes of the isolation matrix.

use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::matrix::{
    Cell, Context, OPEN_TO_SYSTEM, Outcome, READ_BY_OWNER, ROLLED_UP, Role, SHARED, Table, Target, Verb,
};

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    None,
    Some,
    NoContext,
    RefusedByPolicy,
    NoGrant,
    Constraint,
    Else,
}

pub(super) fn kind(outcome: &Outcome) -> Kind {
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

/// Returns the allowed outcomes of one attempt.
pub(super) fn expected(table: &Table, cell: Cell, granted: bool) -> Vec<Kind> {
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
        // No policy names this role, so it sees no rows, with or without a context.
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
        // Rows of other owners would be reported as `Else`.
        Verb::SelectAll => vec![Kind::Some],
        _ => vec![refused],
    }
}

/// The owner has all rights. The policies restrict it to some tables that it may read, and to the rows of the user
/// being erased.
fn expected_of_owner(table: &Table, cell: Cell) -> Vec<Kind> {
    let Cell { context, verb, target, .. } = cell;
    let refused = match verb {
        Verb::Insert => Kind::RefusedByPolicy,
        // A row that may be changed must not be given to another owner.
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

/// Rights of a role on a table, as far as the matrix needs them.
pub(super) struct Rights {
    pub(super) select: bool,
    pub(super) insert: bool,
    pub(super) update: bool,
    pub(super) delete: bool,
    pub(super) give_away: bool,
    /// A column that the role may update, and read if there is such a column; any column if there is none to update.
    pub(super) column: String,
}

impl Rights {
    pub(super) async fn read(conn: &mut PgConnection, table: &Table, role: Role) -> Self {
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
                     order by has_column_privilege($1, attrelid, attnum, 'update') desc,
                              has_column_privilege($1, attrelid, attnum, 'select') desc, attnum desc limit 1)",
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

    /// A statement that names the owner of its rows also needs the right to read them.
    pub(super) fn suffice(&self, verb: Verb) -> bool {
        match verb {
            Verb::Select | Verb::SelectAll => self.select,
            Verb::Insert => self.insert,
            Verb::Update => self.select && self.update,
            Verb::Delete => self.select && self.delete,
            Verb::GiveAway => self.select && self.give_away,
        }
    }
}

pub(super) fn all(columns: &[&str], privilege: &str) -> String {
    let each: Vec<_> =
        columns.iter().map(|column| format!("has_column_privilege($1, $2, '{column}', '{privilege}')")).collect();
    each.join(" and ")
}
