use super::*;

#[test]
fn no_caller_takes_more_than_a_third_and_all_no_more_than_there_is() {
    let bodies = Bodies::new(300);
    bodies.take(1, 100).unwrap();
    assert!(matches!(bodies.take(1, 1), Err(Error::RateLimited { .. })));
    bodies.take(5, 100).unwrap();
    assert!(matches!(bodies.take(5, 1), Err(Error::RateLimited { .. })));
    bodies.take(2, 60).unwrap();
    bodies.take(3, 40).unwrap();
    assert!(matches!(bodies.take(4, 1), Err(Error::Unavailable(_))));
    bodies.give_back(1, 100);
    bodies.give_back(5, 100);
    bodies.take(4, 100).unwrap();
    bodies.give_back(2, 60);
    let held = bodies.held();
    assert_eq!((held.by_all, held.by_sender.len()), (140, 2));
}
