//! Machines as hwloc describes them: the XML that `lstopo --of xml` writes, of version 2 and of version 1.
//!
//! The format is that of hwloc's `hwloc2.dtd` and `hwloc.dtd`. Both are a tree of `<object type=...>`, with sets of
//! CPUs and nodes as attributes. In version 2 a NUMANode hangs beside the cores that are near it, in version 1 it
//! contains them; its `cpuset` says the same in both, so the tree's shape is not looked at.

mod bitmap;
mod distances;
mod error;

pub use error::HwlocError;

use bitmap::Bitmap;
use roxmltree::{Document, Node as Element, ParsingOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use zerohop_model::machine::{Allowed, Bytes, Cache, CpuId, Machine, Node, NodeId};

/// Elements and texts in one file; 8192 CPUs with four caches each take a tenth of it.
const NODES_LIMIT: u32 = 4_000_000;

/// The size of a transparent huge page wherever base pages have 4 KiB.
const HUGE_PAGE: u64 = 2 << 20;

/// Reads a machine from the text of hwloc's XML (`lstopo --of xml`, hwloc 1.x or 2.x).
///
/// What the text does not know is filled in so: all memory counts as free; there are no limits by quota or control
/// group; what it does not say to be forbidden is allowed; a machine without NUMA nodes is one node with everything on
/// it. A CPU that several nodes name as near (hwloc counts memory without CPUs of its own to the CPUs next to it)
/// belongs to the one with the lowest number, as Linux has it. `distances` is empty where none between all nodes are
/// told. A huge page is one of 2 MiB, if the machine has such pages at all.
///
/// # Errors
/// [`HwlocError`] for text that is not hwloc's XML, and for objects without the numbers that they need.
///
/// ```
/// let machine = zerohop_topology::from_hwloc_xml(
///     r#"<topology version="2.0">
///          <object type="Machine" cpuset="0x3" allowed_cpuset="0x1">
///            <object type="NUMANode" os_index="0" cpuset="0x3" local_memory="1073741824"/>
///            <object type="PU" os_index="0"/>
///            <object type="PU" os_index="1"/>
///          </object>
///        </topology>"#,
/// )?;
/// assert_eq!(machine.nodes[0].cpus.len(), 2);
/// assert_eq!(machine.allowed.cpus.len(), 1);
/// # Ok::<(), zerohop_topology::HwlocError>(())
/// ```
pub fn from_hwloc_xml(text: &str) -> Result<Machine, HwlocError> {
    // Entities can blow a small file up; hwloc writes none, and no '<' into values.
    if text.contains("<!ENTITY") {
        return Err(HwlocError::Entities);
    }
    // hwloc's files name their DTD; it is not fetched.
    let options = ParsingOptions { allow_dtd: true, nodes_limit: NODES_LIMIT, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(HwlocError::Xml)?;
    let topology = document.root_element();
    if !topology.has_tag_name("topology") {
        return Err(HwlocError::NotATopology(topology.tag_name().name().to_owned()));
    }
    machine(topology)
}

fn machine(topology: Element) -> Result<Machine, HwlocError> {
    let whole = objects(topology).next().ok_or(HwlocError::NoCpus)?;
    let cpus = cpus(topology)?;
    let described = nodes(topology, &cpus)?;
    // The matrix of version 1 is in the order of the text.
    let in_order: Vec<u32> = described.iter().map(|node| node.id.0).collect();
    let (nodes, allowed_nodes) = match described.is_empty() {
        true => (vec![only_node(whole, &cpus)?], vec![NodeId(0)]),
        false => {
            let allowed = set(whole, "allowed_nodeset")?.unwrap_or(Bitmap::ALL);
            let ids = allowed.of(&in_order.iter().copied().collect());
            (with_own_cpus(described), ids.into_iter().map(NodeId).collect())
        }
    };
    let allowed_cpus = set(whole, "allowed_cpuset")?.unwrap_or(Bitmap::ALL).of(&cpus);
    let page_sizes = page_sizes(topology)?;
    Ok(Machine {
        name: info(topology, "HostName").unwrap_or("a machine described by hwloc").to_owned(),
        cpu_model: cpu_model(topology).to_owned(),
        distances: distances::distances(topology, &in_order)?,
        caches: caches(topology, &cpus)?,
        cores: cores(topology, &cpus)?,
        page_size: Bytes(page_sizes.first().copied().unwrap_or(4096)),
        huge_page_size: page_sizes.get(&HUGE_PAGE).copied().map(Bytes),
        allowed: Allowed {
            cpus: allowed_cpus.into_iter().map(CpuId).collect(),
            nodes: allowed_nodes,
            cpu_quota: None,
            memory_limit: None,
            memory_left: None,
        },
        nodes,
    })
}

/// The numbers of all CPUs that are there.
fn cpus(topology: Element) -> Result<BTreeSet<u32>, HwlocError> {
    let units = objects(topology).filter(|object| kind(*object) == "PU");
    let cpus = units.map(|unit| required(unit, "os_index")).collect::<Result<BTreeSet<u32>, _>>()?;
    if cpus.is_empty() { Err(HwlocError::NoCpus) } else { Ok(cpus) }
}

/// All nodes in the order of the text, each with all CPUs that it is near to.
fn nodes(topology: Element, cpus: &BTreeSet<u32>) -> Result<Vec<Node>, HwlocError> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut ids = BTreeSet::new();
    for object in objects(topology).filter(|object| kind(*object) == "NUMANode") {
        let id: u32 = required(object, "os_index")?;
        if !ids.insert(id) {
            return Err(HwlocError::Twice { line: line(object), id });
        }
        let near = set(object, "cpuset")?.ok_or_else(|| missing(object, "cpuset"))?.of(cpus);
        nodes.push(node(NodeId(id), near, number(object, "local_memory")?));
    }
    Ok(nodes)
}

fn only_node(whole: Element, cpus: &BTreeSet<u32>) -> Result<Node, HwlocError> {
    Ok(node(NodeId(0), cpus.iter().copied().collect(), number(whole, "local_memory")?))
}

/// hwloc leaves out a memory size of 0.
fn node(id: NodeId, cpus: Vec<u32>, memory: Option<u64>) -> Node {
    let memory = Bytes(memory.unwrap_or(0));
    Node { id, cpus: cpus.into_iter().map(CpuId).collect(), memory, free: memory }
}

/// The nodes in ascending order, each CPU with one of them.
fn with_own_cpus(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_unstable_by_key(|node| node.id);
    let mut taken = BTreeSet::new();
    for node in &mut nodes {
        node.cpus.retain(|cpu| taken.insert(*cpu));
    }
    nodes
}

/// One entry per level and kind, ascending, as `detect` has them.
fn caches(topology: Element, cpus: &BTreeSet<u32>) -> Result<Vec<Cache>, HwlocError> {
    let mut caches: BTreeMap<(u8, &str), Cache> = BTreeMap::new();
    for object in objects(topology).filter(|object| is_cache(kind(*object))) {
        let sharers = set(object, "cpuset")?.ok_or_else(|| missing(object, "cpuset"))?.of(cpus).len();
        if sharers == 0 {
            continue; // of CPUs that are offline
        }
        let level = required(object, "depth")?;
        let kind = match object.attribute("cache_type") {
            Some("1") => "Data",
            Some("2") => "Instruction",
            _ => "Unified",
        };
        let none = || Cache { level, kind: kind.to_owned(), size: Bytes(0), shared_by: 0, count: 0 };
        let cache = caches.entry((level, kind)).or_insert_with(none);
        cache.size = cache.size.max(Bytes(number(object, "cache_size")?.unwrap_or(0)));
        cache.shared_by = cache.shared_by.max(u32::try_from(sharers).unwrap_or(u32::MAX));
        cache.count += 1;
    }
    Ok(caches.into_values().collect())
}

/// The CPUs of each core; none where not every CPU is in one.
fn cores(topology: Element, cpus: &BTreeSet<u32>) -> Result<Vec<Vec<CpuId>>, HwlocError> {
    let mut cores = BTreeSet::new();
    for object in objects(topology).filter(|object| kind(*object) == "Core") {
        let threads = set(object, "cpuset")?.ok_or_else(|| missing(object, "cpuset"))?.of(cpus);
        cores.insert(threads.into_iter().map(CpuId).collect::<Vec<_>>());
    }
    cores.remove(&Vec::new());
    let are_all = cores.iter().map(Vec::len).sum::<usize>() == cpus.len();
    Ok(if are_all { cores.into_iter().collect() } else { Vec::new() })
}

/// `L3Cache`, `L1iCache` in version 2, `Cache` in version 1; not `MemCache`, which lies before a memory.
fn is_cache(kind: &str) -> bool {
    kind == "Cache" || (kind.starts_with('L') && kind.ends_with("Cache"))
}

fn page_sizes(topology: Element) -> Result<BTreeSet<u64>, HwlocError> {
    let types = topology.descendants().filter(|element| element.has_tag_name("page_type"));
    let sizes = types.filter_map(|element| number(element, "size").transpose());
    Ok(sizes.collect::<Result<BTreeSet<u64>, _>>()?.into_iter().filter(|&size| size > 0).collect())
}

/// The model of the first socket that tells one, else that of the machine.
fn cpu_model<'a>(topology: Element<'a, 'a>) -> &'a str {
    let mut sockets = objects(topology).filter(|object| matches!(kind(*object), "Package" | "Socket"));
    let model = sockets.find_map(|socket| info(socket, "CPUModel"));
    model.or_else(|| info(topology, "CPUModel")).unwrap_or("unknown")
}

/// The value of the first `<info name=NAME value=...>` in `element` that has one.
fn info<'a>(element: Element<'a, 'a>, name: &str) -> Option<&'a str> {
    let infos = element.descendants().filter(|info| info.has_tag_name("info"));
    let mut values = infos.filter(|info| info.attribute("name") == Some(name)).filter_map(|i| i.attribute("value"));
    values.find(|value| !value.is_empty())
}

fn objects<'a>(topology: Element<'a, 'a>) -> impl Iterator<Item = Element<'a, 'a>> {
    topology.descendants().filter(|element| element.has_tag_name("object"))
}

fn kind<'a>(object: Element<'a, 'a>) -> &'a str {
    object.attribute("type").unwrap_or_default()
}

/// An attribute that is a set of CPUs or nodes, if it is there.
fn set(element: Element, attribute: &'static str) -> Result<Option<Bitmap>, HwlocError> {
    let Some(text) = element.attribute(attribute) else { return Ok(None) };
    Bitmap::parse(text).map(Some).ok_or_else(|| wrong(element, attribute, text, "a set such as 0x0000000f,0xffffffff"))
}

/// An attribute that is a number from 0 on, if it is there.
fn number<T: FromStr>(element: Element, attribute: &'static str) -> Result<Option<T>, HwlocError> {
    let Some(text) = element.attribute(attribute) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| wrong(element, attribute, text, "a number in the range that it can have"))
}

fn required<T: FromStr>(element: Element, attribute: &'static str) -> Result<T, HwlocError> {
    number(element, attribute)?.ok_or_else(|| missing(element, attribute))
}

fn missing(element: Element, attribute: &'static str) -> HwlocError {
    let object = element.attribute("type").unwrap_or(element.tag_name().name());
    HwlocError::Missing { line: line(element), object: shortened(object), attribute }
}

fn wrong(element: Element, attribute: &'static str, value: &str, wanted: &'static str) -> HwlocError {
    HwlocError::Value { line: line(element), attribute, value: shortened(value), wanted }
}

/// As much of a text as an error message can carry.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Where an element starts, counted from 1.
fn line(element: Element) -> u32 {
    element.document().text_pos_at(element.range().start).row
}
