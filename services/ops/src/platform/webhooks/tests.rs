use super::*;

#[test]
fn a_webhook_is_paused_for_30_seconds_after_three_failures() {
    let now = DateTime::<Utc>::UNIX_EPOCH;
    let target = |failures, ago| Target {
        url: String::new(),
        sealed_secrets: Vec::new(),
        failures,
        failed_at: Some(now - TimeDelta::seconds(ago)),
    };
    assert!(is_paused(&target(3, 29), now) && is_paused(&target(300, 0), now));
    assert!(!is_paused(&target(2, 0), now) && !is_paused(&target(3, 30), now));
}
