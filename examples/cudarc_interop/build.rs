fn main() {
    relocgpu_build::compile()
}
