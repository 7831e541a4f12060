//! Compiles the programs beside this folder and compares what rustc says.

fn pass(value: Option<&str>) {
    // SAFETY: this program has one thread.
    unsafe {
        match value {
            Some(value) => std::env::set_var("RELOCGPU_PASS", value),
            None => std::env::remove_var("RELOCGPU_PASS"),
        }
    }
}

fn main() {
    // trybuild's packages have no build script: the word that it would give comes from here.
    pass(Some("skipped"));
    {
        let cases = trybuild::TestCases::new();
        cases.compile_fail("rejected/*.rs");
        cases.pass("accepted/*.rs");
    }
    pass(None);
    let cases = trybuild::TestCases::new();
    cases.compile_fail("no_build_script/missing.rs");
    cases.pass("no_build_script/no_kernels.rs");
}
