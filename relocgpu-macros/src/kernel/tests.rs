use super::*;
use quote::quote;

fn messages(item: TokenStream) -> Vec<String> {
    let mut faults = Faults::default();
    Kernel::new(syn::parse2(item).unwrap(), 0, &mut faults);
    faults.messages()
}

#[test]
fn a_plain_kernel_has_no_fault() {
    let kernel = quote! {
        fn k<'a, T: Copy, const N: usize>(x: &'a [T], mut y: DisjointSlice<'_, T, Rows<4>>, (a, b): (u32, u32), c: [T; N], r#type: f32) {}
    };
    assert_eq!(messages(kernel), [""; 0]);
}

#[test]
fn all_faults_are_told_at_once() {
    let all = messages(quote!(
        async fn k(x: &mut [f32], y: &str, z: DisjointSlice<&u8>) -> u32 {}
    ));
    let expected = [diagnostics::ASYNC, diagnostics::RETURN_VALUE, diagnostics::MUT_SLICE, diagnostics::STR, diagnostics::INNER_REFERENCE];
    assert_eq!(all, expected);
}

#[test]
fn a_capture_is_found_where_the_name_is_in_scope() {
    let captures = messages(quote! {
        fn k<T, const N: usize>(n: u32) {
            let gain = host!(gain());
            if let Some(index) = find() { host!(index + 1_u32); }
            host!(index);
            host!({ let n = 3_u32; n });
            host!(size_of::<T>());
            host!(|device| device.count::<T>());
            let tile = device!(shared: [f32; N]);
            host!(format!("{}", gain).len());
            host!(point.n);
        }
    });
    let expected = [
        diagnostics::host_capture("index", diagnostics::Captured::Local),
        diagnostics::host_capture("T", diagnostics::Captured::Generic),
        diagnostics::device_capture("N"),
        diagnostics::host_capture("gain", diagnostics::Captured::Local),
    ];
    assert_eq!(captures, expected);
}

fn words(item: TokenStream) -> Vec<String> {
    let mut faults = Faults::default();
    let kernel = Kernel::new(syn::parse2(item).unwrap(), 0, &mut faults);
    assert!(faults.is_empty());
    let fields = kernel.fields();
    kernel.word_descriptors(&TokenStream::new(), &fields).map(|word| word.to_string()).collect()
}

#[test]
fn a_word_of_an_instance_names_a_generic_parameter() {
    let words = words(quote! {
        fn k<T: Gain, const N: usize>(n: u32) {
            let x = f(host!(T::gain())) + host!(T::gain());
            if x > 0.0 { host!(other()) } else { host!(N * 2) };
            fn inner<T: Gain>() -> f32 { host!(T::gain()) }
        }
    });
    assert_eq!(words.len(), 2, "{words:?}");
    assert!(words[0].contains("\"host!(T::gain ())\"") && words[1].contains("\"host!(N * 2)\""), "{words:?}");
}
