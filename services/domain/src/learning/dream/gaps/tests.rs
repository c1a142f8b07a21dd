use chrono::Days;
use proptest::prelude::*;

use super::*;

fn request<'a>(session: usize, day: u64, vector: &'a [f32]) -> Request<'a> {
    let day = NaiveDate::default() + Days::new(day);
    Request { session, day, failed: false, text: "reset the router", vector }
}

const EAST: [f32; 3] = [1.0, 0.0, 0.0];
const NEAR_EAST: [f32; 3] = [0.95, 0.2, 0.0];
const NORTH: [f32; 3] = [0.0, 1.0, 0.0];
const UP: [f32; 3] = [0.0, 0.0, 1.0];

fn two_like_requests() -> [Request<'static>; 4] {
    [request(1, 0, &EAST), request(2, 0, &NORTH), request(3, 1, &NEAR_EAST), request(4, 2, &UP)]
}

#[test]
fn similar_requests_on_two_days_are_a_gap() {
    let found = find_gaps(&two_like_requests(), &KnownVectors::default());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].requests.as_slice(), found[0].sessions), (&[0, 2][..], 2));
    assert!(found[0].tightness > 0.97);
    assert_eq!(found[0].label, "router reset");
}

#[test]
fn requests_of_one_day_or_session_or_that_all_failed_are_no_gap() {
    let mut requests = two_like_requests();
    requests[2].day = requests[0].day;
    assert_eq!(find_gaps(&requests, &KnownVectors::default()), []);
    let mut requests = two_like_requests();
    requests[2].session = 1;
    assert_eq!(find_gaps(&requests, &KnownVectors::default()), []);
    let mut requests = two_like_requests();
    requests[0].failed = true;
    assert_eq!(find_gaps(&requests, &KnownVectors::default()).len(), 1);
    requests[2].failed = true;
    assert_eq!(find_gaps(&requests, &KnownVectors::default()), []);
}

#[test]
fn requests_close_to_a_skill_or_an_example_are_no_gap() {
    let requests = two_like_requests();
    let near: [&[f32]; 2] = [&NORTH, &[0.8, -0.6, 0.0]];
    assert_eq!(find_gaps(&requests, &KnownVectors { skills: &near, ..KnownVectors::default() }), []);
    // Earlier messages are closer to later ones than a skill's description.
    assert_eq!(find_gaps(&requests, &KnownVectors { examples: &near, ..KnownVectors::default() }).len(), 1);
    assert_eq!(find_gaps(&requests, &KnownVectors { examples: &[&EAST], ..KnownVectors::default() }), []);
    let strange: [&[f32]; 5] = [&NORTH, &[1.0], &[], &[f32::NAN; 3], &[0.0; 3]];
    let known = KnownVectors { skills: &strange, examples: &strange, chatter: &strange };
    assert_eq!(find_gaps(&requests, &known).len(), 1);
}

#[test]
fn the_skill_closest_to_requests_may_be_extended() {
    let near = |skills: &[&[f32]]| find_near(skills, &[&EAST, &NEAR_EAST, &[]]);
    assert_eq!(near(&[&[0.5, 0.866, 0.0], &[0.45, 0.0, 0.893], &UP]), Some(0));
    assert_eq!(near(&[&UP, &EAST]), Some(1));
    assert_eq!(near(&[&UP, &[], &[0.3, 0.0, 0.95]]), None);
    assert_eq!(find_near(&[&EAST], &[&[]]), None);
}

#[test]
fn chatter_is_no_gap() {
    let requests = two_like_requests();
    assert_eq!(find_gaps(&requests, &KnownVectors { chatter: &[&EAST], ..KnownVectors::default() }), []);
    assert_eq!(find_gaps(&requests, &KnownVectors { chatter: &[&UP], ..KnownVectors::default() }).len(), 1);
}

#[test]
fn vectors_of_an_earlier_model_are_ignored() {
    let mut requests = two_like_requests().to_vec();
    requests.push(request(5, 1, &[1.0, 0.0]));
    assert_eq!(find_gaps(&requests, &KnownVectors::default())[0].requests, [0, 2]);
    requests.extend([request(6, 8, &[1.0, 0.0]), request(7, 9, &[0.0, 1.0])]);
    assert_eq!(find_gaps(&requests, &KnownVectors::default())[0].requests, [4, 5]);
}

#[test]
fn the_largest_gap_comes_first() {
    let mut requests = two_like_requests().to_vec();
    requests.extend([request(5, 5, &UP), request(6, 6, &UP)]);
    let found: Vec<Vec<usize>> =
        find_gaps(&requests, &KnownVectors::default()).into_iter().map(|gap| gap.requests).collect();
    assert_eq!(found, [vec![3, 4, 5], vec![0, 2]]);
}

#[test]
fn properties_common_to_all_requests_do_not_make_them_similar() {
    // Each vector has one large number in common with all others, and a second one with two of them.
    let vectors: Vec<[f32; 31]> = (0..90)
        .map(|at| {
            let mut vector = [0.0; 31];
            (vector[30], vector[at % 30]) = (1.0, 1.2);
            vector
        })
        .collect();
    let requests: Vec<Request<'_>> = (0..90).map(|at| request(at, at as u64, &vectors[at])).collect();
    let found = find_gaps(&requests, &KnownVectors::default());
    assert_eq!(found.len(), 30);
    assert_eq!(found[0].requests, [29, 59, 89]);
}

#[test]
fn a_user_with_a_single_topic_has_a_gap() {
    let vectors = [EAST, NEAR_EAST, [0.9, 0.1, 0.3]];
    let requests: Vec<Request<'_>> = (0..3).map(|at| request(at, at as u64, &vectors[at])).collect();
    assert_eq!(find_gaps(&requests, &KnownVectors::default())[0].requests, [0, 1, 2]);
}

#[test]
fn unusable_vectors_and_too_many_requests_are_handled() {
    assert_eq!(find_gaps(&[], &KnownVectors::default()), []);
    assert_eq!(find_gaps(&[request(1, 0, &EAST)], &KnownVectors::default()), []);
    let strange: [&[f32]; 5] = [&[], &[0.0; 3], &[f32::NAN; 3], &[f32::INFINITY; 3], &[1.0]];
    let requests: Vec<Request<'_>> =
        strange.iter().enumerate().map(|(at, vector)| request(at, at as u64, vector)).collect();
    assert_eq!(find_gaps(&requests, &KnownVectors { skills: &strange, ..KnownVectors::default() }), []);
    let same: Vec<Request<'_>> = (0..MOST_REQUESTS + 9).map(|at| request(at, at as u64, &EAST)).collect();
    let found = find_gaps(&same, &KnownVectors::default());
    assert_eq!((found.len(), found[0].requests.len()), (1, MOST_REQUESTS));
    // The earliest requests are omitted.
    assert_eq!(found[0].requests[0], 9);
    assert!((found[0].tightness - 1.0).abs() < 1e-6);
}

proptest! {
    #[test]
    fn the_order_of_requests_does_not_matter(
        list in prop::collection::vec((0_usize..6, 0_u64..4, prop::array::uniform3(-2_i8..3), any::<bool>()), 0..12),
        turn in 0_usize..12,
    ) {
        let vectors: Vec<[f32; 3]> = list.iter().map(|(_, _, numbers, _)| numbers.map(f32::from)).collect();
        let made: Vec<Request<'_>> = list.iter().zip(&vectors)
            .map(|((session, day, _, failed), vector)| Request { failed: *failed, ..request(*session, *day, vector) })
            .collect();
        let mut turned = made.clone();
        turned.rotate_left(turn.min(list.len()));
        turned.reverse();
        let seen = |requests: &[Request<'_>]| -> Vec<_> {
            let gaps = find_gaps(requests, &KnownVectors::default());
            let of = |gap: &Gap| {
                let mut members: Vec<_> = gap.requests.iter().map(|at| (requests[*at].session, requests[*at].day)).collect();
                members.sort_unstable();
                members
            };
            gaps.iter().map(|gap| (of(gap), gap.tightness, gap.label.clone())).collect()
        };
        prop_assert_eq!(seen(&made), seen(&turned));
    }
}
