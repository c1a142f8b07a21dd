use super::*;

#[test]
fn a_valid_trace_is_continued_with_a_new_span() {
    let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let parent = Parent::read(header).unwrap();
    assert_eq!(parent.to_string(), header);
    let own = parent.follow().to_string();
    assert!(own.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && own.ends_with("-01"));
    assert_ne!(own, header);
    assert_eq!(own.len(), header.len());
}

#[test]
fn invalid_headers_are_ignored() {
    for bad in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b7-01",
    ] {
        assert!(Parent::read(bad).is_none(), "{bad}");
    }
}
