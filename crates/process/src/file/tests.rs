use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_gets_its_name_when_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("o.json");
    let new = NewFile::create(&path).unwrap();
    new.file().write_all(b"x").unwrap();
    assert!(!path.exists() && new.temporary_path().unwrap().exists());
    new.complete().unwrap();
    assert_eq!((std::fs::read(&path).unwrap(), names(folder.path())), (b"x".to_vec(), vec!["o.json".to_owned()]));
    drop(NewFile::create(&folder.path().join("other")).unwrap());
    assert_eq!(names(folder.path()), ["o.json"], "what is not complete leaves nothing");
}

#[test]
fn links_stay_links_and_replaced_files_keep_their_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("private"), "old").unwrap();
    std::fs::set_permissions(at("private"), PermissionsExt::from_mode(0o600)).unwrap();
    symlink("private", at("link")).unwrap();
    symlink("link", at("link-to-link")).unwrap();
    symlink("nothing-yet", at("dangling")).unwrap();
    write(&at("link-to-link"), b"new").unwrap();
    write(&at("dangling"), b"first").unwrap();
    assert_eq!(names(folder.path()), ["dangling", "link", "link-to-link", "nothing-yet", "private"]);
    assert!(at("dangling").is_symlink() && at("link").is_symlink() && at("link-to-link").is_symlink());
    assert_eq!(std::fs::read(at("private")).unwrap(), b"new");
    assert_eq!(std::fs::metadata(at("private")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn devices_stay_devices() {
    write(Path::new("/dev/null"), b"x").unwrap();
    let there = std::fs::metadata("/dev/null").unwrap();
    assert!(!there.is_file());
    check_writable(Path::new("/dev/null")).unwrap();
}

#[test]
fn what_cannot_be_written_is_found_before_it_is() {
    let folder = tempfile::tempdir().unwrap();
    assert!(check_writable(folder.path()).is_err(), "a folder");
    let missing = check_writable(&folder.path().join("none/o.sam")).unwrap_err();
    assert!(missing.to_string().contains("none/o.sam: cannot write"), "{missing}");
    std::fs::write(folder.path().join("o"), "old").unwrap();
    check_writable(&folder.path().join("o")).unwrap();
    assert_eq!(
        (std::fs::read(folder.path().join("o")).unwrap(), names(folder.path())),
        (b"old".to_vec(), vec!["o".to_owned()])
    );
}

#[test]
fn of_several_files_all_get_their_names_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    for name in ["a", "b", "a.bai"] {
        std::fs::write(at(name), "old").unwrap();
    }
    let create = |name: &&str| {
        let new = NewFile::create(&at(name)).unwrap();
        new.file().write_all(b"new").unwrap();
        new
    };
    let files = ["a", "b", "c", "d"].iter().map(create).collect();
    // A folder that has come since cannot be replaced.
    std::fs::create_dir(at("c")).unwrap();
    let error = complete_instead_of(files, &[at("a.bai")]).unwrap_err();
    assert_eq!((error.path, names(folder.path())), (at("c"), ["a", "a.bai", "b", "c"].map(str::to_owned).to_vec()));
    assert_eq!(["a", "b", "a.bai"].map(text), ["old", "old", "old"], "what was there before");

    let files = ["a", "b", "d"].iter().map(create).collect();
    complete_instead_of(files, &[at("a.bai"), at("a.csi")]).unwrap();
    assert_eq!(names(folder.path()), ["a", "b", "c", "d"]);
    assert_eq!(["a", "b", "d"].map(text), ["new", "new", "new"]);
}

#[test]
fn an_outdated_file_stays_where_the_only_new_one_does_not_get_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let new = NewFile::create(&at("a")).unwrap();
    std::fs::write(at("a.bai"), "old").unwrap();
    std::fs::create_dir(at("a")).unwrap();
    complete_instead_of(vec![new], &[at("a.bai")]).unwrap_err();
    assert_eq!(names(folder.path()), ["a", "a.bai"]);
}

#[test]
fn a_name_may_be_as_long_as_the_file_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [112, 240, 255] {
        let path = folder.path().join("o".repeat(bytes));
        write(&path, b"x").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x");
    }
    let (longer, link) = (folder.path().join("o".repeat(256)), folder.path().join("link"));
    symlink(&longer, &link).unwrap();
    for path in [longer, link] {
        assert_eq!(check_writable(&path).unwrap_err().source.kind(), ErrorKind::InvalidFilename);
    }
    assert_eq!(names(folder.path()).len(), 4);
}

#[test]
fn what_a_killed_run_has_left_is_removed_and_what_a_run_writes_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["o.partial-12-000000034", "o.partial-x", "o.partial-12", "oo.partial-1-2"] {
        std::fs::write(at(name), "").unwrap();
    }
    let one = NewFile::create(&at("o")).unwrap();
    let other = NewFile::create(&at("o")).unwrap();
    assert!(one.temporary_path().unwrap().exists(), "somebody writes it");
    drop((one, other));
    assert_eq!(names(folder.path()), ["o.partial-12", "o.partial-x", "oo.partial-1-2"]);
}
