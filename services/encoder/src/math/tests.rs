use super::*;

#[test]
fn exp_has_seven_digits() {
    for step in -8700..8800 {
        let x = step as f32 / 100.0;
        let exact = f64::from(x).exp();
        assert!((f64::from(exp(x)) / exact - 1.0).abs() < 3e-7, "{x}");
    }
    assert!(exp(-1e9) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
}

#[test]
fn gelu_is_close_to_exact_values() {
    let mut values = [-6.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0];
    gelu(&mut values);
    let exact = [0.0, -0.158_655_26, -0.154_268_77, 0.0, 0.345_731_23, 0.841_344_8, 2.995_950_2];
    for (value, exact) in values.into_iter().zip(exact) {
        assert!((value - exact).abs() < 1e-6, "{value} {exact}");
    }
}

#[test]
fn softmax_of_huge_numbers_sums_to_one() {
    let mut row = [1e30, 1e30, -1e30];
    softmax(&mut row);
    assert_eq!(row[0], 0.5);
    assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
}

#[test]
fn a_zero_vector_is_normalised_to_itself() {
    let mut vector = [0.0; 4];
    normalise(&mut vector);
    assert_eq!(vector, [0.0; 4]);
}
