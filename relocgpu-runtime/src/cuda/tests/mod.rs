//! The back-end on a driver made for these tests (`fake.c`), which runs what is on a stream as late as it may.

mod fake;
mod faults;
mod foreign;
mod life;
mod probe;
mod several;
mod work;
