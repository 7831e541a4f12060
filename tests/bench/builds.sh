#!/usr/bin/env bash
# What a build costs: a program of one kernel against the same program without it, in a folder of its own.
# Usage: tests/bench/builds.sh     (network or a filled registry cache; takes some minutes)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TERM_COLOR=never CARGO_TARGET_DIR="$work/target"
now() { date +%s.%N; }
# What the build script wrote of its nested compile.
pass() { grep -h "device pass took" "$work"/target/"$1"/build/kernel-*/stderr | tail -1 | sed 's/.*took //'; }
seconds() { local start end; start=$(now); "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; end=$(now); awk "BEGIN {printf \"%.2f s\", $end - $start}"; }

mkdir -p "$work/kernel/src" "$work/plain/src"
cp "$root/examples/saxpy/src/main.rs" "$work/kernel/src/main.rs"
cp "$root/examples/saxpy/build.rs" "$work/kernel/build.rs"
cat >"$work/kernel/Cargo.toml" <<TOML
[package]
name = "kernel"
version = "0.1.0"
edition = "2024"
[dependencies]
relocgpu-runtime = { path = "$root/relocgpu-runtime" }
[build-dependencies]
relocgpu-build = { path = "$root/relocgpu-build" }
[workspace]
TOML
# The same program as a function on the host, with the same dependency: what differs is the image.
sed -e '/#\[gpu_kernel\]/d' -e 's/saxpy::launch(&device, Grid::over(n), 2.5, &x, &mut y)?;/let _ = saxpy;/' "$root/examples/saxpy/src/main.rs" >"$work/plain/src/main.rs"
sed -e 's/name = "kernel"/name = "plain"/' -e '/build-dependencies/,/relocgpu-build/d' "$work/kernel/Cargo.toml" >"$work/plain/Cargo.toml"
cp "$root/Cargo.lock" "$work/kernel/"; cp "$root/Cargo.lock" "$work/plain/"

cd "$work/kernel"
cargo fetch >"$work/log" 2>&1
echo "crates of a program with one kernel: $(cargo tree --prefix none -e normal,build | awk '{print $1, $2}' | sort -u | wc -l) ($(cd ../plain && cargo tree --prefix none -e normal | awk '{print $1, $2}' | sort -u | wc -l) without the build script)"
echo "cargo check, clean:            $(seconds cargo check), of which the device pass $(pass debug)"
echo "cargo check, nothing changed:  $(seconds cargo check)"
sed -i 's/a \* x\[/a * 2.0 * x[/' src/main.rs
echo "cargo check, kernel edited:    $(seconds cargo check), of which the device pass $(pass debug)"
RELOCGPU_KEEP="$work/kept" cargo check >"$work/log" 2>&1
echo "  the device pass when only a setting of ours has changed: $(pass debug)"
echo "cargo build --release, clean:  $(seconds cargo build --release)"
echo "  nothing changed:             $(seconds cargo build --release)"
sed -i 's/a \* 2.0 \* x\[/a * 3.0 * x[/' src/main.rs
echo "  kernel edited:               $(seconds cargo build --release)"
echo "// a comment" >>src/main.rs
echo "  a comment added:             $(seconds cargo build --release)"

cd "$work/plain"
echo "without a kernel:"
echo "  cargo check, clean:          $(CARGO_TARGET_DIR=$work/plain-target seconds cargo check)"
echo "// a comment" >>src/main.rs
echo "  cargo check, edited:         $(CARGO_TARGET_DIR=$work/plain-target seconds cargo check)"
echo "  cargo build --release, clean: $(CARGO_TARGET_DIR=$work/plain-target seconds cargo build --release)"
strip -o "$work/kernel.stripped" "$work/target/release/kernel"
strip -o "$work/plain.stripped" "$work/plain-target/release/plain"
with=$(stat -c %s "$work/kernel.stripped") without=$(stat -c %s "$work/plain.stripped")
echo "stripped release binary: $with bytes, $without without the kernel: $((with - without)) more"
