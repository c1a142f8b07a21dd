use super::*;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn expensive_work_runs_at_lower_priority_than_requests() {
    let niceness = || rustix::process::nice(0).map_err(Error::internal);
    let own = niceness().unwrap();
    for _ in 0..2 {
        assert_eq!(compute(niceness).await.unwrap(), (own + YIELDS).min(19), "once for each thread");
    }
}
