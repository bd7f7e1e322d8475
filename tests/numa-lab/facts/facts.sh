#!/bin/bash
# cc -O2 -o place place.c; ../numa-lab run --nodes 8 --distances amd6376 --mem 4G --hugepages 8 -- ./facts.sh
# (about 90 s). Runs INSIDE the guest: prints what the kernel did, case by case; place.c must be compiled next to it.
P=${PLACE:-$(dirname "$0")/place}; as="setpriv --reuid=65534 --regid=65534 --clear-groups"
cd /tmp; t() { echo "## $1"; shift; timeout 60 "$@" 2>&1; local r=$?; [ $r = 0 ] || echo "      exit status $r"; }
H=/sys/kernel/mm/transparent_hugepage
echo "kernel $(uname -r), numa_balancing=$(cat /proc/sys/kernel/numa_balancing)" \
    "thp=$(cat $H/enabled) shmem_thp=$(cat $H/shmem_enabled)"
t "first touch, CPU 5"                       $P -c 5
t "numactl --interleave=all"                 numactl --interleave=all $P x
t "numactl --membind=2 (CPU 5)"              numactl --membind=2 $P -c 5 x
t "numactl --cpunodebind=3 --localalloc"     numactl --cpunodebind=3 --localalloc $P x
t "numactl --preferred=6 (CPU 1)"            numactl --preferred=6 $P -c 1
t "numactl --membind=1,4"                    numactl --membind=1,4 $P
t "mbind interleave 0x0f"                    $P -p interleave -n 0f
t "mbind bind node7, from CPU 0, nobody"     $as $P -p bind -n 80 -c 0
t "mbind to absent node 9"                   $P -p bind -n 200
t "bind node 2, more than it has (600M of 500M)"     $P -m 600 -p bind -n 4
t "preferred node 2, more than it has (600M of 500M)" $P -m 600 -p preferred -n 4
t "move_pages anon to node 4"                $P -c 0 -x 4
t "move_pages anon, nobody"                  $as $P -c 0 -x 4
t "THP madvise + interleave"                 $P -H thp -p interleave -n ff
t "THP madvise + bind 6"                     $P -H thp -p bind -n 40
POOLS=/sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages
echo "## hugetlb pool per node: $(cat $POOLS | tr '\n' ' ')"
t "hugetlb, bind node 3, 8 MiB"              $P -m 8 -H hugetlb -p bind -n 8
t "hugetlb, interleave all, 32 MiB"          $P -m 32 -H hugetlb -p interleave -n ff
t "hugetlb, bind node 3, 32 MiB (pool is 8 pages)" $P -m 32 -H hugetlb -p bind -n 8
rm -f /dev/shm/*
t "/dev/shm: A (root) interleaves and touches" $P -f /dev/shm/a -p interleave -n ff
t "/dev/shm: B (nobody, CPU 5) only reads"   $as $P -f /dev/shm/a -c 5 -t r
t "/dev/shm: C (nobody) does not touch, asks move_pages" $as $P -f /dev/shm/a -c 5 -t n
t "/dev/shm: policy set by A, not touched"   $P -f /dev/shm/b -p bind -n 8 -t n
t "/dev/shm: B (nobody, CPU 6) first-touches b" $as $P -f /dev/shm/b -c 6
t "/dev/shm: no policy, nobody on CPU 6 first-touches" $as $P -f /dev/shm/c -c 6
t "/dev/shm: task policy only (numactl --membind=1)" numactl --membind=1 $P -f /dev/shm/d -c 6
t "/dev/shm: mbind MPOL_MF_MOVE on d -> 7 (sole mapper)"   $P -f /dev/shm/d -p bind -n 80 -T -F 2 -t r
t "/dev/shm: nobody mbind MF_MOVE on d -> 5" $as $P -f /dev/shm/d -p bind -n 20 -T -F 2 -t r
t "/dev/shm: nobody MPOL_MF_MOVE_ALL on d"   $as $P -f /dev/shm/d -p bind -n 20 -T -F 4 -t r
$P -f /dev/shm/two -p interleave -n ff -s 25 > /tmp/two & Q=$!
for i in $(seq 50); do [ -s /tmp/two ] && break; sleep 0.2; done
t "/dev/shm: page mapped by two, nobody move_pages -> 4" $as $P -f /dev/shm/two -x 4 -t r
t "/dev/shm: page mapped by two, nobody mbind MF_MOVE|STRICT -> 5" $as $P -f /dev/shm/two -p bind -n 20 -T -F 3 -t r
t "/dev/shm: page mapped by two, root MF_MOVE_ALL -> 5" $P -f /dev/shm/two -p bind -n 20 -T -F 4 -t r
kill $Q
mount -o remount,huge=advise /dev/shm
t "/dev/shm remounted huge=advise, madvise, interleave" $P -f /dev/shm/h -H thp -p interleave -n ff
K=${NUMA_LAB_MODULES:?run it with numa-lab}
for m in loop crc16 mbcache jbd2 libcrc32c crc32c_generic ext4; do
    f=$(find $K/lib/modules -name "$m.ko"); [ -n "$f" ] && busybox insmod $f
done
truncate -s 200M /dev/shm/disk; mke2fs -q -t ext4 -F /dev/shm/disk && mkdir -p /mnt/e &&
    busybox losetup /dev/loop0 /dev/shm/disk && busybox mount -t ext4 /dev/loop0 /mnt/e && df -T /mnt/e | tail -1
t "ext4 file: mbind bind 3, faulted on CPU 6" $P -f /mnt/e/a -p bind -n 8 -c 6
sync; echo 1 > /proc/sys/vm/drop_caches
t "ext4 file: cold cache, read fault on CPU 2, mbind bind 7" $P -f /mnt/e/a -p bind -n 80 -c 2 -t r
sync; echo 1 > /proc/sys/vm/drop_caches
t "ext4 file: cold cache, task policy membind=5 on CPU 2" numactl --membind=5 $P -f /mnt/e/a -c 2 -t r
t "ext4 file: second process, CPU 0, membind=1, warm cache" numactl --membind=1 $P -f /mnt/e/a -c 0 -t r
t "ext4 file: mbind MF_MOVE -> 7 on warm cache" $P -f /mnt/e/a -p bind -n 80 -T -F 2 -t r
t "ext4 file: move_pages -> 4 on warm cache, nobody" $as $P -f /mnt/e/a -x 4 -t r
sync; echo 3 > /proc/sys/vm/drop_caches
t "ext4 file: cold, numactl --interleave=all cat, then look" sh -c \
    "numactl --interleave=all cat /mnt/e/a > /dev/null; $P -f /mnt/e/a -t r"
(sleep 30 & echo $! > /tmp/pid; wait) & sleep 0.5
t "nobody: migratepages of root's process" $as migratepages $(cat /tmp/pid) 0 1
kill $(cat /tmp/pid) 2>/dev/null
echo "## perf in the guest"; perf stat -e instructions,cache-misses true 2>&1 | grep -E 'instr|cache' 
echo "## done after $(cut -d' ' -f1 /proc/uptime) s of guest time"
