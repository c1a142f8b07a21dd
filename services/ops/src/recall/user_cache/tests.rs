use knowhow_domain::new_id;

use super::*;

/// A copy whose size is a third of the cache's limit.
#[derive(Default)]
struct Third;

impl SearchCopy for Third {
    type State = ();

    fn copies(_: &App) -> &UserCopies<Self> {
        unreachable!("nobody asks by an app")
    }

    fn is_at(&self, (): ()) -> bool {
        true
    }

    fn is_complete(&self) -> bool {
        true
    }

    fn weight(&self) -> usize {
        100
    }

    async fn refresh(self: Arc<Self>, _: &Ctx, _: Option<()>) -> Result<Self> {
        Ok(Self)
    }
}

#[tokio::test]
async fn the_least_recently_used_copy_is_evicted() {
    let cache = UserCopies::<Third>::new(300);
    let owners: Vec<Owner> = (0..4).map(|_| (TenantId(new_id()), UserId(new_id()))).collect();
    let [first, second, third, newcomer] = owners[..] else { unreachable!("there are four") };
    for owner in [first, second, third] {
        cache.copies.insert(owner, Arc::new(Third)).await;
    }
    // All three copies are used often, but `second` least recently.
    for _ in 0..50 {
        for owner in [second, first, third] {
            cache.copies.get(&owner).await;
        }
        cache.copies.run_pending_tasks().await;
    }
    cache.copies.insert(newcomer, Arc::new(Third)).await;
    cache.copies.run_pending_tasks().await;
    assert_eq!([first, second, third, newcomer].map(|owner| cache.has(&owner)), [true, false, true, true]);
}
