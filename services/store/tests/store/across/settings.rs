//! Invalid stored settings: statements over all tenants still run, and no data are deleted too early.

use knowhow_store::prune;
use sqlx::AssertSqlSafe;

use crate::harness::{House, Place, now, with_database};

async fn value_of(place: &Place, expression: &str) -> Option<String> {
    let sql = format!("select ({expression})::text");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut place.owner().await).await.unwrap()
}

#[tokio::test]
async fn an_invalid_setting_is_read_as_its_default() {
    let place = &Place::shared().await;
    for (stored, whole, days) in [
        ("5", Some("5"), "5"),
        ("0", Some("0"), "0"),
        ("3650", Some("3650"), "3650"),
        ("3651", None, "3650"),
        ("-1", None, "3650"),
        ("1e39", None, "3650"),
        ("1.5", None, "3650"),
        ("99999999999999999999", None, "3650"),
        ("\"5\"", None, "3650"),
        ("\"a\"", None, "3650"),
        ("[]", None, "3650"),
        ("{\"a\": 1}", None, "3650"),
        ("true", None, "3650"),
        ("null", None, "90"),
    ] {
        let read = value_of(place, &format!("app.whole_setting('{stored}', 0, 3650)")).await;
        assert_eq!(read.as_deref(), whole, "{stored}");
        let read = value_of(place, &format!("app.retention_days('{stored}', 0, 90)")).await;
        assert_eq!(read.as_deref(), Some(days), "{stored}");
    }
    assert_eq!(value_of(place, "app.retention_days(null, 0, 90)").await.as_deref(), Some("90"));
    for (stored, flag) in [("true", "true"), ("false", "false"), ("\"false\"", "true"), ("0", "true"), ("null", "true")]
    {
        let read = value_of(place, &format!("app.flag_setting('{stored}', true)")).await;
        assert_eq!(read.as_deref(), Some(flag), "{stored}");
    }
}

#[tokio::test]
async fn a_tenant_with_invalid_settings_does_not_stop_pruning() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let (usual, broken) = (house.tenant().await, house.tenant().await);
        let settings = r#"{"audit_days": "x", "conversation_days": 1e39, "example_days": {}, "enrich": 5, "reflections": "no",
            "learn_from_use": [], "session_gap_minutes": 1e39, "channels": {"chat": {"session_gap_minutes": "soon"}, "sms": 7}}"#;
        let id = broken.id.0;
        place.run(&format!("update tenants set settings = '{settings}' where tenant_id = '{id}'")).await;
        for tenant in [usual.id.0, id] {
            let entry = "lpad(to_hex((extract(epoch from now() - interval '500 days') * 1000)::bigint), 12, '0') || '7000a000000000000001'";
            place
                .run(&format!(
                    "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
                     select '{tenant}', gen_random_uuid(), ({entry})::uuid, now() - interval '500 days', 'a', 'b', 'c'"
                ))
                .await;
        }
        let pruned = prune(&house.db, now(), 100).await.unwrap();
        assert_eq!(pruned.audit_entries, 1, "that of the usual tenant alone");
        knowhow_store::across::due::end_silent_sessions(&house.db, "summarize", now(), 10).await.unwrap();
    })
    .await;
}
