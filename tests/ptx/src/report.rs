//! What `relocgpu inspect --json` says of a program, held against its schema.

use serde_json::Value;

/// Checks the report on a program of the package `name` that has one image, at least so many kernels and records.
///
/// # Errors
/// The first thing that is not as the schema says.
pub fn check(report: &str, name: &str, kernels: usize, records: usize) -> Result<(), String> {
    let report: Value = serde_json::from_str(report).map_err(|error| error.to_string())?;
    let [image] = &list(&report, "images")?[..] else { return Err(format!("not one image: {report}")) };
    expect(text(image, "name")? == format!("{name}-{name}"), "name", image)?;
    let hash = text(image, "hash")?;
    expect(hash.len() == 64 && hash.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')), "hash", image)?;
    expect(list(image, "architectures")?[..] == ["sm_75"], "architectures", image)?;

    let found = list(image, "kernels")?;
    expect(found.len() >= kernels && sorted(found, |kernel| text(kernel, "name"))?, "kernels", image)?;
    for param in found.iter().map(|kernel| list(kernel, "params")).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        text(param, "name")?;
        text(param, "type")?;
        let (size, align) = (number(param, "size")?, number(param, "align")?);
        expect(align.is_power_of_two() && size % align == 0, "size and align", param)?;
    }

    let found = list(image, "records")?;
    expect(found.len() >= records && sorted(found, |record| Ok((text(record, "name")?, number(record, "offset")?)))?, "records", image)?;
    for record in found {
        let offset = number(record, "offset")?;
        expect(matches!((text(record, "kind")?, offset), ("slot", 0) | ("interior", _)), "kind and offset", record)?;
        expect(["expr", "address", "load", "bound"].contains(&text(&record["target"], "kind")?), "target", record)?;
        let mut place = text(record, "source")?.rsplitn(3, ':');
        let [column, line, file] = [place.next(), place.next(), place.next()].map(Option::unwrap_or_default);
        let counts = |number: &str| number.parse().is_ok_and(|number: u32| number > 0);
        expect(counts(column) && counts(line) && file.ends_with(".rs"), "source", record)?;
    }
    Ok(())
}

fn expect(holds: bool, what: &str, of: &Value) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what} of {of:#}")) }
}

fn list<'a>(of: &'a Value, field: &str) -> Result<&'a Vec<Value>, String> {
    of[field].as_array().ok_or_else(|| format!("no list `{field}` in {of:#}"))
}

fn text<'a>(of: &'a Value, field: &str) -> Result<&'a str, String> {
    of[field].as_str().ok_or_else(|| format!("no text `{field}` in {of:#}"))
}

fn number(of: &Value, field: &str) -> Result<u64, String> {
    of[field].as_u64().ok_or_else(|| format!("no number `{field}` in {of:#}"))
}

fn sorted<'a, K: PartialOrd>(values: &'a [Value], key: impl Fn(&'a Value) -> Result<K, String>) -> Result<bool, String> {
    Ok(values.iter().map(key).collect::<Result<Vec<_>, _>>()?.is_sorted())
}
