/* The times that agents of the benchmark note, in one page that all of them map, so that a note
 * takes no system call. Read by C and by C++. */
#ifndef TESTS_BENCHMARK_STAMPS_H
#define TESTS_BENCHMARK_STAMPS_H

#include <stdint.h>

enum stamp_kind { stamp_none, stamp_started, stamp_activated, stamp_last_tick, stamp_exiting };

struct stamp {
  int64_t time_ns;     /* CLOCK_MONOTONIC */
  uint32_t generation; /* counted from 1, one more for each agent that uses the page */
  uint32_t kind;       /* an enum stamp_kind; written last */
};

/* The number of stamps, as many as one page holds, so that no note costs a page fault. */
enum { stamps_max = 255 };

struct stamp_page {
  uint32_t agents; /* that have been started */
  uint32_t used;   /* entries of `all` */
  uint64_t unused;
  struct stamp all[stamps_max];
};

/* Names of the agent's settings in its environment: the path of the page; whether the agent runs
 * without an upgrader; how many times it is replaced; the milliseconds that it takes to start, and
 * that it works before it is replaced; whether it works without a pause until it is told to stop;
 * the milliseconds after which every second agent fails on its trial, so that the next is a
 * fallback and requests the next upgrade; whether the last agent stays until it is told to end; the
 * descriptor on which it writes a newline when it works. */
#define STAMP_PAGE "STAMP_PAGE"
#define STAMP_ALONE "STAMP_ALONE"
#define STAMP_HANDOVERS "STAMP_HANDOVERS"
#define STAMP_START_MS "STAMP_START_MS"
#define STAMP_WORK_MS "STAMP_WORK_MS"
#define STAMP_TICKS "STAMP_TICKS"
#define STAMP_FAIL_MS "STAMP_FAIL_MS"
#define STAMP_STAYS "STAMP_STAYS"
#define STAMP_READY_FD "STAMP_READY_FD"

#endif
