use proptest::prelude::*;

use super::*;
use crate::model::tests::{rich, small};

/// A body in the frame of a model, with a checksum that fits: what a hostile writer would send.
fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = <Model as Filed>::MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&fnv1a(body).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fn body(model: &Model) -> Vec<u8> {
    model.to_binary().expect("valid")[HEADER..].to_vec()
}

#[test]
fn both_forms_bring_a_model_back_bit_for_bit() {
    for model in [small(), rich()] {
        let json = model.to_json().expect("valid");
        assert_eq!(Model::load(json.as_bytes()).expect("valid"), model);
        assert_eq!(
            Model::load(&model.to_binary().expect("valid")).expect("valid"),
            model
        );
    }
}

#[test]
fn json_has_short_floats_and_only_the_keys_that_apply() {
    let json = small().to_json().expect("valid");
    assert!(json.contains("0.30000000000000004") && json.ends_with("}\n"));
    for key in [
        "chosen",
        "weights",
        "covariances",
        "metric",
        "power",
        "site_rows",
    ] {
        assert!(!json.contains(&format!("\"{key}\"")), "{key}");
        assert!(
            rich()
                .to_json()
                .expect("valid")
                .contains(&format!("\"{key}\"")),
            "{key}"
        );
    }
}

/// The layout is written down at the top of the module; this file was written when it was.
#[test]
fn the_layout_of_the_binary_form_has_not_moved() {
    let bytes = small().to_binary().expect("valid");
    assert_eq!(bytes[..12], *b"\x89DPCLUS\n\x01\0\0\0");
    // Format version, then the name of the algorithm behind its length, then no `chosen`, outcome 0, flags.
    assert_eq!(bytes[HEADER..HEADER + 13], *b"\x01\x07dplloyd\0\0\x01\0");
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8); // from the authors' test vectors
}

#[test]
fn every_truncated_file_is_an_error() {
    let bytes = rich().to_binary().expect("valid");
    for end in 0..bytes.len() {
        assert!(Model::load(&bytes[..end]).is_err(), "{end}");
    }
    let json = rich().to_json().expect("valid");
    for end in 0..json.trim_end().len() {
        assert!(Model::load(&json.as_bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn every_flipped_bit_is_an_error() {
    let bytes = rich().to_binary().expect("valid");
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(Model::load(&damaged).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn trailing_bytes_are_refused_in_the_file_and_in_the_body() {
    let mut bytes = small().to_binary().expect("valid");
    bytes.push(0);
    assert!(matches!(
        Model::load(&bytes),
        Err(CodecError::Length { .. })
    ));
    let mut body = body(&small());
    body.push(0);
    assert!(matches!(
        Model::load(&framed(&body)),
        Err(CodecError::Form(_))
    ));
    let json = small().to_json().expect("valid") + "{}";
    assert!(matches!(
        Model::load(json.as_bytes()),
        Err(CodecError::Form(_))
    ));
}

#[test]
fn enormous_lengths_allocate_nothing() {
    // Where the name of the algorithm is, a text of 2^64 − 1 bytes is announced.
    let mut body = vec![1, 253];
    body.extend_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(
        Model::load(&framed(&body)),
        Err(CodecError::Form(_))
    ));
    // And in the header a body of as many.
    let mut bytes = framed(&[]);
    bytes[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(
        Model::load(&bytes),
        Err(CodecError::Length { .. })
    ));
}

#[test]
fn lists_in_lists_without_end_do_not_exhaust_the_stack() {
    let mut model = small();
    model.parameters.clear();
    let mut hostile = body(&model);
    hostile.pop(); // the number of parameters, 0
    hostile.extend_from_slice(&[1, 1, b'x']);
    // Variant 5 is a list; each holds one more.
    for _ in 0..1_000_000 {
        hostile.extend_from_slice(&[5, 1]);
    }
    assert!(matches!(
        Model::load(&framed(&hostile)),
        Err(CodecError::Form(_))
    ));
    let json = small().to_json().expect("valid");
    let deep = json.replace(
        "\"iterations\": 5",
        &format!("\"x\": {}", "[".repeat(1_000_000)),
    );
    assert!(matches!(
        Model::load(deep.as_bytes()),
        Err(CodecError::Form(_))
    ));
}

#[test]
fn files_of_another_kind_or_version_are_named() {
    assert_eq!(Model::load(b"age,hours\n1,2\n"), Err(CodecError::Unknown));
    assert_eq!(Model::load(b""), Err(CodecError::Unknown));
    let version = |error: Result<Model, CodecError>| {
        matches!(
            error,
            Err(CodecError::Model(ModelError::Version { got: 7 }))
        )
    };
    assert!(version(Model::load(
        b"{\"format_version\": 7, \"news\": true}"
    )));
    let mut bytes = small().to_binary().expect("valid");
    bytes[8] = 7;
    assert!(version(Model::load(&bytes)));
}

#[test]
fn an_unknown_key_is_refused() {
    let json = small()
        .to_json()
        .expect("valid")
        .replace("\"seeded\"", "\"secret\": 1, \"seeded\"");
    assert!(matches!(
        Model::load(json.as_bytes()),
        Err(CodecError::Form(_))
    ));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Model::load(&bytes);
        let _ = Model::load(&framed(&bytes));
    }

    #[test]
    fn hostile_changes_to_a_good_body_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        let mut body = body(&rich());
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if let Ok(model) = Model::load(&framed(&body)) {
            // What is accepted is valid, and can be written again.
            prop_assert!(model.check().is_ok());
            prop_assert!(model.to_json().is_ok());
        }
    }
}
