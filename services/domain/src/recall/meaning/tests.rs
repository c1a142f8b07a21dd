use super::*;

#[test]
fn sixteen_bit_floats_follow_ieee_754() {
    let cases = [(0.0, 0), (-0.0, 0x8000), (1.0, 0x3c00), (-2.0, 0xc000), (65_504.0, 0x7bff), (1e9, 0x7bff)];
    // The smallest normal number, subnormal numbers, and ties to even.
    let small = [(6.103_515_6e-5, 0x0400), (5.960_464_5e-8, 1), (6.097_555e-5, 0x03ff), (1e-9, 0)];
    let ties = [(1.000_488_3, 0x3c00), (1.001_464_8, 0x3c02), (0.333_333_34, 0x3555)];
    for (x, bits) in cases.into_iter().chain(small).chain(ties) {
        assert_eq!(narrow(x), bits, "{x}");
    }
    for bits in (0..0x7c00).chain(0x8000..0xfc00) {
        assert_eq!(narrow(widen(bits)), bits);
    }
}

#[test]
fn cosines_are_close_to_the_exact_ones() {
    let (a, b): (Vec<f32>, Vec<f32>) = (0..37).map(|i| ((i as f32).sin() * 3.0, (i as f32 * 0.7).cos() / 50.0)).unzip();
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum::<f64>();
    let expected = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
    let other = [1.0];
    let vectors = [Some(&a[..]), None, Some(&other), Some(&[0.0; 37]), Some(&b)].map(Vector::New);
    let meanings = Meanings::default().update(vectors.into_iter());
    let found = meanings.cosines(&b);
    assert!((f64::from(found[0].unwrap()) - expected).abs() < 1e-3);
    assert!(found[4].unwrap() > 0.999_999);
    assert_eq!(found[1..4], [None; 3]);
    for strange in [&[][..], &other, &[f32::NAN; 37], &[0.0; 37], &[f32::INFINITY; 37]] {
        assert!(meanings.cosines(strange).iter().flatten().all(|cosine| cosine.is_finite()));
    }
}
