use super::*;

fn skill(days: f64) -> f32 {
    faded(0.7, DAILY_IMPORTANCE, days, IMPORTANCE_FLOOR)
}

#[test]
fn importance_decays_daily_down_to_its_floor() {
    let cases = [(0.0, 0.7), (10.0, 0.6331), (30.0, 0.5178), (84.0, 0.3009), (85.0, 0.3), (365.0, 0.3)];
    for (days, left) in cases {
        assert!((skill(days) - left).abs() < 5e-5, "{days} days: {}", skill(days));
    }
    assert!((faded(1.0, 0.95, 10.0, 0.0) - 0.5987).abs() < 5e-5, "a memory");
    assert!((faded(0.2, 0.99, 100.0, IMPORTANCE_FLOOR) - 0.2).abs() < 1e-6, "the floor raises nothing");
}

#[test]
fn affinity_grows_with_shared_memories_up_to_one() {
    assert!((affinity(3) - 0.9051).abs() < 1e-4);
    assert!(affinity(3) < affinity(4) && affinity(1_000) <= 1.0);
    assert!((computed_strength(affinity(3), 69.0) - 0.4524).abs() < 1e-3);
}
