use super::*;

const PATIENCE: Duration = Duration::from_millis(490);
const SILENCE: Duration = Duration::from_millis(300);

fn admit(breaker: &Breaker) -> Attempt<'_> {
    breaker.admit().unwrap_or_else(|seconds| panic!("paused for {seconds} s"))
}

async fn give_up(breaker: &Breaker, after: Duration) {
    let attempt = admit(breaker);
    tokio::time::advance(after).await;
    drop(attempt);
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_after_five_failures_and_probes_after_a_pause() {
    let breaker = Breaker::new(SILENCE);
    for _ in 0..5 {
        assert!(!breaker.is_open());
        admit(&breaker).failed();
    }
    assert!(matches!(breaker.admit(), Err(seconds) if seconds >= 10));
    tokio::time::advance(PAUSE).await;
    let probe = admit(&breaker);
    assert!(breaker.admit().is_err() && breaker.is_open(), "one at a time");
    tokio::time::advance(PAUSE).await;
    let next = admit(&breaker);
    drop(probe);
    next.succeeded();
    assert!(breaker.admit().is_ok() && breaker.admit().is_ok() && !breaker.is_open());
}

#[tokio::test(start_paused = true)]
async fn a_success_resets_the_count_of_failures() {
    let breaker = Breaker::new(SILENCE);
    for _ in 0..4 {
        admit(&breaker).failed();
    }
    admit(&breaker).succeeded();
    admit(&breaker).failed();
    give_up(&breaker, PATIENCE).await;
    assert!(!breaker.is_open());
}

#[tokio::test(start_paused = true)]
async fn attempts_abandoned_too_soon_do_not_count() {
    let breaker = Breaker::new(SILENCE);
    for _ in 0..100 {
        give_up(&breaker, Duration::from_millis(50)).await;
        give_up(&breaker, SILENCE - Duration::from_millis(1)).await;
    }
    assert!(!breaker.is_open());
    for _ in 0..4 {
        give_up(&breaker, PATIENCE).await;
    }
    assert!(!breaker.is_open());
    give_up(&breaker, PATIENCE).await;
    assert!(breaker.is_open());
    // A probe with a short deadline must not block probes with longer deadlines.
    tokio::time::advance(PAUSE).await;
    give_up(&breaker, Duration::from_millis(1)).await;
    admit(&breaker).succeeded();
    assert!(!breaker.is_open());
}

#[tokio::test(start_paused = true)]
async fn attempts_abandoned_together_count_once() {
    let breaker = Breaker::new(SILENCE);
    for is_open in [false, false, false, false, true] {
        let together: Vec<_> = (0..30).map(|_| admit(&breaker)).collect();
        tokio::time::advance(PATIENCE).await;
        drop(together);
        assert_eq!(breaker.is_open(), is_open);
    }
}
