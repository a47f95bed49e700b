//! How much memory reading a file takes. Alone in its process, so that nobody else's memory is counted.
#![cfg(target_os = "linux")]

use dp_cluster::codec::{MEMORY_PER_BYTE, MEMORY_PER_LIST};
use dp_cluster::{FitRequest, Model, fit};
use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Value};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// A number of kilobytes from this process's status, in bytes.
fn status(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux says");
    let line = status.lines().find(|line| line.starts_with(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    1024 * kilobytes
        .expect("a number")
        .parse::<usize>()
        .expect("a number")
}

/// The most memory that reading takes beyond what is there before; `None` where the system does not let its peak be reset.
fn peak(bytes: &[u8]) -> Option<usize> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = status("VmRSS");
    // What is read is dropped here; most of these files are no models.
    let _ = Model::load(bytes);
    Some(status("VmHWM").saturating_sub(before))
}

fn model() -> Model {
    let columns = vec!["x".to_owned()];
    let relation = NeighboringRelation::AddRemove;
    let budget = Budget::pure(Epsilon::new(1.0).expect("valid"));
    let request = FitRequest::new("dplloyd", columns, vec![[0.0, 1.0]], 2, relation).budget(budget);
    let records = Array2::from_elem((10, 1), 0.5);
    let mut noise = InsecureSeededRng::new(1);
    let mut public = ChaCha8Rng::seed_from_u64(1);
    fit(&request, &records, &mut noise, &mut public)
        .expect("a release")
        .model
}

/// Files whose bytes turn into as many objects as can be: lists of nothing (a byte each), of empty texts, of lists of nothing, many
/// parameters, many events with one parameter each, many centers without coordinates.
#[test]
fn reading_takes_no_more_memory_than_the_documentation_says() {
    const N: usize = 1 << 20;
    let usual = model();
    let with = |change: &dyn Fn(&mut Model)| {
        let mut model = usual.clone();
        change(&mut model);
        model
    };
    let list = |value: Value| Value::List(vec![value; N]);
    let parameter = |name: &str, value: Value| {
        with(&|model| {
            model.parameters.insert(name.to_owned(), value.clone());
        })
    };
    let files = [
        parameter("x", list(Value::Null)),
        parameter("x", list(Value::Text(String::new()))),
        parameter("x", list(Value::List(vec![Value::Null]))),
        with(&|model| {
            let names = (0..N / 4).map(|i| (format!("{i:x}"), Value::Null));
            model.parameters.extend(names);
        }),
    ];
    let mut most = 0.0_f64;
    for model in files {
        for bytes in [
            model.to_binary().expect("valid"),
            model.to_json().expect("valid").into_bytes(),
        ] {
            let Some(peak) = peak(&bytes) else { return };
            let allowed = MEMORY_PER_BYTE * bytes.len() + 8 * MEMORY_PER_LIST;
            assert!(peak <= allowed, "{peak} bytes for {}", bytes.len());
            let each = peak as f64 / bytes.len() as f64;
            if each > most {
                most = each;
            }
        }
    }
    // The worst of them comes near: a bound that nothing approaches would say little.
    assert!(most > MEMORY_PER_BYTE as f64 / 4.0, "{most} per byte");
}
