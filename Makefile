# zerohop: the commands that do everything on a fresh Debian 12 or Ubuntu. Each installs what it misses.

.PHONY: help demo test test-long bench bench-aligners bench-threads build licences install setup site
.PHONY: dist dist-test release-check
.DEFAULT_GOAL := help

help:
	@echo "make demo    build, align real reads to a real genome, show what comes out (in demo-out/)"
	@echo "make test    every kind of check; ONLY=regex chooses steps, ZEROHOP_DATA=folder adds real data"
	@echo "make test-long   every combination, and hours of fuzzing; FUZZ_SECONDS=N for each target"
	@echo "make bench   compare with the strobealign program; BENCH='--help' shows the choices"
	@echo "make bench-aligners   compare all aligners: time, memory, places of reads, variants; BENCH as above"
	@echo "make bench-threads   from one thread to all CPUs, beside strobealign, bwa mem and samtools; BENCH as above"
	@echo "make build   the programs, as target/release/zerohop and zerohop-lab"
	@echo "make licences   the licences of all that is linked into them, as target/release/LICENCES.txt"
	@echo "make install   both, with manual pages and completions, under PREFIX (/usr/local), after 'make licences'"
	@echo "make site    the pages of docs/ as a site, in target/site"
	@echo "make dist    portable programs and packages for x86-64 and aarch64, in target/dist/"
	@echo "make dist-test   tests of them, from what lies there"
	@echo "make release-check   both in a clean clone of the last commit, and what is left to do for a release"

setup:
	@scripts/setup.sh build

build: setup
	@bash -c 'source scripts/env.sh && cargo build --release --locked'

# The texts that go with the programs wherever these go
licences: build
	@bash -c 'source scripts/env.sh && cargo xtask licences > "$$TARGET/licences.new" && \
	    mv "$$TARGET/licences.new" "$$TARGET/release/LICENCES.txt"'

PREFIX ?= /usr/local
install:
	@scripts/install-under.sh "$(DESTDIR)$(PREFIX)"

demo:
	@scripts/setup.sh demo
	@scripts/demo.sh

test:
	@scripts/setup.sh test
	@scripts/test.sh

test-long: dist
	@LONG=1 scripts/setup.sh test
	@scripts/setup.sh dist-test
	@LONG=1 scripts/test.sh

bench:
	@scripts/setup.sh bench
	@bash -c 'source scripts/env.sh && cargo build -q --release --locked -p zerohop-cli -p zerohop-bench --bins && \
	    exec python3 bench/compare.py $(BENCH)'

bench-aligners:
	@scripts/setup.sh test
	@bash -c 'source scripts/env.sh && cargo build -q --release --locked -p zerohop-cli -p zerohop-bench --bins && \
	    exec python3 bench/aligners.py $(BENCH)'

bench-threads:
	@scripts/setup.sh bench
	@bash -c 'source scripts/env.sh && cargo build -q --release --locked -p zerohop-cli -p zerohop-bench --bins && \
	    exec python3 bench/threads.py $(BENCH)'

site:
	@scripts/setup.sh site
	@bash -c 'source scripts/env.sh && mdbook build site'

dist:
	@scripts/setup.sh dist
	@scripts/dist.sh

dist-test: dist
	@scripts/setup.sh dist-test
	@LONG=1 ONLY='^dist/' scripts/test.sh

release-check:
	@scripts/setup.sh dist
	@scripts/release-check.sh
