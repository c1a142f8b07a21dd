use super::*;

#[test]
fn no_caller_takes_more_than_a_third_and_all_no_more_than_there_is() {
    let bodies = Bodies::new(300);
    bodies.take(Some(1), 100).unwrap();
    assert!(matches!(bodies.take(Some(1), 1), Err(Error::RateLimited { .. })));
    bodies.take(None, 100).unwrap();
    assert!(matches!(bodies.take(None, 1), Err(Error::RateLimited { .. })));
    bodies.take(Some(2), 60).unwrap();
    bodies.take(Some(3), 40).unwrap();
    assert!(matches!(bodies.take(Some(4), 1), Err(Error::Unavailable(_))));
    bodies.give_back(Some(1), 100);
    bodies.give_back(None, 100);
    bodies.take(Some(4), 100).unwrap();
    bodies.give_back(Some(2), 60);
    let held = bodies.held();
    assert_eq!((held.by_all, held.by_known.len()), (140, 2));
}
