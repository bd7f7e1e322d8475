#!/bin/bash
# zerohop report: runs, a tuning and a memory map on one page, and zerohop-lab report: these and points of the
# laboratory; in words, on a wide and a narrow screen and on paper. PART=REGEX chooses parts; with KEEP=FOLDER the pages
# and their pictures are left there.
source "$(dirname "$0")/lib.sh"
cd "$WORK"
reference=$DATA/ecoli/GCF_000005845.2_ASM584v2_genomic.fna.gz reads=("$DATA"/ecoli/ecoli_100_{1,2}.fq.gz)

# real results, and results as a machine with 8 nodes and 64 CPUs would leave them
results() {
    zerohop align -q -t 2 -o 2.bam --json 2.json "$reference" "${reads[@]}"
    zerohop align -q -t 1 -o 1.bam --json 1.json "$reference" "${reads[@]}"
    gzip -cd "$DATA/ecoli/ecoli_150_1.fq.gz" | head -n 4000 > 1.fq || true
    zerohop_lab scaling -o bench --fragments 300 --threads 1,2 --inputs B,survey --locks futex --outputs ordered \
        --repeats 1 1.fq > /dev/null
    local sheet='sample,fastq_1,fastq_2' name
    for name in S10 S2 S1; do
        cp "${reads[0]}" "${name}_1.fq.gz"; cp "${reads[1]}" "${name}_2.fq.gz"
        sheet+=$'\n'"$name,${name}_1.fq.gz,${name}_2.fq.gz"
    done
    echo "$sheet" > sheet.csv
    zerohop align -q -t 2 --sort --mark-duplicates=samtools --qc --samples sheet.csv --output-dir samples "$reference"
    if command -v bwa > /dev/null; then
        gzip -cd "$reference" > ref.fa
        zerohop align -q --engine bwa --build-index --replicas 1 -t 2 -o bwa.bam --json bwa.json ref.fa "${reads[@]}"
    else
        echo "no bwa: external aligners not tried"
    fi
    python3 "$(dirname "$DATA")/e2e/large-machine.py" 2.json "$DATA/../../docs/machines/amd-opteron-6376.json"
}

page() {
    local runs=(2.json 1.json $(ls bwa.json 2>/dev/null) large.json tuning.json map.json) program
    zerohop report -o page.html --title 'Title <&>' "${runs[@]}"
    zerohop_lab report -o lab.html --title 'Title <&>' "${runs[@]}" bench
    for program in zerohop zerohop_lab; do
        $program report 2.json > one.html
        grep -q '</html>' one.html && [ "$(ls -A | grep -c partial)" = 0 ] ||
            fail "$program: standard output, or a partial file"
    done
    python3 - <<'PYTHON'
import json, os, re
from html.parser import HTMLParser
class Check(HTMLParser):
    void = {'meta', 'br', 'link', 'img', 'input', 'hr'}
    def __init__(self):
        super().__init__()
        self.stack, self.outside = [], []
    def handle_starttag(self, tag, attributes):
        if tag not in self.void: self.stack.append(tag)
        assert tag not in ('script', 'link', 'img', 'iframe'), tag
        self.outside += [v for k, v in attributes if k in ('src', 'href') and not v.startswith('#')]
    def handle_startendtag(self, tag, attributes): pass
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, (tag, self.getpos())
whole, text = (open(name).read() for name in ('lab.html', 'page.html'))
for page in (whole, text):
    check = Check(); check.feed(page)
    assert not check.stack and not check.outside, (check.stack, check.outside)
    for unwanted in ['url(', '@import', 'NaN']: assert unwanted not in page, unwanted
    assert '<title>Title &lt;&amp;&gt;</title>' in page
# the laboratory's page is that of zerohop, and more
body, note = text[text.index('<h2'):].split('<p class="note">Made by')
assert body in whole and note in whole
for of_laboratory in ['Thread scaling', 'What was measured']:
    assert of_laboratory in whole and of_laboratory not in text, of_laboratory
for wanted in ['Tuning', 'Part A', 'Part B', 'Speed-up over the best', 'What was found', 'Each run', 'The plan',
               'Runs compared', 'Where the time of all workers went', 'What the workers did when',
               'Where the memory lay', 'Distances between nodes',
               'Nanoseconds per load', 'GB/s', 'All CPUs of all nodes at once',
               'node 7 (8 workers)', '8 workers read copy 3']:
    assert wanted in text, wanted
run, tuning, measured = (json.load(open(name)) for name in ('2.json', 'tuning.json', 'map.json'))
seconds = lambda time: time['secs'] + time['nanos'] / 1e9
tally = run['run']['tally']
assert f"{tally['reads']:,} in, {tally['primary_records']:,} accounted for" in text
assert f"{sum(seconds(w['map']) for w in run['run']['workers']):.3f}" in text
assert f"<td>{seconds(run['wall']):.3f}</td>" in text
for finding in tuning['findings']: assert not finding['trials'] or f"<td>{finding['seconds']:.3f}</td>" in text
for kind in ('latency_ns', 'bandwidth_gb_s'):
    for row in measured['map']['one_thread'][kind]:
        for value in row: assert f'>{value:.1f}</td>' in text, value
points = [json.loads(line) for line in open('bench/points.jsonl')]
assert any(f"{p['slowest_s']:.3f} (" in whole for p in points if p['repetition'] == 1)
if os.path.exists('bwa.json'):
    assert 'is the feeding of that program' in text and 'instance 0, its own' in text
PYTHON
}

# samples: a folder of them, with one that stands out, and a file of another kind
samples() {
    python3 - <<'PYTHON'
import json
run = json.load(open('samples/S1.json'))
assert run['samples'] == 3 and run['finished'] > 1_700_000_000, (run['samples'], run['finished'])
run['sample'] = 'S3'
json.dump(run, open('samples/S3.json', 'w'))
run['sample'] = 'S<4>'
run['run']['tally']['mapped'] //= 2
json.dump(run, open('samples/S4.json', 'w'))
PYTHON
    echo '{"a": 1}' > samples/other.json
    zerohop report -o samples.html samples
    grep -q 'samples/other.json is no run of .zerohop align., and was left out' zerohop.stderr || fail "no note"
    ! grep -q _mqc zerohop.stderr || fail "nobody has named the files for MultiQC: $(cat zerohop.stderr)"
    python3 - <<'PYTHON'
import re
page = open('samples.html').read()
table = re.search('<table class="samples">.*?</table>', page, re.S).group()
names = re.findall('<a href="#(run-[0-9]+)">([^<]*)</a>', table)
assert [name for _, name in names] == ['S1', 'S2', 'S3', 'S10', 'S&lt;4&gt;'], names
assert all(f'<h3 id="{anchor}">{name} (' in page for anchor, name in names)
marked = re.findall('class="outlier" title="([^"]*)"', table)
assert len(marked) == 1 and marked[0].startswith('mapped %: ') and 'below the median' in marked[0], marked
scripts = re.findall('<script[^>]*>', page)
assert scripts == ['<script>'] and 'eval' not in page and 'NaN' not in page, scripts
assert page.count('of the process so far, in a run of 3 samples') >= 5
assert '>finished</th>' in table
assert page.index('What was sequenced') < page.index('How the program ran')
assert page.count('<svg') == page.count('role="img"') == len(re.findall('<svg[^>]*><title>|<svg[^>]*>\n<title>', page))
PYTHON
    mkdir empty
    refused "empty: no run of 'zerohop align' is in it; expected: a folder with NAME.json" 1 empty
    damaged_sample
    many_samples
}

# a damaged file in a folder is an error, as it is by itself
damaged_sample() {
    mkdir damaged; cp samples/*.json damaged
    head -c 3000 samples/S2.json > damaged/S2.json
    refused "damaged/S2.json: it is not JSON" 1 damaged
    printf '{"sample": "\377"}' > damaged/S2.json
    refused "damaged/S2.json: cannot read" 1 damaged
}

# more runs than a page shows one by one
many_samples() {
    local number
    mkdir many
    for number in $(seq 51); do
        sed 's/"sample": "S1"/"sample": "M'"$number"'"/' samples/S1.json > "many/M$number.json"
    done
    zerohop report -o many.html many
    grep -q 'These are 51 runs' many.html && grep -q 'M51 (many/M51.json)' many.html || fail "not all in the table"
    ! grep -q 'What was sequenced' many.html || fail "each of 51 runs is shown"
}

# refused WORDS STATUS ARGUMENTS: an error that says so, and no page
refused() {
    local words=$1 status=$2 rc=0; shift 2
    "$ZEROHOP" report -o refused.html "$@" > /dev/null 2> stderr || rc=$?
    [ $rc = "$status" ] && grep -qF -- "$words" stderr || fail "$rc instead of $status for $*: $(cat stderr)"
    [ ! -e refused.html ] && [ "$(ls -A | grep -c partial)" = 0 ] || fail "a page of $*"
}

faults() {
    echo '{"a": 1}' > other.json
    refused "other.json: it is JSON, but of another kind; expected: what 'zerohop align --json'" 1 2.json other.json
    refused "1.fq: it is not JSON" 1 1.fq
    refused "nowhere.json: cannot read" 1 nowhere.json
    head -c 3000 2.json > torn.json
    refused "torn.json: it is not JSON" 1 torn.json
    sed 's/"schema_version": 1/"schema_version": 7/' 2.json > later.json
    refused "it is version 7 of this form" 1 later.json
    { cat bench/points.jsonl; echo what; } > points.jsonl
    refused "bench/points.jsonl: zerohop-lab wrote it, and 'zerohop-lab report' shows it" 1 2.json bench
    refused "required" 2
    ZEROHOP=$ZEROHOP_LAB refused "is no point" 1 points.jsonl
    ZEROHOP=$ZEROHOP_LAB refused "other.json: it is JSON, but of another kind; expected: what" 1 2.json other.json
    cp 2.json keep.json
    local rc=0; "$ZEROHOP" report -o ./keep.json keep.json 2> stderr || rc=$?
    [ $rc = 2 ] && cmp -s 2.json keep.json && grep -q "is an input and cannot be the output too" stderr ||
        fail "an input: $rc $(cat stderr)"
    rc=0; "$ZEROHOP" report -o nowhere/page.html 2.json 2> stderr || rc=$?
    [ $rc = 1 ] && grep -q "nowhere/page.html: cannot write" stderr || fail "no folder: $rc $(cat stderr)"
}

# Without a screen it hangs now and then; then it is started again.
chromium_() {
    local try rc
    for try in 1 2 3; do
        rc=0
        timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
            --user-data-dir="$WORK/profile.$try" "$@" 2> chromium.txt || rc=$?
        [ $rc = 124 ] || [ $rc = 137 ] || break
    done
    [ $rc = 0 ] || { cat chromium.txt >&2; fail "chromium $*"; }
}

# The page in a browser: nothing is wider than the screen; the pictures are not empty.
browser() {
    command -v chromium > /dev/null ||
        { skip_part "no Chromium (scripts/setup.sh test installs it)"; return 0; }
    local width
    # Chromium's window is never narrower than 500 pixels: a frame is.
    for width in 1200 390; do
        cat > frame.html <<END_OF_FRAME
<body style="margin:0"><iframe id="f" src="lab.html" style="border:0;width:${width}px;height:2400px"></iframe><script>
document.getElementById('f').onload = function () {
    const page = this.contentDocument.documentElement, wide = [];
    for (const box of page.querySelectorAll('body *')) {
        if (box.closest('.wide, figure')?.contains(box) && !box.matches('.wide, figure')) continue;
        if (box.getBoundingClientRect().right > $width + 1) wide.push(box.tagName + '.' + box.className);
    }
    const is_wide = page.scrollWidth > $width || wide.length;
    document.title = is_wide ? 'TOO WIDE ' + page.scrollWidth + ' ' + wide.slice(0, 5) : 'FITS';
};</script>
END_OF_FRAME
        chromium_ --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom "file://$WORK/frame.html" > \
            dom.txt
        grep -q '<title>FITS</title>' dom.txt || fail "at $width pixels: $(grep -o '<title>.*</title>' dom.txt)"
        chromium_ --allow-file-access-from-files --window-size=$((width < 500 ? 500 : width)),2400 \
            --screenshot="$WORK/$width.png" "file://$WORK/frame.html"
        [ "$(stat -c %s "$width.png")" -gt 40000 ] || fail "the picture at $width pixels is empty"
    done
    # a header that is pressed sorts the samples, and pressed again the other way round
    cat > sorted.html <<'END_OF_FRAME'
<body><iframe id="f" src="samples.html"></iframe><script>
document.getElementById('f').onload = function () {
    const table = this.contentDocument.querySelector('table.samples'), orders = [];
    const press = (column) => {
        table.tHead.rows[0].cells[column].querySelector('button').click();
        const sorted = table.querySelector('[aria-sort]');
        orders.push(sorted.cellIndex + sorted.getAttribute('aria-sort') + ':' +
            [...table.tBodies[0].rows].map((row) => row.cells[0].textContent.trim()).join(' '));
    };
    press(0); press(3); press(3); press(0);
    document.title = orders.join('; ');
};</script>
END_OF_FRAME
    chromium_ --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom "file://$WORK/sorted.html" > dom.txt
    python3 - <<'PYTHON'
import html, re
orders = html.unescape(re.search('<title>(.*?)</title>', open('dom.txt').read()).group(1)).split('; ')
assert orders == ['0descending:S<4> S10 S3 S2 S1', '3ascending:S<4> S10 S3 S2 S1',
                  '3descending:S10 S3 S2 S1 S<4>', '0ascending:S1 S2 S3 S10 S<4>'], orders
PYTHON
    chromium_ --no-pdf-header-footer --print-to-pdf="$WORK/page.pdf" "file://$WORK/lab.html"
    [ "$(stat -c %s page.pdf)" -gt 60000 ] || fail "the paper is empty"
}

keep() {
    if [ -n "${KEEP-}" ]; then
        mkdir -p "$KEEP"; cp ./*.html ./*.json bench/points.jsonl "$KEEP"; cp ./*.png ./*.pdf "$KEEP" 2>/dev/null ||
            true
    fi
}

at_exit 'keep; rm -rf "$WORK"'
results
for part in page samples faults browser; do
    [[ $part =~ ${PART-} ]] || continue
    $part
    echo "$part: as it should be"
done
