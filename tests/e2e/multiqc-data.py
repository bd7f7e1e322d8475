"""Compares what MultiQC with the plugin put into runs.report/multiqc_data with the JSON in runs/. later.report is that
of a folder in which one file is of a later version. Runs where these folders are, for 31-multiqc-plugin.sh.
"""
import glob, json

load = lambda name: json.load(open(name))
whole = lambda folder: load(f'{folder}.report/multiqc_data/multiqc_data.json')['report_saved_raw_data']
# the data of a table, or of a chart, whose numbers are words
table = lambda name: load(f'runs.report/multiqc_data/{name}.json')
numbers = lambda row: {k: float(v) for k, v in row.items() if v != 'nan'}
chart = lambda name: {sample: numbers(row) for sample, row in table(name).items()}
runs = {}
for name in glob.glob('runs/*.json'):
    run = load(name)
    if 'figures' in run:
        runs[run['sample'].removesuffix('.fq.gz')] = run
assert {'S100', 'S150', 'ecoli_100_1', 'large'} <= set(runs), set(runs)

figures = whole('runs')['multiqc_zerohop']
assert set(figures) == set(runs), figures
for sample, run in runs.items():
    assert figures[sample] == {k: v for k, v in run['figures'].items() if v is not None}, sample
    assert figures[sample]['reads'] == run['run']['tally']['reads']

# the general statistics: each sample once; of the one without JSON the columns that --mqc wrote
columns = whole('runs')['multiqc_general_stats']
assert set(columns) == {*runs, 'other'}, columns
for sample in runs:
    assert columns[sample] == {f'zerohop-{k}': v for k, v in figures[sample].items()}, columns[sample]
assert all(k.startswith('custom_content_') for k in columns['other'])

reads, sizes = chart('zerohop_reads'), whole('runs')['multiqc_zerohop_insert_sizes']
for sample, run in runs.items():
    tally = run['run']['tally']
    assert list(reads[sample].values()) == [
        tally['properly_paired'], tally['mapped'] - tally['properly_paired'], tally['reads'] - tally['mapped']]
    counts = {size: pairs for size, pairs in enumerate(tally['insert']['counts']) if pairs}
    assert {int(size): pairs for size, pairs in sizes.get(sample, {}).items() if pairs} == counts, sample
assert 'ecoli_100_1' not in sizes and len(sizes) == len(runs) - 1

marked, libraries = chart('zerohop_duplicates'), table('zerohop_libraries')
assert set(marked) == {'S100', 'S150', 'large'}
for sample in marked:
    found = runs[sample]['run']['sorted']['duplicates']
    single, paired = found['single_duplicates'], found['paired_duplicates']
    assert list(marked[sample].values()) == [found['paired'] - paired, found['single'] - single, paired, single]
    library, told = found['libraries'][0], libraries[f'{sample}: L1']
    assert told['Pairs'] == library['pairs'] and told['Duplicate pairs'] == library['pair_duplicates']
    assert told.get('Library size') == library['estimated_size'], told
assert runs['S150']['run']['sorted']['duplicates']['paired_duplicates'] > 0

memory, workers, placement = chart('zerohop_nodes_Memory'), chart('zerohop_nodes_Workers'), table('zerohop_placement')
for sample, run in runs.items():
    pieces = [copy['census'] for copy in run['replicas']]
    pieces += [one[kind] for one in run['run']['instances'] for kind in ('private', 'shared')]
    assert sum(memory[sample].values()) == sum(piece['present'] for piece in pieces) > 0, sample
    on_nodes = [worker['node'] for worker in run['plan']['workers']]
    assert workers[sample] == {f'node {node}': on_nodes.count(node) for node in set(on_nodes)}, sample
large = runs['large']
for number, copy in enumerate(large['replicas']):
    row, census = placement[f'large: copy {number}'], copy['census']
    assert row['Found'] == census['present']
    assert row['As asked for'] == 100 * census['per_node'][0][1] / census['present'], row
    assert row['Huge pages'] == 100 * census['huge'] / census['present']
assert memory['large']['node 1'] == sum(
    size for copy in large['replicas'] for node, size in copy['census']['per_node'] if node == 1)
assert len(memory['large']) == 8 and placement['large: copy 7']['As asked for'] < 100

assert set(whole('later')['multiqc_zerohop']) == {'S150'}
print(f'{len(runs)} samples, as their JSON says')
