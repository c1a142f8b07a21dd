use super::*;

#[test]
fn what_is_new_is_kept_and_what_was_not_asked_for_for_longest_goes() {
    let kept = cache::<u8, ()>(3, |()| 1);
    for name in 1..=3 {
        kept.insert(name, ());
    }
    // Often, but not lately.
    for _ in 0..50 {
        for name in [2, 1, 3] {
            kept.get(&name);
        }
        kept.run_pending_tasks();
    }
    kept.insert(4, ());
    kept.run_pending_tasks();
    assert_eq!([1, 2, 3, 4].map(|name| kept.contains_key(&name)), [true, false, true, true]);
}
