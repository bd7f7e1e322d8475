"""Workers that follow the runtime's rules, in simulated time; `balance.py` and `cores.py` share them.

Chunks are claimed in the order of the input. A finished chunk is held by its worker until all chunks before it are
finished, and is then written by that worker. A worker that holds more than HELD_CHUNKS of them, with more bytes than it
may hold, waits until its first one can be written (crates/runtime/src/output.rs: HELD_PER_WORKER,
HELD_BYTES_PER_WORKER). Cutting the input is one worker's at a time. So is writing into a file: the kernel locks it for
each call of write(2) (inode_lock in generic_file_write_iter and ext4_buffered_write_iter of Linux), first come, first
served.
"""
import heapq
from collections import deque
from dataclasses import dataclass, field

HELD_CHUNKS = 8


@dataclass
class Chunk:
    """What one chunk takes of its worker."""
    work: float  # seconds, that nobody else can disturb
    size: float = 0  # bytes of its records
    write: float = 0  # seconds in which its file is locked


@dataclass
class Worker:
    held: deque = field(default_factory=deque)
    held_bytes: float = 0


class Run:
    """A run of all `chunks`; `in_order=False` writes them as they are finished."""

    def __init__(self, chunks, workers, most_bytes=0, cut=0, files=1, in_order=True):
        self.chunks, self.most_bytes, self.cut, self.in_order = chunks, most_bytes, cut, in_order
        self.workers = [Worker() for _ in range(workers)]
        self.waiting = set()  # workers whose first held chunk has no place yet
        self.finished = [False] * len(chunks)
        self.first_open = 0  # the first chunk that is not finished
        self.given = 0
        self.cutter_free = 0.0
        self.file_free = [0.0] * files
        self.events = []
        self.end = 0.0

    def makespan(self):
        """Seconds from the first claim to the last byte."""
        for worker in range(len(self.workers)):
            self.go_on(worker, 0.0)
        while self.events:
            now, worker, made = heapq.heappop(self.events)
            self.end = now
            if made is not None:
                self.finish(worker, made, now)
            self.go_on(worker, now)
        return self.end

    def finish(self, worker, chunk, now):
        self.finished[chunk] = True
        self.workers[worker].held.append(chunk)
        self.workers[worker].held_bytes += self.chunks[chunk].size
        before = self.first_open
        while self.first_open < len(self.chunks) and self.finished[self.first_open]:
            self.first_open += 1
        if self.first_open != before:
            for other in [other for other in self.waiting if self.has_place(self.workers[other])]:
                self.waiting.remove(other)
                heapq.heappush(self.events, (now, other, None))

    def has_place(self, worker):
        return bool(worker.held) and (not self.in_order or worker.held[0] < self.first_open)

    def go_on(self, number, now):
        """What a worker does next: write what has its place, else claim, else wait."""
        worker = self.workers[number]
        while self.has_place(worker):
            chunk = worker.held.popleft()
            worker.held_bytes -= self.chunks[chunk].size
            if self.chunks[chunk].write:
                file = chunk % len(self.file_free)
                self.file_free[file] = max(now, self.file_free[file]) + self.chunks[chunk].write
                return heapq.heappush(self.events, (self.file_free[file], number, None))
        may_claim = len(worker.held) <= HELD_CHUNKS or worker.held_bytes <= self.most_bytes
        if may_claim and self.given < len(self.chunks):
            self.cutter_free = max(now, self.cutter_free) + self.cut
            heapq.heappush(self.events, (self.cutter_free + self.chunks[self.given].work, number, self.given))
            self.given += 1
        elif worker.held:
            self.waiting.add(number)


def efficiency(chunks, workers, **rules):
    """The time of all work and writing over that of all workers."""
    needed = sum(chunk.work + chunk.write for chunk in chunks)
    return needed / (workers * Run(chunks, workers, **rules).makespan())
