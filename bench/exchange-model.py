"""Tables of measured and simulated times: python3 bench/exchange-model.py FOLDER, with results of exchange-model.sh"""
import glob, json, os, re, sys
os.chdir(sys.argv[1])
runs = {}
for path in glob.glob('*-*.predictions.json'):
    name, ranks = re.match(r'(\w+)-(\d+)', path).groups()
    runs[name, int(ranks)] = json.load(open(path))['predictions']
variants = [p['variant'] for p in runs['twin', 2] if 'measured_wall_s' in p]
def here(name, ranks, variant):
    return next((p for p in runs[name, ranks] if p['variant'] == variant and 'measured_wall_s' in p), None)


names = [name for name in ('twin', 'openmpi', 'mpich') if any(n == name for n, _ in runs)]
for name in names:
    sizes = sorted(ranks for n, ranks in runs if n == name)
    print(f'\n### {name}: measured s / simulated s from calls timed over the same ranks (error %)\n')
    print('| variant | ' + ' | '.join(f'{n} ranks' for n in sizes) + ' |\n|---' * (1) + '|---' * len(sizes) + '|')
    for variant in variants:
        cells = []
        for n in sizes:
            p = here(name, n, variant)
            cells.append(f"{p['measured_wall_s']:.3f} / {p['simulated_wall_s']:.3f} ({p['error_percent']:+.0f})" if p
                else 'not run')
        print(f'| {variant} | ' + ' | '.join(cells) + ' |')
    print(f'\n{name}: simulated from calls timed over 2 ranks, against what was measured with more (error %)\n')
    print('| variant | ' + ' | '.join(f'{n} ranks' for n in sizes if n > 2) + ' |\n|---'
        + '|---' * len([n for n in sizes if n > 2]) + '|')
    for variant in variants:
        cells = []
        for n in sizes:
            if n == 2:
                continue
            if not here(name, n, variant):
                cells.append('not run')
                continue
            measured = here(name, n, variant)['measured_wall_s']
            s = [p for p in runs[name, 2] if p['variant'] == variant and 'measured_wall_s' not in p
                and p['ranks'] == n][0]['simulated_wall_s']
            cells.append(f"{100 * (s / measured - 1):+.0f}")
        print(f'| {variant} | ' + ' | '.join(cells) + ' |')
