use super::*;

#[test]
fn centers_keep_their_distance_and_their_place() {
    let generator = Generator::new(Kind::Mixture, 10, 10, 1).expect("valid");
    assert!(generator.spacing() >= 1.0);
    assert!(generator.centers().iter().all(|x| x.abs() <= 0.7));
    let ball = Generator::new(Kind::GaussBall, 8, 8, 1).expect("valid");
    for (i, a) in ball.centers().outer_iter().enumerate() {
        assert!(a.dot(&a).sqrt() <= 100.0 + 1e-9);
        for b in ball.centers().outer_iter().skip(i + 1) {
            let offset = &a - &b;
            assert!(offset.dot(&offset).sqrt() >= 10.0);
        }
    }
}

#[test]
fn where_there_is_no_room_the_distance_is_halved_and_said() {
    let generator = Generator::new(Kind::Mixture, 15, 2, 1).expect("valid");
    assert!(generator.spacing() < 1.0 && generator.spacing() > 0.0);
}

#[test]
fn the_stream_does_not_depend_on_how_it_is_cut() {
    let mut whole = Generator::new(Kind::Blobs, 3, 2, 9).expect("valid");
    let mut cut = whole.clone();
    let (records, labels) = whole.next_records(10);
    let (first, first_labels) = cut.next_records(4);
    let (second, second_labels) = cut.next_records(6);
    assert_eq!(ndarray::concatenate![Axis(0), first, second], records);
    assert_eq!([first_labels, second_labels].concat(), labels);
}

#[test]
fn records_scatter_around_their_centers() {
    let mut generator = Generator::new(Kind::GaussBall, 2, 3, 4).expect("valid");
    let centers = generator.centers().clone();
    let (records, labels) = generator.next_records(20_000);
    let sum: f64 = records
        .outer_iter()
        .zip(&labels)
        .map(|(record, &label)| {
            let offset = &record - &centers.row(label);
            offset.dot(&offset)
        })
        .sum();
    // 60,000 squared standard normals: mean 1, standard error 0.0058; seeded, five errors wide.
    assert!((sum / 60_000.0 - 1.0).abs() < 0.03);
}

#[test]
fn zeros_are_refused_by_name() {
    let error = Generator::new(Kind::Blobs, 0, 2, 1).expect_err("no clusters");
    assert_eq!(
        error,
        GenerateError::Zero {
            parameter: "clusters"
        }
    );
    assert!(Generator::new(Kind::Blobs, usize::MAX, 2, 1).is_err());
}
