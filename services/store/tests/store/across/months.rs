//! Use by month: partitions made ahead, rows without a partition, the summing up of ended months, and access to
//! partitions.

use std::time::Duration;

use chrono::{Days, Months as CalendarMonths, NaiveDate};
use knowhow_domain::new_id;
use knowhow_store::across::months::{self, EndedMonths};
use knowhow_store::skills::analytics;
use knowhow_store::{Database, graph};
use sqlx::{AssertSqlSafe, Executor, Row};
use uuid::Uuid;

use crate::harness::{House, Place, now, open, with_database};
use crate::writer::{Draft, save};

/// The tenant, user and skill of a use.
#[derive(Clone, Copy)]
struct Owner {
    tenant: Uuid,
    user: Uuid,
    skill: Uuid,
}

impl Owner {
    fn nobody() -> Self {
        Self { tenant: new_id(), user: new_id(), skill: new_id() }
    }
}

const LONG: Duration = Duration::from_secs(60);

fn today() -> NaiveDate {
    now().date_naive()
}

/// Returns the first day of the month that is `months` months after the month of `day`.
fn month_of(day: NaiveDate, months: i32) -> NaiveDate {
    use chrono::Datelike;
    let first = day.with_day(1).unwrap();
    let by = CalendarMonths::new(months.unsigned_abs());
    if months < 0 { first - by } else { first + by }
}

fn part(month: NaiveDate) -> String {
    format!("usage_events_{}", month.format("%Y_%m"))
}

async fn parts(place: &Place) -> Vec<String> {
    let sql = "select inhrelid::regclass::text from pg_inherits where inhparent = 'usage_events'::regclass order by 1";
    let rows = sqlx::query(sql).fetch_all(&mut place.owner().await).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Stores uses of a skill on a day: two loads, and a report with an outcome.
async fn use_on(place: &Place, owner: Owner, day: NaiveDate) {
    let Owner { tenant, user, skill } = owner;
    place
        .run(&format!(
            "insert into usage_events (tenant_id, user_id, day, skill_id, kind, use_digest, version, at, times, outcome)
             values ('{tenant}', '{user}', '{day}', '{skill}', 'view', '', 1, '{day}', 2, null),
                    ('{tenant}', '{user}', '{day}', '{skill}', 'used', substr(sha256('{day}'), 1, 16), 1, '{day}', 1, 'success')"
        ))
        .await;
}

async fn make_month(place: &Place, month: NaiveDate) {
    let sql = format!(
        "begin; set local role knowhow_owner; select app.begin_rolling_up(); select app.make_partition('{month}'); commit"
    );
    place.run(&sql).await;
}

async fn total(place: &Place) -> (i64, i64) {
    let rows = place.count("select count(*) from usage_events").await;
    let times = "select (coalesce((select sum(times) from usage_events), 0) + coalesce((select sum(times) from usage_days), 0))::bigint";
    (rows, place.count(times).await)
}

fn db(place: &Place) -> Database {
    open(&place.login_url, 2, 1)
}

#[tokio::test]
async fn partitions_are_made_ahead_once_even_by_two_workers() {
    with_database(async |place| {
        let (one, two) = (db(place), db(place));
        let ahead: Vec<String> = (0..=3).map(|n| part(month_of(today(), n))).collect();
        let at_first: Vec<String> = ahead.iter().cloned().chain(["usage_events_default".to_owned()]).collect();
        assert_eq!(parts(place).await, at_first);
        assert_eq!(months::ensure(&one, today()).await.unwrap(), 0);
        // Half a year later, in two workers at once.
        let later = month_of(today(), 6);
        let (a, b) = tokio::join!(months::ensure(&one, later), months::ensure(&two, later));
        assert_eq!(a.unwrap() + b.unwrap(), 4);
        let looked = months::look(&one, later).await.unwrap();
        assert_eq!((looked.ahead, looked.has_caught), (3, false));
        // Only months without a gap count as made ahead.
        place.run(&format!("drop table {}", part(month_of(today(), 7)))).await;
        assert_eq!(months::look(&one, later).await.unwrap().ahead, 0);
        assert_eq!(months::ensure(&one, later).await.unwrap(), 1);
        one.close().await;
        two.close().await;
    })
    .await;
}

#[tokio::test]
async fn rows_without_a_partition_are_stored_and_moved_to_their_month() {
    with_database(async |place| {
        let (db, owner) = (db(place), Owner::nobody());
        let later = month_of(today(), 5);
        use_on(place, owner, later).await;
        assert_eq!(place.count("select count(*) from usage_events_default").await, 2);
        assert!(months::look(&db, today()).await.unwrap().has_caught);
        assert_eq!(months::ensure(&db, later).await.unwrap(), 4);
        assert!(!months::look(&db, today()).await.unwrap().has_caught);
        assert_eq!(place.count(&format!("select count(*) from {}", part(later))).await, 2);
        assert_eq!(total(place).await, (2, 3));
        db.close().await;
    })
    .await;
}

#[tokio::test]
async fn ended_months_are_summed_up_and_dropped() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let skill = save(&house.db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
        let a = Owner { tenant: alice.tenant().0, user: alice.user().unwrap().0, skill: skill.0 };
        let b = Owner::nobody();
        let kept = today() - Days::new(60);
        let (old, older, oldest) = (month_of(kept, -1), month_of(kept, -2), month_of(kept, -12));
        for month in [old, older] {
            make_month(place, month).await;
        }
        make_month(place, month_of(kept, 0)).await;
        // The oldest month has no partition.
        for owner in [a, b] {
            for month in [month_of(kept, 0), old, older, oldest] {
                use_on(place, owner, month).await;
                use_on(place, owner, month + Days::new(1)).await;
            }
        }
        assert_eq!(total(place).await, (32, 48));
        let before = graph::list_days_of_use(&house.db, &alice, skill, oldest).await.unwrap();
        let figures = async || {
            let figures = analytics::list_figures(&house.db, &alice, oldest).await.unwrap();
            let [figure] = &figures[..] else { panic!("{figures:?}") };
            (figure.uses, figure.outcomes)
        };
        let figured = figures().await;
        assert_eq!((before.len(), figured.0, figured.1.success), (8, 24, 8));
        // Two workers run at once, in small steps. No row is summed up twice.
        let (one, two) =
            tokio::join!(months::end(&house.db, today(), 3, LONG), months::end(&house.db, today(), 3, LONG));
        let (one, two) = (one.unwrap(), two.unwrap());
        let rest = months::end(&house.db, today(), 3, LONG).await.unwrap();
        assert_eq!(
            (one.rows + two.rows + rest.rows, one.months + two.months + rest.months),
            (24, 2),
            "{one:?} {two:?} {rest:?}"
        );
        assert_eq!(months::end(&house.db, today(), 3, LONG).await.unwrap(), EndedMonths::default());
        assert_eq!(total(place).await, (8, 48));
        assert_eq!(graph::list_days_of_use(&house.db, &alice, skill, oldest).await.unwrap(), before);
        assert_eq!(figures().await, figured);
        let left = parts(place).await;
        assert!(left.contains(&part(month_of(kept, 0))) && !left.contains(&part(old)) && !left.contains(&part(older)));
        // Late rows of a day that was summed up are added. Rows of a tenant that is being moved are added after the
        // move.
        use_on(place, a, old).await;
        for heading in ["coming", "leaving"] {
            use_on(place, b, old).await;
            place
                .run(&format!("insert into tenants_elsewhere values ('{}', '{heading}', 'test', now())", a.tenant))
                .await;
            assert_eq!(months::end(&house.db, today(), 100, LONG).await.unwrap(), EndedMonths { rows: 2, months: 0 });
            place.run("delete from tenants_elsewhere").await;
        }
        assert_eq!(months::end(&house.db, today(), 100, LONG).await.unwrap(), EndedMonths { rows: 2, months: 0 });
        assert_eq!(place.count("select count(*) from usage_days where times = 6 and successes = 2").await, 1);
    })
    .await;
}

/// A slow reader keeps a month from being dropped, and other statements wait at most a second for the attempt.
#[tokio::test]
async fn a_month_that_is_being_read_is_dropped_later() {
    with_database(async |place| {
        let db = db(place);
        let old = month_of(today() - Days::new(60), -1);
        make_month(place, old).await;
        use_on(place, Owner::nobody(), old).await;
        let mut reader = place.owner().await;
        reader.execute("begin; select count(*) from usage_events").await.unwrap();
        assert!(months::end(&db, today(), 100, LONG).await.is_err());
        assert!(parts(place).await.contains(&part(old)));
        assert_eq!(total(place).await, (0, 3));
        reader.execute("commit").await.unwrap();
        assert_eq!(months::end(&db, today(), 100, LONG).await.unwrap(), EndedMonths { rows: 0, months: 1 });
        db.close().await;
    })
    .await;
}

/// A partition can be read only through its table. Even a grant on a partition shows no more rows than the table
/// does.
#[tokio::test]
async fn no_role_of_the_service_reads_a_partition() {
    with_database(async |place| {
        let (db, owner) = (db(place), Owner::nobody());
        use_on(place, owner, today()).await;
        use_on(place, owner, month_of(today(), 9)).await;
        let mut login = place.login().await;
        let mut answers = async |role: &str, sql: String| {
            let stranger = new_id();
            let begin = format!(
                "begin; set local role {role}; set local app.tenant_id = '{}'; set local app.user_id = '{stranger}';
                 set local app.rolls_up = 'on'",
                owner.tenant
            );
            login.execute(AssertSqlSafe(begin)).await.unwrap();
            let answer = sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).fetch_one(&mut login).await;
            login.execute("rollback").await.unwrap();
            answer
        };
        let named = [part(today()), "usage_events_default".to_owned()];
        for part in &named {
            for role in ["knowhow_tenant", "knowhow_admin", "knowhow_system", "knowhow_queue"] {
                for sql in [
                    format!("select count(*) from {part}"),
                    format!("with gone as (delete from {part} returning 1) select count(*) from gone"),
                ] {
                    let refused = answers(role, sql).await.unwrap_err().to_string();
                    assert!(refused.contains("permission denied"), "{role}: {refused}");
                }
            }
            place.run(&format!("grant select on {part} to knowhow_tenant")).await;
            assert_eq!(answers("knowhow_tenant", format!("select count(*) from {part}")).await.unwrap(), 0);
        }
        assert_eq!(answers("knowhow_tenant", "select count(*) from usage_events".into()).await.unwrap(), 0);
        for call in ["app.ensure_partitions()", "app.drop_partitions(current_date)", "app.make_partition(current_date)"]
        {
            for role in ["knowhow_tenant", "knowhow_admin", "knowhow_queue"] {
                let refused = answers(role, format!("select {call}::text::bigint")).await.unwrap_err().to_string();
                assert!(refused.contains("permission denied"), "{role} {call}: {refused}");
            }
        }
        db.close().await;
    })
    .await;
}
