//! What build scripts of dependencies are compiled against in the device pass: the interface of relocgpu-build, all of
//! which returns at once there. Saves compiling the real one a second time. A test holds the two interfaces equal.

/// Stands in for `relocgpu_build::compile`.
pub fn compile() {
    Builder::new().compile();
}

/// Stands in for `relocgpu_build::Delivery`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Delivery {
    #[default]
    Patch,
    Table,
    Bake,
}

/// Stands in for `relocgpu_build::Builder`.
#[derive(Clone, Debug, Default)]
pub struct Builder(());

#[allow(clippy::return_self_not_must_use, missing_docs)]
impl Builder {
    pub fn new() -> Self {
        Self(())
    }

    pub fn arch(self, _: u32) -> Self {
        self
    }

    pub fn architectures(self, _: impl IntoIterator<Item = u32>) -> Self {
        self
    }

    pub fn cpu_levels<S: Into<String>>(self, _: impl IntoIterator<Item = S>) -> Self {
        self
    }

    pub fn line_info(self, _: bool) -> Self {
        self
    }

    pub fn delivery(self, _: Delivery) -> Self {
        self
    }

    pub fn keep(self, _: impl Into<std::path::PathBuf>) -> Self {
        self
    }

    pub fn cfg(self, _: impl Into<String>) -> Self {
        self
    }

    pub fn compile(self) {
        println!("cargo::rustc-check-cfg=cfg(relocgpu_device)");
        println!("cargo::rustc-env=RELOCGPU_PASS=linked");
    }
}
