use super::*;

#[test]
fn the_least_recently_used_entry_is_evicted_for_a_new_one() {
    let values = cache::<u8, ()>(3, |()| 1);
    for name in 1..=3 {
        values.insert(name, ());
    }
    // All entries are read equally often; entry 2 is the least recently read.
    for _ in 0..50 {
        for name in [2, 1, 3] {
            values.get(&name);
        }
        values.run_pending_tasks();
    }
    values.insert(4, ());
    values.run_pending_tasks();
    assert_eq!([1, 2, 3, 4].map(|name| values.contains_key(&name)), [true, false, true, true]);
}
