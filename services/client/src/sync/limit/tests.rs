use super::*;

fn is_too_many(going: usize, there: usize, gone: usize) -> bool {
    SideCounts { there, going, gone }.is_too_many()
}

#[test]
fn at_most_half_of_the_skills_and_never_all_may_be_deleted() {
    for (going, there) in [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (50, 100), (500, 1001)] {
        assert!(!is_too_many(going, there, 0), "{going} of {there}");
    }
    for (going, there) in [(1, 1), (2, 2), (2, 3), (3, 3), (3, 4), (3, 5), (4, 5), (51, 100), (501, 1001), (1000, 1000)]
    {
        assert!(is_too_many(going, there, 0), "{going} of {there}");
    }
}

#[test]
fn recently_deleted_skills_count_towards_the_limit() {
    // 10 skills are deleted one by one; five deletions are allowed.
    for gone in 0..5 {
        assert!(!is_too_many(1, 10 - gone, gone), "{gone}");
    }
    for gone in 5..10 {
        assert!(is_too_many(1, 10 - gone, gone), "{gone}");
    }
    assert!(!is_too_many(0, 5, 5), "nothing is to go");
}
