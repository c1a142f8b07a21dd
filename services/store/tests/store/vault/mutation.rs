//! The isolation matrix detects every policy that is dropped or widened.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

use crate::harness::with_database;
use crate::vault::isolation::grant_everything;
use crate::vault::matrix::{self, Cast, Frame, Table};

const OF_TENANT: &str = "(tenant_id = app.tenant_id())";
const OF_USER: &str = "(user_id = app.user_id())";
const OF_ERASED: &str = "(user_id = app.erased_user())";

struct Policy {
    name: String,
    table: String,
    using: String,
    check: Option<String>,
    of_system: bool,
    of_owner: bool,
}

impl Policy {
    fn drop(&self) -> String {
        format!("drop policy {} on {}", self.name, self.table)
    }

    fn alter(&self, using: &str, check: Option<&str>) -> String {
        let check = check.map(|check| format!(" with check ({check})")).unwrap_or_default();
        format!("alter policy {} on {} using ({using}){check}", self.name, self.table)
    }

    /// Returns statements that drop or widen the policy.
    fn mutations(&self) -> Vec<String> {
        let mut all = vec![self.drop()];
        if self.of_system {
            return all;
        }
        let (using, check) = (self.using.as_str(), self.check.as_deref());
        all.push(self.alter("true", check.map(|_| "true")));
        all.push(format!("alter table {} disable row level security", self.table));
        for term in [OF_TENANT, OF_USER, OF_ERASED] {
            let without = |expression: &str| expression.replace(term, "true");
            if using.contains(term) {
                all.push(self.alter(&without(using), check.map(without).as_deref()));
            }
        }
        if let Some(check) = check {
            all.push(self.alter("true", Some(check)));
            all.push(self.alter(using, Some("true")));
        }
        all
    }
}

/// Returns the permissive policies. The restrictive policy `past_its_time` is tested in `audit.rs`. Partitions, on
/// which no role has a grant, are tested in `months.rs`.
async fn policies(conn: &mut PgConnection) -> Vec<Policy> {
    sqlx::query(
        "select policyname::text, tablename::text, qual, with_check, roles = '{knowhow_system}',
                roles = '{knowhow_owner}' from pg_policies
         where schemaname = 'public' and permissive = 'PERMISSIVE'
           and not coalesce((select relispartition from pg_class where oid = to_regclass(format('public.%I', tablename))), false)
         order by 2, 1",
    )
    .fetch_all(conn)
    .await
    .unwrap()
    .iter()
    .map(|row| Policy {
        name: row.get(0),
        table: row.get(1),
        using: row.get(2),
        check: row.get(3),
        of_system: row.get(4),
        of_owner: row.get(5),
    })
    .collect()
}

#[tokio::test]
async fn every_dropped_or_widened_policy_is_detected() {
    with_database(async |place| {
        grant_everything(place).await;
        let mut conn = place.owner().await;
        let cast = Cast::seed(&mut conn).await;
        let tables = matrix::tables(&mut conn).await;
        let policies = policies(&mut conn).await;
        assert!(policies.iter().any(|p| p.using.contains(OF_TENANT) && p.using.contains(OF_USER)));
        let mut unseen = Vec::new();
        for policy in &policies {
            let table: Vec<Table> = tables.iter().filter(|t| t.name == policy.table).cloned().collect();
            for mutation in policy.mutations() {
                let mut tx = conn.begin().await.unwrap();
                tx.execute(AssertSqlSafe(mutation.clone())).await.unwrap();
                let findings = match policy.of_owner {
                    true => matrix::findings_of_owner(&mut tx, &cast, &table).await,
                    false => matrix::findings(&mut tx, Frame::Savepoint, &cast, &table).await,
                };
                if findings.is_empty() {
                    unseen.push(mutation);
                }
                tx.rollback().await.unwrap();
            }
        }
        assert_eq!(unseen, Vec::<String>::new());
        let mut tx = conn.begin().await.unwrap();
        assert_eq!(matrix::findings_of_owner(&mut tx, &cast, &tables).await, Vec::<String>::new());
        tx.rollback().await.unwrap();
        let sound = matrix::findings(&mut place.login().await, Frame::Transaction, &cast, &tables).await;
        assert_eq!(sound, Vec::<String>::new());
    })
    .await;
}
