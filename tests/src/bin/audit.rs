//! The audit.
use std::time::Instant;
fn main() {
    let subjects = workspace_tests::subjects::all().unwrap();
    for s in &subjects {
        #[allow(clippy::disallowed_methods)]
        let t = Instant::now();
        if let Err(e) = workspace_tests::spending::subject(s) { println!("LEDGER {e}"); }
        let r = workspace_tests::replays::subject(s, 100, 1);
        println!("{:.2} ms/pair {} {:?}", t.elapsed().as_secs_f64()*10.0, s.name(), r);
    }
}
