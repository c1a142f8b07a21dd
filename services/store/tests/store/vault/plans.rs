//! Plans of all declared statements with the rows of many users, with and without statistics. Postgres may keep a
//! plan for long, and a new table has no statistics.

use std::collections::{BTreeSet, HashMap};

use knowhow_domain::new_id;
use knowhow_store::list_declared;
use serde_json::Value;

use crate::harness::{Place, with_database};
use crate::rows::{Owner, seed};
use crate::vault::declared::{as_role, name_of, plan};

/// Number of users, with twenty users in each tenant.
const USERS: u32 = 60;
/// Number of rows of each user in every table.
const ROWS: u32 = 60;
/// Number of users with one row in every table.
const NEW_USERS: u32 = 3_000;

/// Tables that grow with every use.
const HISTORY: &[&str] =
    &["audit_log", "messages", "sessions", "skill_resources", "skill_versions", "turns", "usage_events"];

/// Indexes with few rows of a user: open sessions, tainted skills, waiting submissions, dreams that can be decided or
/// undone, and versions that learning made.
const FEW: &[&str] = &[
    "dream_runs_live",
    "sessions_open",
    "skill_versions_learned",
    "skills_by_alias",
    "skills_tainted",
    "submissions_waiting",
];

/// Statements that need all of a user's rows: the statement, and words of the finding.
const WHOLE: &[(&str, &str)] = &[
    // These statements return all rows.
    ("counts.check", "skill_usage"),
    ("examples.list_vectors", "skill_examples"),
    ("snapshots.read_parts", "NOT tainted"),
    // These statements search all rows.
    ("conversations.search", "terms"),
    ("graph.list_entities", "strpos"),
    ("embeddings.list_skills", "skills"),
    ("skills.list_close", "skill_id <> $3"),
    ("snapshots.find_current", "updated_at"),
    ("snapshots.peek_current", "updated_at"),
    // These statements read examples, of which a user has some hundreds.
    ("examples.remove_of_session", "skill_examples"),
    ("examples.remove_of_turn", "turns"),
    ("examples.remove_of_turn", "is_counter"),
    ("skills.archive", "added_passages"),
    ("skills.find_tainted", "skill_versions"),
    // This statement counts waiting submissions, at most fifty.
    ("submissions.find_known", "submission_id"),
    // This statement reads the skills with findings, which are few.
    ("scans.list_found", "skill_scans"),
    // These statements find rows to remove.
    ("conversations.put", "conversation_summaries"),
    ("graph.take_pending", "conversation"),
    ("memories.approve", "tainted_passages"),
    // These statements concern the whole user: the figures of all skills, and a repair of all.
    ("analytics.list_figures", "session_feedback"),
    ("graph.finish_relating", "entities"),
    // These statements read few of a user's entities, at most 20,000, and cost little compared with their job.
    ("graph.forget_namesakes", "canonical = ANY"),
    ("memories.change", "entity_id = ANY"),
    ("memories.delete", "entity_id = ANY"),
    ("history.forget_oldest_versions", "skill_versions"),
    ("sessions.open", "for (ended_at IS NOT NULL)"),
    ("sessions.open", "n_1.snapshot_id = u_1.snapshot_id"),
    ("snapshots.put", "sha256"),
    ("souls.approve", "tainted_passages"),
    ("starters.list_withdrawn", "library_id"),
    ("souls.put", ""),
    ("submissions.approve_version", "tainted_passages"),
];

/// Statements that ask whether a snapshot has sessions. Postgres answers this for all snapshots together while it
/// knows of no rows.
const WHOLE_WHILE_EMPTY: &[&str] = &[
    "sessions.open: reads sessions of all users by sessions_of_snapshot",
    "snapshots.put: reads sessions of all users by sessions_of_snapshot",
];

/// Copies the row of a user in every table, so that the user has many rows. The copies differ in the columns of
/// indexes. The first column after the owner is shared by ten rows if other columns follow it, like the versions of
/// one skill. Columns with a fixed set of words keep their value. One session in ten is open. An index has the digest of
/// a memory's text, so these texts differ too.
const FILL: &str = "
do $$
declare
    target record;
begin
    set local session_replication_role = replica;
    for target in
        select c.oid::regclass as name,
            string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns,
            string_agg(case
                when a.attname = 'ended_at' and not a.attnotnull
                    then 'case when n.k % 10 > 0 then now() - n.k * interval ''1 minute'' end'
                when a.attname = 'tenant_id' then 'md5(''t'' || n.u / 20)::uuid'
                when a.attname = 'user_id' then 'md5(''u'' || n.u)::uuid'
                when c.relname = 'memories' and a.attname = 'content' then 'n.u || ''-'' || n.k'
                when place.at is null or a.attname in ('model', 'index_budget', 'use_digest')
                        or a.atttypid = 'text'::regtype and exists (
                            select from pg_constraint w where w.conrelid = c.oid and w.contype = 'c' and a.attnum = any (w.conkey))
                    then 'seed.' || quote_ident(a.attname)
                when a.atttypid = 'uuid'::regtype then format('md5(n.u || ''-'' || n.k / %s)::uuid', place.shared)
                when a.atttypid = 'bytea'::regtype then format('sha256((n.u || ''-'' || n.k / %s)::text::bytea)', place.shared)
                when a.atttypid = 'text'::regtype then format('n.u || ''-'' || n.k / %s', place.shared)
                when a.atttypid = 'date'::regtype then 'current_date - n.k'
                when a.atttypid = 'timestamptz'::regtype then 'now() - n.k * interval ''1 minute'''
                when a.atttypid in ('integer'::regtype, 'bigint'::regtype) then 'n.k + 2'
                else 'seed.' || quote_ident(a.attname) end, ', ' order by a.attnum) as made,
            bool_or(place.at > 2) as has_many
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        left join lateral (
            select min(k.at) as at, case when bool_or(i.indisprimary and k.at = 3 and i.indnkeyatts > 3) then 10 else 1 end
                as shared
            from pg_index i, unnest(i.indkey) with ordinality as k (attnum, at)
            where i.indrelid = c.oid and k.attnum = a.attnum
        ) place on true
        where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
          and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'user_id')
        group by c.oid
    loop
        execute format('insert into %s (%s) overriding system value select %s from (select * from %s limit 1) seed,
            (select u, k from generate_series(1, $1) u, generate_series(1, $2) k) n
            where $3 or n.k = 1 on conflict do nothing', target.name, target.columns, target.made, target.name)
        using {users}, {rows}, target.has_many;
    end loop;
end $$";

#[tokio::test]
async fn no_statement_reads_more_of_a_users_rows_than_it_needs() {
    with_database(async |place| {
        let mut conn = place.owner().await;
        let fill = async |users: u32, rows: u32| {
            place.run(&FILL.replace("{users}", &users.to_string()).replace("{rows}", &rows.to_string())).await;
        };
        // A plan made while tables are nearly empty is kept while they grow, even if Postgres knows how empty they
        // are. From a single row Postgres would conclude that each row takes a page of a partial index, and would
        // search a session by its key among all sessions of the user.
        for (rows, analyzed) in [(1, ""), (1, "vacuum analyze"), (2, "vacuum analyze")] {
            while place.count("select count(*) from sessions").await < rows {
                seed(&mut conn, &[Owner::new(new_id(), new_id())]).await;
            }
            place.run(analyzed).await;
            let findings = find_all(place, &tables(place, 0).await).await;
            let is_bad =
                |finding: &String| finding.contains("of all users") && !WHOLE_WHILE_EMPTY.contains(&finding.as_str());
            let findings: Vec<String> = findings.into_iter().filter(is_bad).collect();
            assert!(findings.is_empty(), "of {rows} rows, {analyzed}:\n{}", findings.join("\n"));
        }
        fill(USERS, ROWS).await;
        let versions = place.count("select count(*) from skill_versions").await;
        assert!(versions >= i64::from(USERS * ROWS), "{versions}");
        let tables = tables(place, 200_000).await;
        // Without statistics Postgres treats all indexes of a small table alike. Tables that keep growing must be
        // safe even then.
        let history = tables.iter().filter(|table| HISTORY.contains(&whole_of(table))).cloned().collect();
        let findings = find_all(place, &history).await;
        assert!(findings.is_empty(), "without statistics:\n{}", findings.join("\n"));
        place.run("analyze").await;
        let findings = find_all(place, &tables).await;
        assert!(findings.is_empty(), "with statistics:\n{}", findings.join("\n"));
        // All users share a plan, so a plan made among many users with few rows must also suit a user with many.
        fill(NEW_USERS, 1).await;
        place.run("analyze").await;
        let findings = find_all(place, &tables).await;
        assert!(findings.is_empty(), "among many new users:\n{}", findings.join("\n"));
    })
    .await;
}

/// Returns the table that a partition belongs to.
fn whole_of(table: &str) -> &str {
    if table.starts_with("usage_events") { "usage_events" } else { table }
}

/// Returns the tables of users that are larger than `bytes` bytes.
async fn tables(place: &Place, bytes: i64) -> BTreeSet<String> {
    let client = as_role(place, "knowhow_tenant").await;
    let of_users = "select c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid
                    where a.attname = 'user_id' and c.relkind = 'r' and pg_relation_size(c.oid) > $1";
    client.query(of_users, &[&bytes]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

async fn find_all(place: &Place, tables: &BTreeSet<String>) -> Vec<String> {
    let client = as_role(place, "knowhow_tenant").await;
    client
        .batch_execute("set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off")
        .await
        .unwrap();
    let leading = leading_columns(place).await;
    let mut findings = Vec::new();
    // Statements across tenants are left out, because they do not read the rows of one user.
    for declared in list_declared().into_iter().filter(|declared| !declared.is_across) {
        let name = name_of(declared.sql);
        let plan = plan(&client, declared.sql).await.unwrap();
        let mut found = Vec::new();
        walk(&plan[0]["Plan"], tables, &mut found);
        find_skipped(&plan[0]["Plan"], &leading, &mut found);
        let found = found.into_iter();
        let is_meant = |finding: &String| WHOLE.iter().any(|(whole, words)| *whole == name && finding.contains(words));
        findings.extend(found.filter(|finding| !is_meant(finding)).map(|finding| format!("{name}: {finding}")));
    }
    findings
}

/// Adds findings for a node of a plan and the nodes below it.
fn walk(node: &Value, tables: &BTreeSet<String>, findings: &mut Vec<String>) {
    let text = |member: &str| node[member].as_str().unwrap_or_default();
    let table = text("Relation Name");
    let is_scan = tables.contains(table) && text("Node Type").contains("Scan");
    if is_scan && text("Node Type") == "Seq Scan" {
        findings.push(format!("reads {table} of all users"));
    } else if is_scan && looks_at_all(node) && !FEW.contains(&text("Index Name")) {
        let filter = own(text("Filter"));
        if !filter.is_empty() {
            findings.push(format!(
                "reads a user's whole {table} by {} for {}",
                text("Index Name"),
                filter.join(" and ")
            ));
        }
    }
    let looks_at_all_of_one = |below: &Value| {
        below["Relation Name"].as_str().is_some_and(|table| tables.contains(table))
            && looks_at_all(below)
            && !below["Index Name"].as_str().is_some_and(|index| FEW.contains(&index))
    };
    let inner = below(node).last().filter(|_| text("Node Type") == "Nested Loop" && !text("Join Filter").is_empty());
    if inner.is_some_and(looks_at_all_of_one) {
        let table = inner.and_then(|inner| inner["Relation Name"].as_str()).unwrap_or_default();
        findings.push(format!("compares each row with a user's whole {table} by {}", text("Join Filter")));
    }
    below(node).iter().for_each(|node| walk(node, tables, findings));
}

/// Returns the first column of each index of a table with users.
async fn leading_columns(place: &Place) -> HashMap<String, String> {
    let client = as_role(place, "knowhow_tenant").await;
    let indexes = "select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid, 1, true) from pg_index i
                   join pg_attribute a on a.attrelid = i.indrelid and a.attname = 'user_id'";
    client.query(indexes, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Adds findings for index scans without a condition on the first column. Such a scan skips through the rows of all
/// users.
fn find_skipped(node: &Value, leading: &HashMap<String, String>, findings: &mut Vec<String>) {
    let text = |member: &str| node[member].as_str().unwrap_or_default();
    if let Some(column) = leading.get(text("Index Name"))
        && !text("Index Cond").contains(column.as_str())
    {
        findings.push(format!("reads {} of all users by {}", text("Relation Name"), text("Index Name")));
    }
    below(node).iter().for_each(|node| find_skipped(node, leading, findings));
}

fn below(node: &Value) -> &[Value] {
    node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns whether a scan reads all rows of a user, because its index condition names only the owner.
fn looks_at_all(scan: &Value) -> bool {
    let is_bitmap = |node: &&Value| node["Node Type"].as_str().is_some_and(|kind| kind.starts_with("Bitmap"));
    own(scan["Index Cond"].as_str().unwrap_or_default()).is_empty()
        && below(scan).iter().filter(is_bitmap).all(looks_at_all)
}

/// Returns the conditions that restrict more than the owner.
fn own(conditions: &str) -> Vec<&str> {
    let says_more = |condition: &&str| !["tenant_id", "user_id"].iter().any(|owner| condition.contains(owner));
    conditions.split(" AND ").filter(|condition| !condition.is_empty()).filter(says_more).collect()
}
