//! Times at which reflections are due, over all tenants, and the conversations of each day.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use knowhow_domain::{Cadence, ReflectionState, SessionId, new_id};
use knowhow_store::learning::dreams::{self, PutLearning};
use knowhow_store::learning::reflections::{self, DayOf, DueReflections, Finished, QueuedReflection};
use knowhow_store::{Principal, WriteTx, prune};

use crate::harness::{self, House, Place, with_database};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// Adds an ended conversation whose last message came at this time.
async fn talk(place: &Place, who: &Principal, last: &str) -> SessionId {
    let (tenant, user, id) = (who.tenant(), who.user().unwrap(), new_id());
    place
        .run(&format!(
            "insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
             values ('{tenant}', '{user}', '{id}', sha256('{id}'), '{id}', '{{}}', '{last}');
             insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top,
                 snapshot_id, started_at, last_message_at, ended_at)
             values ('{tenant}', '{user}', '{id}', '{id}', 'sms', 10, 16000, false, '{id}', '{last}', '{last}', '{last}')"
        ))
        .await;
    SessionId(id)
}

async fn live_in(house: &House, who: &Principal, zone: &str) {
    let mut tx = WriteTx::begin(&house.db, who, "test").await.unwrap();
    let put = PutLearning { time_zone: Some(Some(zone)), ..PutLearning::default() };
    assert!(dreams::put_learning(&mut tx, &put).await.unwrap());
    tx.commit().await.unwrap();
}

/// Returns the cadences of the reflections that are enqueued at this time.
async fn due(place: &Place, house: &House, now: &str) -> Vec<String> {
    place.run("delete from graphile_worker._private_jobs").await;
    let count = reflections::enqueue_due(&house.db, DueReflections { now: at(now), most: 100 }).await.unwrap();
    let mut found = Vec::new();
    for cadence in ["daily", "weekly", "monthly"] {
        let keys = format!("select count(*) from graphile_worker._private_jobs where key like '%:reflect:{cadence} %'");
        let many = place.count(&keys).await;
        found.extend((0..many).map(|_| cadence.to_owned()));
    }
    assert_eq!(usize::try_from(count).unwrap(), found.len());
    found
}

/// Stores the outcome of a reflection.
async fn note(house: &House, who: &Principal, of: (Cadence, &str, &str), state: ReflectionState) {
    let (cadence, period, now) = of;
    let queued = QueuedReflection { cadence, period: date(period), now: at(now), texts_until: at(now) };
    let finished = Finished {
        of: queued,
        state,
        reason: None,
        memories: &[],
        sessions: &[],
        run: None,
        is_try: state == ReflectionState::Failed,
        calls: &[],
    };
    let mut tx = WriteTx::begin(&house.db, who, "test").await.unwrap();
    reflections::finish(&mut tx, &finished);
    tx.commit().await.unwrap();
}

/// A span of hours that begins at a time.
struct Span<'a> {
    from: &'a str,
    hours: i64,
}

/// Checks each hour of the span, and returns the times and days of the daily reflections.
async fn days_of(house: &House, who: &Principal, place: &Place, span: Span<'_>) -> Vec<(String, i64)> {
    let Span { from, hours } = span;
    let mut seen: Vec<(String, i64)> = Vec::new();
    for hour in 0..hours {
        let now = (at(from) + TimeDelta::hours(hour)).to_rfc3339();
        if due(place, house, &now).await.iter().any(|cadence| cadence == "daily") {
            // The number of the day, counted from 1 January 2026.
            let number = "select ((payload ->> 'period')::date - date '2026-01-01')::bigint
                          from graphile_worker._private_jobs where key like '%:reflect:daily %'";
            let number = place.count(number).await;
            let day = date("2026-01-01") + TimeDelta::days(number);
            note(house, who, (Cadence::Daily, &day.to_string(), &now), ReflectionState::Made).await;
            seen.push((now, number));
        }
    }
    seen
}

/// Acceptance case 16: daily reflections when the clocks change.
#[tokio::test]
async fn in_auckland_each_day_has_one_reflection_at_23_despite_dst() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        live_in(&house, &alice, "Pacific/Auckland").await;
        // The clocks go forward on 27 September 2026 at 2:00 (UTC+12 to +13), and back on 5 April 2026 at 3:00 (+13 to +12).
        for (talked, from, nights) in [
            ("2026-09-25T10:00:00Z", "2026-09-25T22:00:00Z", ["2026-09-26T11:00:00", "2026-09-27T10:00:00"]),
            ("2026-04-03T10:00:00Z", "2026-04-03T22:00:00Z", ["2026-04-04T10:00:00", "2026-04-05T11:00:00"]),
        ] {
            talk(place, &alice, talked).await;
            let first = due(place, &house, from).await;
            assert!(first.contains(&"daily".to_owned()), "the night before is told of late: {first:?}");
            // From 10:00 of one day to 10:00 two days later.
            let seen = days_of(&house, &alice, place, Span { from, hours: 47 }).await;
            let times: Vec<&str> = seen.iter().skip(1).map(|(at, _)| &at[..19]).collect();
            assert_eq!(times, nights);
            let days: Vec<i64> = seen.iter().map(|(_, day)| *day).collect();
            assert!(days.windows(2).all(|pair| pair[1] == pair[0] + 1), "{days:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_unknown_zone_is_utc_and_tenants_may_turn_reflections_off() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let quiet = house.tenant().await.user("quiet").await;
        for who in [&alice, &quiet] {
            talk(place, who, "2026-11-24T12:00:00Z").await;
        }
        let set = |who: &Principal, settings: &str| {
            format!("update tenants set settings = settings || '{settings}' where tenant_id = '{}'", who.tenant())
        };
        place.run(&set(&alice, r#"{"time_zone": "Mars/Olympus"}"#)).await;
        place.run(&set(&quiet, r#"{"reflections": false}"#)).await;
        let today =
            reflections::find_today(&house.db, &alice, at("2026-11-24T22:59:00Z"), "Mars/Olympus").await.unwrap();
        assert_eq!(today, date("2026-11-24"));
        note(&house, &alice, (Cadence::Daily, "2026-11-23", "2026-11-23T23:00:00Z"), ReflectionState::Quiet).await;
        assert!(due(place, &house, "2026-11-24T22:59:00Z").await.is_empty());
        assert_eq!(due(place, &house, "2026-11-24T23:00:00Z").await, ["daily"]);
    })
    .await;
}

#[tokio::test]
async fn failures_are_retried_three_times_and_early_requests_repeated() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        talk(place, &alice, "2026-11-24T12:00:00Z").await;
        let noted = |now: &'static str| (Cadence::Daily, "2026-11-24", now);
        // The user requested the reflection before the conversation of the day.
        note(&house, &alice, noted("2026-11-24T08:00:00Z"), ReflectionState::Quiet).await;
        let night = "2026-11-24T23:15:00Z";
        for tries in 0..3 {
            assert_eq!(due(place, &house, night).await, ["daily"], "after {tries} tries");
            note(&house, &alice, noted(night), ReflectionState::Failed).await;
        }
        assert!(due(place, &house, night).await.is_empty());
        note(&house, &alice, noted(night), ReflectionState::Made).await;
        // A reflection that was made stays.
        note(&house, &alice, noted(night), ReflectionState::Failed).await;
        let found = reflections::find(&house.db, &alice, Cadence::Daily, date("2026-11-24")).await.unwrap().unwrap();
        assert_eq!((found.state, found.tries), (ReflectionState::Made, 3));
    })
    .await;
}

#[tokio::test]
async fn a_waiting_reflection_keeps_its_attempts() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let time = harness::now();
        talk(place, &alice, &(time - TimeDelta::days(1)).to_rfc3339()).await;
        let enqueue =
            async || reflections::enqueue_due(&house.db, DueReflections { now: time, most: 100 }).await.unwrap();
        let pretend = async |set: &str| place.run(&format!("update graphile_worker._private_jobs set {set}")).await;
        assert_eq!((enqueue().await, enqueue().await), (1, 0));
        pretend("attempts = 7, last_error = 'no', run_at = now() + interval '1 hour'").await;
        assert_eq!(enqueue().await, 0);
        let tried = "select attempts::bigint from graphile_worker._private_jobs";
        assert_eq!(place.count(tried).await, 7);
        // A reflection that failed for good is tried again after some hours.
        pretend("attempts = max_attempts, run_at = now()").await;
        assert_eq!(enqueue().await, 0);
        pretend("run_at = now() - interval '7 hours'").await;
        assert_eq!((enqueue().await, place.count(tried).await), (1, 0));
    })
    .await;
}

/// Questions to the model are kept as long as the archive, and reflections for 400 days.
#[tokio::test]
async fn questions_are_removed_before_reflections() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        let (time, second, kept) = (at("2026-11-24T12:00:00Z"), TimeDelta::seconds(1), TimeDelta::days(400));
        for (period, created_at, texts_until) in [
            ("2025-10-01", time - kept - second, time + kept),
            ("2025-10-02", time - kept, time - second),
            ("2025-10-03", time - kept, time),
        ] {
            note(&house, &alice, (Cadence::Daily, period, &created_at.to_rfc3339()), ReflectionState::Made).await;
            place
                .run(&format!(
                    r#"update reflections set texts_until = '{texts_until}', calls = '[{{"asked": "?"}}]'
                       where period = '{period}'"#
                ))
                .await;
        }
        let left = async |having: &str| {
            place
                .count(&format!(
                    "select coalesce(sum(extract(day from period)::bigint), 0)::bigint from reflections where {having}"
                ))
                .await
        };
        assert_eq!(prune(&house.db, time, 100).await.unwrap().reflections, 2);
        assert_eq!(prune(&house.db, time, 100).await.unwrap().reflections, 0);
        // The first reflection was deleted, the second has lost its questions, and the third is complete.
        assert_eq!((left("calls = '[]'").await, left("calls <> '[]'").await), (2, 3));
    })
    .await;
}

#[tokio::test]
async fn a_week_follows_its_sunday_and_a_month_its_last_week() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let alice = house.tenant().await.user("alice").await;
        talk(place, &alice, "2026-11-28T12:00:00Z").await;
        let day = |day: &'static str| (Cadence::Daily, day, "2026-11-28T23:00:00Z");
        note(&house, &alice, day("2026-11-28"), ReflectionState::Made).await;
        // Sunday 29 November: the daily reflection comes first.
        let sunday = "2026-11-29T23:00:00Z";
        assert_eq!(due(place, &house, sunday).await, ["daily"]);
        note(&house, &alice, (Cadence::Daily, "2026-11-29", sunday), ReflectionState::Quiet).await;
        assert_eq!(due(place, &house, sunday).await, ["weekly"]);
        // A worker that was down until the 1st makes the weekly reflection first, then the monthly one.
        let first = "2026-12-01T23:30:00Z";
        note(&house, &alice, (Cadence::Daily, "2026-12-01", first), ReflectionState::Quiet).await;
        assert_eq!(due(place, &house, first).await, ["weekly"]);
        note(&house, &alice, (Cadence::Weekly, "2026-11-23", first), ReflectionState::Made).await;
        assert_eq!(due(place, &house, first).await, ["monthly"]);
        note(&house, &alice, (Cadence::Monthly, "2026-11-01", first), ReflectionState::Made).await;
        assert!(due(place, &house, first).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn each_conversation_belongs_to_one_day() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    live_in(&house, &alice, "Pacific/Auckland").await;
    let place = Place::shared().await;
    // 24 November in Auckland, UTC+13, begins on the 23rd at 11:00.
    talk(&place, &alice, "2026-11-23T10:59:00Z").await;
    let morning = talk(&place, &alice, "2026-11-23T11:01:00Z").await;
    let evening = talk(&place, &alice, "2026-11-24T09:30:00Z").await;
    let late = talk(&place, &alice, "2026-11-24T10:40:00Z").await;
    let unfinished = format!("update sessions set ended_at = null where session_id = '{}'", evening.0);
    place.run(&unfinished).await;
    let listed = async |day: &str, now: &str| {
        let of = DayOf { day: date(day), now: at(now), time_zone: "UTC", most: 10 };
        let found = reflections::list_conversations(&house.db, &alice, of).await.unwrap();
        found.into_iter().map(|conversation| conversation.id).collect::<Vec<_>>()
    };
    // At 23:00 the reflection covers the conversations at rest. Those that may continue, and later ones, belong to
    // the next day.
    assert_eq!(listed("2026-11-24", "2026-11-24T10:00:00Z").await, [late, morning]);
    place.run(&format!("update sessions set started_at = last_message_at where session_id = '{}'", late.0)).await;
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    let now = at("2026-11-24T10:00:00Z");
    let of = QueuedReflection { cadence: Cadence::Daily, period: date("2026-11-24"), now, texts_until: now };
    let finished = Finished {
        of,
        state: ReflectionState::Made,
        reason: None,
        memories: &[],
        sessions: &[morning],
        run: None,
        is_try: false,
        calls: &[],
    };
    reflections::finish(&mut tx, &finished);
    tx.commit().await.unwrap();
    assert_eq!(listed("2026-11-25", "2026-11-25T10:00:00Z").await, [late, evening]);
}
