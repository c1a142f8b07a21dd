//! Places the nodes of a graph, so that related ones are near each other: the force-directed placement of Fruchterman and
//! Reingold (1991). The same graph always has the same places.

/// Size of the picture.
pub const WIDTH: i32 = 1000;
pub const HEIGHT: i32 = 640;
/// Space at each edge of the picture, for the names.
const MARGIN: f64 = 40.0;
/// Maximum size of the distance 1 in the picture. Two related nodes are about 1.7 apart.
const LARGEST: f64 = 110.0;
/// Bounds of the number of rounds. Large graphs get fewer, because the work of a round grows with the square of the nodes.
const ROUNDS: (usize, usize) = (60, 300);
/// Number of pairs of nodes to compare in all rounds.
const PAIRS: usize = 12_000_000;
/// Strength of the pull to the centre, which holds separate parts of the graph together.
const GRAVITY: f64 = 0.08;
/// The golden angle. Nodes on a spiral with this angle between them are evenly spread.
const ANGLE: f64 = 2.399_963_229_728_653;

/// A place in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

type Vector = (f64, f64);

/// Returns a place for each of `count` nodes. `edges` has the positions of related nodes.
pub fn place(count: usize, edges: &[(usize, usize)]) -> Vec<Point> {
    let mut places: Vec<Vector> = (0..count).map(on_spiral).collect();
    let rounds = (PAIRS / (count * count).max(1)).clamp(ROUNDS.0, ROUNDS.1);
    for round in 0..rounds {
        let moves = moves(&places, edges);
        let longest = 3.0 * (1.0 - round as f64 / rounds as f64);
        for (place, (x, y)) in places.iter_mut().zip(moves) {
            let length = x.hypot(y).max(f64::EPSILON);
            let step = length.min(longest) / length;
            *place = (place.0 + x * step, place.1 + y * step);
        }
    }
    fit(&places)
}

/// Returns the first place of a node. The distance between neighbours is about 1.
fn on_spiral(at: usize) -> Vector {
    let (radius, angle) = ((at as f64 + 0.5).sqrt(), at as f64 * ANGLE);
    (radius * angle.cos(), radius * angle.sin())
}

/// Returns the sum of the forces on each node: all nodes repel each other, related ones attract each other.
fn moves(places: &[Vector], edges: &[(usize, usize)]) -> Vec<Vector> {
    let mut moves: Vec<Vector> = places.iter().map(|(x, y)| (-GRAVITY * x, -GRAVITY * y)).collect();
    let mut push = |at: usize, (x, y): Vector| {
        if let Some(moved) = moves.get_mut(at) {
            *moved = (moved.0 + x, moved.1 + y);
        }
    };
    for (one, first) in places.iter().enumerate() {
        for (other, second) in places.iter().enumerate().skip(one + 1) {
            let (x, y) = (first.0 - second.0, first.1 - second.1);
            let square = (x * x + y * y).max(0.01);
            push(one, (x / square, y / square));
            push(other, (-x / square, -y / square));
        }
    }
    for (from, to) in edges {
        let (Some(first), Some(second)) = (places.get(*from), places.get(*to)) else { continue };
        let (x, y) = (second.0 - first.0, second.1 - first.1);
        let pull = 0.2 * x.hypot(y);
        push(*from, (x * pull, y * pull));
        push(*to, (-x * pull, -y * pull));
    }
    moves
}

/// Scales the places to the picture and centres them. A small graph is not stretched.
fn fit(places: &[Vector]) -> Vec<Point> {
    let bounds = |values: Vec<f64>| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ((least + most) / 2.0, most - least)
    };
    let (centre_x, width) = bounds(places.iter().map(|place| place.0).collect());
    let (centre_y, height) = bounds(places.iter().map(|place| place.1).collect());
    let room = |size: i32, extent: f64| (f64::from(size) - 2.0 * MARGIN) / extent.max(f64::EPSILON);
    let scale = room(WIDTH, width).min(room(HEIGHT, height)).min(LARGEST);
    let on_picture =
        |value: f64, centre: f64, size: i32| ((value - centre) * scale + f64::from(size) / 2.0).round() as i32;
    places
        .iter()
        .map(|(x, y)| Point { x: on_picture(*x, centre_x, WIDTH), y: on_picture(*y, centre_y, HEIGHT) })
        .collect()
}

#[cfg(test)]
mod tests;
