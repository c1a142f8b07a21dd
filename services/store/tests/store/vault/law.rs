//! Every statement names the owner of its rows. An SQL parser reads the statements.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, FromTable, Insert, JoinConstraint, JoinOperator, ObjectName, Query, SetExpr, Statement,
    TableAlias, TableFactor, TableObject, TableWithJoins, UpdateTableFromKind, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::harness::Place;
use crate::vault::matrix::{self, Table};
use crate::vault::statements::{Statement as Source, statements};

/// Returns the tables, and their owner columns, that a statement does not restrict.
fn find_unsaid(sql: &str, tables: &[Table]) -> Vec<String> {
    // The parser does not support a partial index after ON CONFLICT, OVERRIDING, or escaped line ends.
    let sql = sql.replace(") where ended_at is null do nothing", ") do nothing").replace("\\\n", "\n");
    let sql = sql.replace("overriding system value", "");
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, &sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let mut law = Law { tables, unsaid: Vec::new() };
    let _ = parsed.visit(&mut law);
    law.unsaid
}

struct Law<'t> {
    tables: &'t [Table],
    unsaid: Vec<String>,
}

impl Visitor for Law<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.body(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        match statement {
            Statement::Update(update) => {
                let from = match &update.from {
                    Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) => from.as_slice(),
                    None => &[],
                };
                self.scope([std::slice::from_ref(&update.table), from].concat().as_slice(), update.selection.as_ref());
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
                let using = delete.using.as_deref().unwrap_or_default();
                self.scope([from.as_slice(), using].concat().as_slice(), delete.selection.as_ref());
            }
            Statement::Insert(insert) => self.insert(insert),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Law<'_> {
    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => self.scope(&select.from, select.selection.as_ref()),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            _ => {}
        }
    }

    /// Checks the tables and conditions of one FROM clause.
    fn scope(&mut self, from: &[TableWithJoins], selection: Option<&Expr>) {
        let (mut read, mut conditions) = (Vec::new(), Vec::new());
        from.iter().for_each(|table| collect(table, &mut read, &mut conditions));
        selection.into_iter().for_each(|condition| conjuncts(condition, &mut conditions));
        for (name, alias) in &read {
            let is_said = |column: &str| conditions.iter().any(|c| says(c, alias, column, read.len() == 1));
            self.note(name, is_said);
        }
    }

    /// Checks an insert, which must list the owner columns or select rows that are restricted to an owner.
    fn insert(&mut self, insert: &Insert) {
        let TableObject::TableName(table) = &insert.table else { return };
        let mut conditions = Vec::new();
        if let Some(SetExpr::Select(select)) = insert.source.as_ref().map(|source| source.body.as_ref()) {
            select.selection.iter().for_each(|condition| conjuncts(condition, &mut conditions));
        }
        let columns: Vec<String> = insert.columns.iter().map(last).collect();
        self.note(&last(table), |column| match columns.as_slice() {
            [] => conditions.iter().any(|c| compares(c, |side| is_column(side, column))),
            columns => columns.iter().any(|c| c == column),
        });
    }

    fn note(&mut self, name: &str, is_said: impl Fn(&str) -> bool) {
        let Some(table) = self.tables.iter().find(|table| table.name == name) else { return };
        let columns: &[&str] = if table.of_users { &["tenant_id", "user_id"] } else { &["tenant_id"] };
        let unsaid = columns.iter().filter(|column| !is_said(column));
        self.unsaid.extend(unsaid.map(|column| format!("{name} without {column}")));
    }
}

fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|ident| ident.value.clone()).unwrap_or_default()
}

/// Collects tables with their aliases, and the conditions of joins.
fn collect<'e>(table: &'e TableWithJoins, read: &mut Vec<(String, String)>, conditions: &mut Vec<&'e Expr>) {
    factor(&table.relation, read, conditions);
    for join in &table.joins {
        factor(&join.relation, read, conditions);
        if let JoinOperator::Join(JoinConstraint::On(on))
        | JoinOperator::Inner(JoinConstraint::On(on))
        | JoinOperator::Left(JoinConstraint::On(on))
        | JoinOperator::LeftOuter(JoinConstraint::On(on)) = &join.join_operator
        {
            conjuncts(on, conditions);
        }
    }
}

fn factor<'e>(factor: &'e TableFactor, read: &mut Vec<(String, String)>, conditions: &mut Vec<&'e Expr>) {
    match factor {
        TableFactor::Table { name, alias, args: None, .. } => {
            let called = |alias: &TableAlias| alias.name.value.clone();
            read.push((last(name), alias.as_ref().map_or_else(|| last(name), called)));
        }
        TableFactor::NestedJoin { table_with_joins, .. } => collect(table_with_joins, read, conditions),
        _ => {}
    }
}

/// Collects the parts of a condition that AND joins, which hold for every row.
fn conjuncts<'e>(condition: &'e Expr, found: &mut Vec<&'e Expr>) {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            conjuncts(left, found);
            conjuncts(right, found);
        }
        Expr::Nested(inner) => conjuncts(inner, found),
        other => found.push(other),
    }
}

fn is_column(side: &Expr, column: &str) -> bool {
    matches!(side, Expr::CompoundIdentifier(parts) if parts.last().is_some_and(|part| part.value == column))
}

/// Returns whether a condition compares the column of that table with a value.
fn says(condition: &Expr, alias: &str, column: &str, is_alone: bool) -> bool {
    compares(condition, |side| match side {
        Expr::Identifier(name) => is_alone && name.value == column,
        Expr::CompoundIdentifier(parts) => {
            matches!(parts.as_slice(), [table, name] if table.value == alias && name.value == column)
        }
        _ => false,
    })
}

fn compares(condition: &Expr, is_it: impl Fn(&Expr) -> bool) -> bool {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => match (left.as_ref(), right.as_ref()) {
            (Expr::Tuple(left), Expr::Tuple(right)) => left.iter().chain(right).any(is_it),
            (left, right) => is_it(left) || is_it(right),
        },
        _ => false,
    }
}

#[tokio::test]
async fn every_statement_names_the_owner_of_its_rows() {
    let tables = matrix::tables(&mut Place::shared().await.owner().await).await;
    let unsaid = |source: &Source| -> Vec<String> {
        find_unsaid(&source.sql, &tables).into_iter().map(|u| format!("{}: {u}", source.name())).collect()
    };
    let findings: Vec<String> = statements().iter().filter(|s| !s.is_excused()).flat_map(unsaid).collect();
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn a_statement_without_an_owner_is_detected() {
    let table = |name: &str, of_users| Table { name: name.into(), of_users, is_view: false };
    let tables = [table("skills", true), table("issuers", false)];
    for (sql, found) in [
        ("select name from skills", 2),
        ("select name from skills where tenant_id = $1", 1),
        ("select s.name from skills s where s.tenant_id = $1 and s.user_id = $2", 0),
        ("select s.name from skills s where s.tenant_id = $1 and (s.user_id = $2 or s.name = 'a')", 1),
        ("select s.name from skills s where (s.tenant_id, s.user_id) > ($1, $2)", 2),
        ("select s.name from skills s where (s.tenant_id, s.user_id) = ($1, $2)", 0),
        ("select s.tenant_id, s.user_id from skills s", 2),
        ("select a.name from skills a, skills b where a.tenant_id = $1 and a.user_id = $2", 2),
        (
            "select a.name from skills a left join skills b on b.tenant_id = $1 where a.tenant_id = $1 and a.user_id = $2",
            1,
        ),
        ("select (select name from skills limit 1) from skills where tenant_id = $1 and user_id = $2", 2),
        ("select 1 where exists (select from skills)", 2),
        ("update skills set name = $1 where skill_id = $2", 2),
        ("with gone as (delete from skills where skill_id = $1 returning name) select name from gone", 2),
        ("delete from skills as s using issuers where s.tenant_id = $1 and s.user_id = $2", 1),
        ("insert into skills (name) values ($1)", 2),
        ("insert into skills (tenant_id, user_id, name) values ($1, $2, $3)", 0),
        ("insert into skills select s.* from taken s where s.tenant_id = $1 and s.user_id = $2", 0),
    ] {
        assert_eq!(find_unsaid(sql, &tables).len(), found, "{sql}");
    }
}
