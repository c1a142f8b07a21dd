//! Every declared statement is prepared on the migrated database as the role that runs it. The parameters and columns
//! that Postgres reports are compared with those in the code.

use std::collections::BTreeSet;

use knowhow_domain::new_id;
use knowhow_store::{DeclaredStatement, list_declared};
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::harness::Place;
use crate::vault::statements::{Statement, sources, statements};

/// Opens a connection in a transaction of the role, with the context of a user who does not exist.
pub async fn as_role(place: &Place, role: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(&place.login_url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let (tenant, user) = (new_id(), new_id());
    let begin =
        format!("begin; set local role {role}; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'");
    client.batch_execute(&begin).await.unwrap();
    client
}

/// Returns the generic plan of a statement. Postgres checks the grants of the role as if the statement was run.
pub async fn plan(client: &Client, sql: &str) -> Result<Value, String> {
    client.batch_execute("savepoint before").await.unwrap();
    let explained = client.simple_query(&format!("explain (generic_plan, format json)\n{sql}")).await;
    client.batch_execute("rollback to before").await.unwrap();
    let rows =
        explained.map_err(|error| error.as_db_error().map_or_else(|| error.to_string(), |e| e.message().into()))?;
    let text = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    Ok(serde_json::from_str(text.unwrap()).unwrap())
}

/// Returns whether a plan changes or locks rows. Functions of the schema that do so are recognized by name.
fn changes_rows(plan: &Value, sql: &str) -> bool {
    let plan = plan.to_string();
    // `app.admit` changes no rows, but must refuse in the transaction of the change.
    let functions = ["app.enqueue(", "app.follow_text(", "app.forget_versions(", "app.clear_deleted(", "app.admit("];
    ["\"ModifyTable\"", "\"LockRows\""].iter().any(|node| plan.contains(node))
        || functions.iter().any(|function| sql.contains(function))
}

fn differences(declared: &DeclaredStatement, parameters: &[Type], columns: &[(String, Type)]) -> Vec<String> {
    let mut found = Vec::new();
    let owners = if declared.is_across { 0 } else { 2 };
    if parameters.len() != declared.parameters.len() + owners {
        found.push(format!("takes {} parameters, {} are bound", parameters.len(), declared.parameters.len() + owners));
    }
    if parameters.iter().take(owners).any(|owner| *owner != Type::UUID) {
        found.push("$1 and $2 are not the tenant and the user".into());
    }
    for (at, (parameter, accepts)) in parameters.iter().skip(owners).zip(&declared.parameters).enumerate() {
        if !accepts(parameter) {
            found.push(format!("${} is {parameter}, which is not what is bound", at + owners + 1));
        }
    }
    for (name, accepts) in &declared.columns {
        match columns.iter().filter(|(column, _)| column == name).collect::<Vec<_>>().as_slice() {
            [(_, column)] if accepts(column) => {}
            [(_, column)] => found.push(format!("'{name}' is {column}, which is not what is read")),
            [] => found.push(format!("has no column '{name}'")),
            _ => found.push(format!("has two columns '{name}'")),
        }
    }
    if declared.columns.is_empty() {
        // The code only asks whether a row exists.
        return found;
    }
    let read: BTreeSet<&str> = declared.columns.iter().map(|(name, _)| *name).collect();
    found.extend(columns.iter().filter(|(c, _)| !read.contains(c.as_str())).map(|(c, _)| format!("'{c}' is not read")));
    found
}

#[tokio::test]
async fn every_declared_statement_matches_postgres() {
    let place = Place::shared().await;
    let (tenant, system) = (as_role(&place, "knowhow_tenant").await, as_role(&place, "knowhow_system").await);
    let mut findings = Vec::new();
    for declared in list_declared() {
        let client = if declared.is_across { &system } else { &tenant };
        let name = declared.sql.lines().next().unwrap();
        let prepared = client.prepare(declared.sql).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let columns: Vec<_> = prepared.columns().iter().map(|c| (c.name().to_owned(), c.type_().clone())).collect();
        findings
            .extend(differences(&declared, prepared.params(), &columns).into_iter().map(|d| format!("{name}: {d}")));
        match plan(client, declared.sql).await {
            Err(refused) => findings.push(format!("{name}: {refused}")),
            Ok(plan) if changes_rows(&plan, declared.sql) == declared.writes => {}
            Ok(_) => findings.push(format!("{name}: is run as a {}", if declared.writes { "write" } else { "read" })),
        }
    }
    assert_eq!(findings, Vec::<String>::new());
}

/// Postgres expects one line and one count, so it would compare each line with each count: 2,500 comparisons for a
/// page of 50. A full join avoids that.
#[tokio::test]
async fn the_page_query_joins_lines_and_counts_with_a_full_join() {
    let client = as_role(&Place::shared().await, "knowhow_tenant").await;
    let page = list_declared().into_iter().find(|declared| name_of(declared.sql) == "skills.list_page").unwrap();
    let plan = plan(&client, page.sql).await.unwrap().to_string();
    assert!(plan.contains(r#""Join Type":"Full""#), "{plan}");
}

type Accepts = fn(&Type) -> bool;

#[test]
fn a_wrong_declaration_is_detected() {
    let of = |parameter: Accepts, column: &'static str, read: Accepts| DeclaredStatement {
        sql: "-- test.test\nselect",
        writes: false,
        is_across: false,
        parameters: vec![parameter],
        columns: vec![(column, read)],
    };
    let (is_text, is_int): (Accepts, Accepts) = (|t| *t == Type::TEXT, |t| *t == Type::INT4);
    let parameters = [Type::UUID, Type::UUID, Type::TEXT];
    let columns = [("version".to_owned(), Type::INT4)];
    assert_eq!(differences(&of(is_text, "version", is_int), &parameters, &columns), Vec::<String>::new());
    assert_eq!(differences(&of(is_int, "version", is_int), &parameters, &columns).len(), 1);
    assert_eq!(differences(&of(is_text, "version", is_text), &parameters, &columns).len(), 1);
    assert_eq!(differences(&of(is_text, "versions", is_int), &parameters, &columns).len(), 2);
    assert_eq!(differences(&of(is_text, "version", is_int), &parameters[..2], &columns).len(), 1);
    let other_owner = [Type::UUID, Type::TEXT, Type::TEXT];
    assert_eq!(differences(&of(is_text, "version", is_int), &other_owner, &columns).len(), 1);
}

/// These statements are rare and run through sqlx, some without its macros, because the tables of the queue belong to
/// a library.
#[tokio::test]
async fn every_statement_across_tenants_is_planned_as_its_role() {
    let client = as_role(&Place::shared().await, "knowhow_system").await;
    let mut refused = Vec::new();
    for statement in statements().into_iter().filter(Statement::is_across) {
        if let Err(why) = plan(&client, &statement.sql).await {
            refused.push(format!("{}: {why}", statement.name()));
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}

/// A statement may be declared with the macro, and run, but be missing in the list.
#[test]
fn no_declared_statement_is_missing_in_the_list() {
    let listed: BTreeSet<&str> = list_declared().iter().map(|declared| name_of(declared.sql)).collect();
    let mut declared = BTreeSet::new();
    for file in sources("store") {
        let text = std::fs::read_to_string(&file).unwrap();
        let blocks = text.split("\nstatement! {").skip(1);
        declared.extend(blocks.map(|block| name_of(&block[block.find("\"-- ").unwrap() + 1..]).to_owned()));
    }
    assert!(declared.len() > 40, "only {} statements were found", declared.len());
    assert_eq!(declared.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed);
}

pub fn name_of(sql: &str) -> &str {
    sql.trim_start_matches("-- ").split_whitespace().next().unwrap()
}
