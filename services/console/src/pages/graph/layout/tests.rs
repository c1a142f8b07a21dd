use super::{HEIGHT, Point, WIDTH, place};

fn distance(one: Point, other: Point) -> f64 {
    f64::from(one.x - other.x).hypot(f64::from(one.y - other.y))
}

#[test]
fn related_nodes_are_nearer_than_others() {
    // Two groups of five, each node related to all of its group, and one edge between the groups.
    let group = |first: usize| (first..first + 5).flat_map(move |a| (a + 1..first + 5).map(move |b| (a, b)));
    let edges: Vec<_> = group(0).chain(group(5)).chain([(0, 5)]).collect();
    let places = place(10, &edges);
    let mean = |pairs: Vec<(usize, usize)>| {
        pairs.iter().map(|(a, b)| distance(places[*a], places[*b])).sum::<f64>() / pairs.len() as f64
    };
    let inside = mean(group(0).chain(group(5)).collect());
    let between = mean((1..5).flat_map(|a| (6..10).map(move |b| (a, b))).collect());
    assert!(between > 1.5 * inside, "{inside} inside, {between} between");
}

#[test]
fn the_same_graph_has_the_same_places_inside_the_picture() {
    let edges: Vec<_> = (0..1_500).map(|at| (at * 7 % 500, at * 13 % 500)).collect();
    let places = place(500, &edges);
    assert_eq!(places, place(500, &edges));
    assert!(places.iter().all(|at| (0..=WIDTH).contains(&at.x) && (0..=HEIGHT).contains(&at.y)));
    let mut different = places.clone();
    different.sort_by_key(|at| (at.x, at.y));
    different.dedup();
    assert!(different.len() > 450, "few nodes share a place: {}", different.len());
}

#[test]
fn empty_and_lone_graphs_and_loops_have_places() {
    assert!(place(0, &[]).is_empty());
    assert_eq!(place(1, &[(0, 0)]), [Point { x: WIDTH / 2, y: HEIGHT / 2 }]);
    assert_eq!(place(2, &[(0, 1), (0, 7)]).len(), 2);
}
