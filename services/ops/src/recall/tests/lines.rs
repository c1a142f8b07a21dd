//! Tests of the queues in which copies are built: their slots and their order.

use futures_util::FutureExt;

use crate::recall::catalogues::{Catalogues, QUICK};

#[test]
fn at_most_two_copies_and_one_with_many_texts_are_built_at_once() {
    let catalogues = Catalogues::new(1 << 20, 0);
    let (few, many) = (catalogues.line(QUICK), catalogues.line(QUICK + 1));
    let whole_library = many.place_to_build().now_or_never().unwrap();
    let mut other_library = Box::pin(many.place_to_build());
    assert!(other_library.as_mut().now_or_never().is_none(), "a second library took the other place");
    let changed_skill = few.place_to_build().now_or_never().expect("a place beside the library");
    let mut second_change = Box::pin(few.place_to_build());
    assert!(second_change.as_mut().now_or_never().is_none(), "a third copy was built");
    drop(whole_library);
    assert!(second_change.as_mut().now_or_never().is_some(), "who waited for a turn kept a place");
    drop(changed_skill);
    assert!(other_library.as_mut().now_or_never().is_some());
}
