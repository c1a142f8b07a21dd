use super::*;

#[test]
fn cosines_are_exact_to_0_005() {
    let (a, b): (Vec<f32>, Vec<f32>) = (0..384).map(|i| ((i as f32).sin(), (i as f32 * 1.3).cos())).unzip();
    let mixed: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + 0.5 * b).collect();
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    let cosine = |x: &[f32], y: &[f32]| product(x, y) / (product(x, x) * product(y, y)).sqrt();
    let strange = [vec![0.0; 384], vec![f32::NAN; 384], vec![1.0; 7], Vec::new()];
    let rows = [&a, &strange[0], &b, &strange[1], &strange[2], &strange[3], &a];
    let examples = Examples::new((0..).zip(rows.map(Vec::as_slice)));
    let mut found = Vec::new();
    examples.visit_cosines(&mixed, |skill, cosine| found.push((skill, cosine)));
    assert_eq!(found.iter().map(|(skill, _)| *skill).collect::<Vec<_>>(), [0, 2, 6]);
    for ((_, found), vector) in found.iter().zip([&a, &b, &a]) {
        assert!((found - cosine(vector, &mixed)).abs() < 0.005);
    }
    for query in &strange {
        examples.visit_cosines(query, |_, cosine| panic!("{cosine}"));
    }
}
