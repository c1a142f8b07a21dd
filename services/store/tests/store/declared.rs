//! Every statement that the vault declares is prepared on the migrated database as the role that runs it, and what
//! Postgres says of its parameters and columns is compared with what the code binds and reads.

use std::collections::BTreeSet;

use knowhow_domain::new_id;
use knowhow_store::{Declared, list_declared};
use serde_json::Value;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::harness::Place;
use crate::statements::{Statement, sources, statements};

/// A connection in a transaction of the role, with a context that is nobody's.
pub async fn as_role(place: &Place, role: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(&place.login_url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let (tenant, user) = (new_id(), new_id());
    let begin =
        format!("begin; set local role {role}; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'");
    client.batch_execute(&begin).await.unwrap();
    client
}

/// The plan of a statement with any values. To make it, Postgres looks at the role's grants as if it were run.
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

/// Whether a plan changes or locks rows. Functions of ours that do are called by their names.
fn changes_rows(plan: &Value, sql: &str) -> bool {
    let plan = plan.to_string();
    let functions = ["app.enqueue(", "app.follow_text(", "app.forget_versions(", "app.clear_deleted("];
    ["\"ModifyTable\"", "\"LockRows\""].iter().any(|node| plan.contains(node))
        || functions.iter().any(|function| sql.contains(function))
}

fn differences(declared: &Declared, parameters: &[Type], columns: &[(String, Type)]) -> Vec<String> {
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
        // Only whether a row came is asked.
        return found;
    }
    let read: BTreeSet<&str> = declared.columns.iter().map(|(name, _)| *name).collect();
    found.extend(columns.iter().filter(|(c, _)| !read.contains(c.as_str())).map(|(c, _)| format!("'{c}' is not read")));
    found
}

#[tokio::test]
async fn every_declared_statement_binds_and_reads_what_postgres_says() {
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

/// Postgres expects one row of the lines and one of their counts, and would compare each line with each count: 2,500 times for
/// a page of 50. A full join it never does so.
#[tokio::test]
async fn the_lines_of_a_page_find_their_counts_without_comparing_all_with_all() {
    let client = as_role(&Place::shared().await, "knowhow_tenant").await;
    let page = list_declared().into_iter().find(|declared| name_of(declared.sql) == "skills.list_page").unwrap();
    let plan = plan(&client, page.sql).await.unwrap().to_string();
    assert!(plan.contains(r#""Join Type":"Full""#), "{plan}");
}

type Accepts = fn(&Type) -> bool;

#[test]
fn a_wrong_declaration_is_found() {
    let of = |parameter: Accepts, column: &'static str, read: Accepts| Declared {
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

/// They are rare and run through sqlx, some without its macros, as the queue's tables are the library's.
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

/// Declared by the macro, and so run, but not in the list.
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
