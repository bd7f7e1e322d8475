//! A read group line is refused, or becomes exactly one line of a header, from which the same read group is read again.
#![cfg_attr(fuzzing, no_main)]

use zerohop_output::{Header, ReadGroup};

zerohop_fuzz::target!(|data: &[u8]| {
    let Ok(line) = str::from_utf8(data) else { return };
    let Ok(group) = ReadGroup::parse(line) else { return };
    // It goes into the records too, as an optional field: SAMv1, section 1.5.
    assert!(group.id.bytes().all(|b| (b' '..=b'~').contains(&b)), "an ID that no record can hold: {:?}", group.id);
    assert!(!group.fields.iter().any(|field| field.contains(|c: char| c.is_ascii_control())), "{:?}", group.fields);
    let text = Header { read_groups: vec![group.clone()], ..Header::default() }.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "not one line: {text:?}");
    assert_eq!(ReadGroup::parse(lines[1]), Ok(group));
});
