"""Makes large.json, tuning.json and map.json: what 'align --json', 'tune' and 'topo --measure --json' would write on a
large machine.

    large-machine.py RUN.json MACHINE.json

RUN.json is a real run, of which the large one is made: a copy per node, a worker per CPU.
"""
import copy, json, sys

run, machine = (json.load(open(name)) for name in sys.argv[1:3])
nodes = machine['nodes']
GIB = 1 << 30
time = lambda seconds: {'secs': int(seconds), 'nanos': int(seconds % 1 * 1e9)}
place = lambda node, pages: {'nodes': [node], 'pages': pages, 'huge_pages': 'auto'}


def worker(i):
    """Maps for 20 s in rounds of 0.5 s, and waits for its turn at the end."""
    steps, step_us = [[0] * 7 for _ in range(126)], 160_000
    for at, step in enumerate(steps):
        busy = step_us - (at * 7 + i * 13) % 11 * 1000
        if at < 2:
            step[0], step[1] = busy // 3, busy - busy // 3
        elif at > 120 - i % 5:
            step[6] = busy
        else:
            write = busy // 8 * ((at + i) % 3 == 0)
            step[0], step[2], step[4], step[5] = busy // 15, busy // 25, busy // 9, write
            step[3] = busy - sum(step)
    sums = [time(sum(step[stage] for step in steps) / 1e6) for stage in range(7)]
    names = ['claim', 'wait_input', 'parse', 'map', 'encode', 'commit', 'wait_output']
    return dict(zip(names, sums), cpus=[i], replica=i // 8, chunks=40, wall=time(20.1),
                timeline={'step_us': step_us, 'steps': steps})


large = copy.deepcopy(run)
large['machine'] = machine
large['plan'] = {
    'replicas': [place(node['id'], 'local') for node in nodes],
    'workers': [{'cpus': [i], 'node': i // 8, 'replica': i // 8} for i in range(64)],
    'helper_cpus': [], 'reasons': ['8 index copies, one per node.', '64 workers, each pinned to a CPU of its own.']}
large['replicas'] = [
    {'placement': place(n, 'local'), 'refused': [],
     'census': {'present': 4 * GIB, 'per_node': [[n, 4 * GIB - n * (GIB >> 4)], [(n + 1) % 8, n * (GIB >> 4)]],
     'huge': 3 * GIB}}
    for n in range(8)]
large['run']['workers'] = [worker(i) for i in range(64)]
large['run']['wall'], large['wall'] = time(20.2), time(26.4)
json.dump(large, open('large.json', 'w'))

choices = [(1, pages, threads) for pages in ('first-touch', 'interleave', 'local-alloc')
    for threads in (8, 16, 32, 48, 64)]
choices += [(copies, pages, threads) for copies in (2, 4, 8) for pages in ('first-touch', 'interleave', 'local-alloc',
    'local')
            for threads in (48, 64)]
slow = {'first-touch': 1.3, 'interleave': 1.0, 'local-alloc': 1.32, 'local': 0.9}
findings, trials = [], []
for copies, pages, threads in choices:
    choice = {'copies': copies, 'threads': threads, 'pages': pages, 'farm': False}
    broken = (copies, pages) == (2, 'first-touch')
    seconds = 999.9 if broken else (4000 / threads ** 0.8 * slow[pages] * (1 - 0.04 * copies)) + 12
    dropped = None if slow[
        pages] <= 1 else 'After round 1 it took 1.31 times as long as the best choice, more than chance explains.'
    findings.append({'choice': choice, 'trials': 0 if broken else 3, 'seconds': None if broken else seconds,
        'against_best': None if broken else seconds / 100,
                     'relative_error': None if broken else 0.012, 'dropped': dropped})
    trials += [{'choice': choice, 'round': n, 'reads': 400_000, 'load_s': 12.0, 'map_s': seconds / 20, 'cpu_s': 99.0,
                'broken_off': broken} for n in (1, 2, 3)]
findings.sort(key=lambda finding: finding['seconds'] or 9999)
tuning = {
    'schema_version': 1, 'version': '0.1.0', 'command': 'zerohop tune ref.fa reads_1.fq.gz reads_2.fq.gz',
    'engine': ['bwa', '0.7.17'],
    'inputs': ['reads_1.fq.gz', 'reads_2.fq.gz'], 'machine': machine, 'index': 5 * GIB, 'reads': 8_000_000,
    'full': False,
    'trials': trials, 'findings': findings,
    'sure': 'The best was faster than the second in 3 of 3 rounds, by 4 % in the median.',
    'took_s': 812.0, 'plan': large['plan']}
json.dump(tuning, open('tuning.json', 'w'))

matrix = lambda of: [[of(distance) for distance in row] for row in machine['distances']]
reading = lambda factor: {'latency_ns': matrix(lambda d: d * 9.4 * factor),
    'bandwidth_gb_s': matrix(lambda d: 130 / d * factor)}
contention = [{'memory': 'own', 'latency_ns': 171.5, 'bandwidth_gb_s': 102.4},
              {'memory': {'one': 0}, 'latency_ns': 1234.5, 'bandwidth_gb_s': 9.7},
              {'memory': 'spread', 'latency_ns': 301.2, 'bandwidth_gb_s': 64.0}]
json.dump({'machine': machine, 'map': {
    'measured_at': 1_795_000_000, 'buffer': GIB, 'page_size': 4096, 'on_huge_pages': 0.97,
    'sources': [{'node': node['id'], 'cpus': 8} for node in nodes], 'targets': [node['id'] for node in nodes],
    'one_thread': reading(1), 'all_threads': reading(1.7), 'contention': contention,
    'notes': ['A thread of node 3 could not be pinned.']}}, open('map.json', 'w'))
