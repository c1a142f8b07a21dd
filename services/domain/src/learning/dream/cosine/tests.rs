use super::*;

#[test]
fn empty_zero_and_infinite_vectors_have_no_direction() {
    for strange in [&[][..], &[0.0; 3], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
        assert_eq!(direction_of(strange), None, "{strange:?}");
    }
    for length in [1e-30, 1.0, f32::MAX] {
        assert_eq!(direction_of(&[0.0, length]), Some(vec![0.0, 1.0]), "{length}");
    }
}

#[test]
fn the_cosine_of_directions_is_the_cosine_of_the_vectors() {
    let (a, b): (Vec<f32>, Vec<f32>) = (0..37).map(|i| ((i as f32).sin(), (i as f32 * 0.7).cos())).unzip();
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    let expected = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
    let found = cosine(&direction_of(&a).unwrap(), &direction_of(&b).unwrap());
    assert!((found - expected).abs() < 1e-5);
    assert_eq!(cosine(&[1.0], &[1.0, 0.0]), 0.0);
}

#[test]
fn the_mean_covers_all_vectors() {
    assert_eq!(mean_of([&[1.0, 3.0][..], &[3.0, 5.0]]), [2.0, 4.0]);
    assert_eq!(mean_of([]), Vec::<f32>::new());
}

#[test]
fn twins_are_earlier_texts_with_nearly_the_same_embedding() {
    let vectors =
        vec![(0, vec![1.0, 0.0]), (2, vec![0.0, 1.0]), (3, vec![1.0, 0.1]), (4, Vec::new()), (5, vec![2.0, 0.0])];
    let twins = find_twins(&vectors);
    assert_eq!(twins, [(3, vec![0]), (5, vec![0, 3])].into());
}
