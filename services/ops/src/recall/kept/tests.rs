use knowhow_domain::new_id;

use super::*;

/// A copy that weighs a third of what there is room for.
#[derive(Default)]
struct Third;

impl Searched for Third {
    type State = ();

    fn kept(_: &App) -> &Kept<Self> {
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
async fn a_newcomer_is_kept_and_who_has_not_asked_for_longest_goes() {
    let kept = Kept::<Third>::new(300);
    let owners: Vec<Owner> = (0..4).map(|_| (TenantId(new_id()), UserId(new_id()))).collect();
    let [first, second, third, newcomer] = owners[..] else { unreachable!("there are four") };
    for owner in [first, second, third] {
        kept.copies.insert(owner, Arc::new(Third)).await;
    }
    // Often, but not lately.
    for _ in 0..50 {
        for owner in [second, first, third] {
            kept.copies.get(&owner).await;
        }
        kept.copies.run_pending_tasks().await;
    }
    kept.copies.insert(newcomer, Arc::new(Third)).await;
    kept.copies.run_pending_tasks().await;
    assert_eq!([first, second, third, newcomer].map(|owner| kept.has(&owner)), [true, false, true, true]);
}
