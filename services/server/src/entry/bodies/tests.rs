use super::*;

#[test]
fn one_caller_uses_at_most_a_third_of_the_body_memory() {
    let bodies = Bodies::new(300);
    bodies.take(1, 100).unwrap();
    assert!(matches!(bodies.take(1, 1), Err(Error::RateLimited { .. })));
    bodies.take(5, 100).unwrap();
    assert!(matches!(bodies.take(5, 1), Err(Error::RateLimited { .. })));
    bodies.take(2, 60).unwrap();
    bodies.take(3, 40).unwrap();
    assert!(matches!(bodies.take(4, 1), Err(Error::Unavailable(_))));
    bodies.release(1, 100);
    bodies.release(5, 100);
    bodies.take(4, 100).unwrap();
    bodies.release(2, 60);
    let in_use = bodies.in_use();
    assert_eq!((in_use.by_all, in_use.by_sender.len()), (140, 2));
}
