use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use knowhow_domain::{Error, Result};
use tokio::time::{Instant, sleep};

use super::{LIFETIME, Recent};

/// A source of numbers with a slow read.
#[derive(Default)]
struct NumberSource {
    reads: AtomicUsize,
}

impl NumberSource {
    fn read(self: &Arc<Self>, takes: Duration) -> impl Future<Output = Result<usize>> + Send + 'static {
        let source = self.clone();
        async move {
            sleep(takes).await;
            Ok(source.reads.fetch_add(1, Ordering::SeqCst) + 1)
        }
    }
}

#[tokio::test]
async fn a_value_in_use_is_renewed_in_the_background() {
    let (recent, source) = (Recent::new(), Arc::<NumberSource>::default());
    let takes = Duration::from_millis(200);
    recent.get("a", || source.read(takes)).await.unwrap();
    let began = Instant::now();
    while began.elapsed() < 3 * LIFETIME {
        let asked = Instant::now();
        recent.get("a", || source.read(takes)).await.unwrap();
        assert!(asked.elapsed() < takes / 2, "a request waited {:?}", asked.elapsed());
        sleep(Duration::from_millis(10)).await;
    }
    assert!((3..=8).contains(&source.reads.load(Ordering::SeqCst)), "{}", source.reads.load(Ordering::SeqCst));
}

#[tokio::test]
async fn an_unused_value_expires_and_is_read_again() {
    let (recent, source) = (Recent::new(), Arc::<NumberSource>::default());
    assert_eq!(recent.get("a", || source.read(Duration::ZERO)).await.unwrap(), 1);
    sleep(LIFETIME + Duration::from_millis(100)).await;
    assert_eq!(recent.get("a", || source.read(Duration::ZERO)).await.unwrap(), 2);
}

#[tokio::test]
async fn a_renewal_that_began_before_a_clear_is_dropped() {
    let (recent, source) = (Recent::new(), Arc::<NumberSource>::default());
    let slow = Duration::from_millis(400);
    recent.get("a", || source.read(slow)).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    // Starts a renewal that is still running when the cache is cleared.
    recent.get("a", || source.read(slow)).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    recent.clear();
    sleep(slow).await;
    assert_eq!(recent.get("a", || async { Ok(100) }).await.unwrap(), 100);
}

#[tokio::test]
async fn an_error_is_not_cached() {
    let recent = Recent::<&str, usize>::new();
    let failed = recent.get("a", || async { Err(Error::Unavailable("gone".into())) }).await;
    assert!(matches!(failed, Err(Error::Unavailable(_))));
    assert_eq!(recent.get("a", || async { Ok(1) }).await.unwrap(), 1);
}
