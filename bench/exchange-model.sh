#!/bin/bash
# What the model of the exchange predicts, and what is measured: bench/exchange-model.sh FOLDER, where the results go.
# ZEROHOP_LAB: the program zerohop-lab; LIBS: a folder with openmpi.so and mpich.so ('zerohop mpi --compiler
# mpicc.NAME -o NAME.so'). Ten minutes. It ends at the first run that fails.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
: "${1:?name a folder for the results}" "${ZEROHOP_LAB:?name the program zerohop-lab}"
: "${LIBS:?name a folder with openmpi.so and mpich.so}"
lab=$(realpath -e "$ZEROHOP_LAB") libs=$(realpath -e "$LIBS")
mkdir -p "$1"
cd "$1"
# those of an earlier run would stand in the tables, too
[ -z "$(ls -A)" ] || { echo "$1 is not empty: name another folder for the results" >&2; exit 1; }
cores=$(nproc)
work=(--queries 50 --hits 5 --search-ms 20 --batches 40 --repeats 3)
sizes=(--predict 2,4,8,16,32 --predict-cores "$cores")
for n in 2 4 8 16 32; do
    # 32 windows of 32 MiB for each of two channels were too much for 24 GB of memory
    variants=(); [ $n = 32 ] && variants=(--variants fence,pscw,flush,two-sided,master)
    timeout -k 5 120 "$lab" exchange --threads $n "${work[@]}" "${sizes[@]}" ${variants[@]+"${variants[@]}"} \
        -o twin-$n.jsonl --predictions twin-$n.predictions.json > twin-$n.txt
done
for n in 2 4 8; do
    timeout -k 5 150 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n $n "$lab" exchange \
        --ranks --mpi "$libs/openmpi.so" \
        "${work[@]}" "${sizes[@]}" -o openmpi-$n.jsonl --predictions openmpi-$n.predictions.json > openmpi-$n.txt \
        < /dev/null
    # one-sided calls of 8 ranks of MPICH on 2 cores, each spinning while it waits, did not end within 250 s
    variants=(); [ $n = 8 ] && [ "$cores" -lt 8 ] && variants=(--variants two-sided,master)
    timeout -k 5 150 mpirun.mpich -n $n "$lab" exchange --ranks --mpi "$libs/mpich.so" \
        "${work[@]}" "${sizes[@]}" ${variants[@]+"${variants[@]}"} -o mpich-$n.jsonl \
        --predictions mpich-$n.predictions.json > mpich-$n.txt < /dev/null
done
# Many ranks, each with a core of its own: there is nothing to compare them with
timeout -k 5 120 mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 2 "$lab" exchange \
    --ranks --mpi "$libs/openmpi.so" "${work[@]}" \
    --predict 8,32,128,1024 -o many.jsonl --predictions many.predictions.json > many.txt < /dev/null
# A recorded search of diamond, forty times faster
for n in 4 32; do
    timeout -k 5 120 "$lab" exchange --replay "$here/tests/data/protein/ecoli-2ranks.recording.json" \
        --speed 40 --threads $n --variants two-sided,flush,fence --repeats 1 --predict 128 \
        -o replay-$n.jsonl --predictions replay-$n.predictions.json > replay-$n.txt
done
python3 "$here/bench/exchange-model.py" . > tables.md
