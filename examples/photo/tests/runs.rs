//! The example develops files of both kinds, finds its own results right, and says what is wrong with its arguments.

use std::path::Path;
use std::process::{Command, Output};

fn photo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_photo")).args(arguments).env("RELOCGPU_DEVICE", "cpu").output().unwrap()
}

fn path(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_string_lossy().into_owned()
}

/// Develops `input`; returns the picture.
fn developed(input: &str, output: &str, strength: &str) -> image::RgbImage {
    let run = photo(&[input, output, "--strength", strength]);
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}{}", String::from_utf8_lossy(&run.stderr));
    assert!(text.contains("differences: 0 of"), "{text}");
    image::open(output).unwrap().into_rgb8()
}

#[test]
fn the_photograph() {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("astronaut.png").to_string_lossy().into_owned();
    let (soft, sharp) = (developed(&input, &path("soft.png"), "0"), developed(&input, &path("sharp.png"), "1.5"));
    assert_eq!(soft.dimensions(), (512, 512));
    // Sharpening sets neighbours further apart.
    let contrast = |picture: &image::RgbImage| picture.as_raw().windows(4).map(|w| u64::from(w[0].abs_diff(w[3]))).sum::<u64>();
    assert!(contrast(&sharp) > contrast(&soft) * 11 / 10, "{} and {}", contrast(&sharp), contrast(&soft));
}

/// Sizes that are no multiples of the block's, a JPEG among them.
#[test]
fn odd_sizes() {
    for (name, width, height) in [("one.png", 1, 1), ("thin.jpg", 3, 101), ("wide.png", 333, 17)] {
        let input = path(name);
        image::RgbImage::from_fn(width, height, |x, y| image::Rgb([(x * 7) as u8, (y * 5) as u8, (x * y) as u8])).save(&input).unwrap();
        assert_eq!(developed(&input, &path(&format!("{name}.out.png")), "2").dimensions(), (width, height));
    }
}

#[test]
fn faults_are_errors() {
    for arguments in [&["only-one.png"][..], &["no-such-file.png", "out.png"], &["--strength", "much"], &["--unknown"]] {
        let run = photo(arguments);
        assert!(!run.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&run.stderr).starts_with("photo: "), "{arguments:?}");
    }
}
