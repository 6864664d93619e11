/* The times that the agents of the benchmark record. All agents map the same page and write their
 * times into it, so that recording a time takes no system call. C and C++ programs include this
 * file. */
#ifndef TESTS_BENCHMARK_STAMPS_H
#define TESTS_BENCHMARK_STAMPS_H

#include <stdint.h>

enum stamp_kind { stamp_none, stamp_started, stamp_activated, stamp_last_tick, stamp_exiting };

struct stamp {
  int64_t time_ns;     /* CLOCK_MONOTONIC */
  uint32_t generation; /* counts the agents that use the page, from 1 */
  uint32_t kind;       /* an enum stamp_kind; written after the other members */
};

/* The number of stamps. All of them fit into one page, so that no stamp costs a page fault. */
enum { stamps_max = 255 };

struct stamp_page {
  uint32_t agents; /* the number of agents that have been started */
  uint32_t used;   /* the number of entries of `all` that are used */
  uint64_t unused;
  struct stamp all[stamps_max];
};

/* The names of environment variables, which are the agent's settings:
 * STAMP_PAGE: the path of the page.
 * STAMP_ALONE: whether the agent runs without an upgrader.
 * STAMP_HANDOVERS: the number of times that the agent is replaced.
 * STAMP_START_MS: the time that each agent except the first takes to start, in milliseconds.
 * STAMP_WORK_MS: the time that each agent works before it is replaced, in milliseconds.
 * STAMP_TICKS: whether the agent works without a pause until it is told to stop.
 * STAMP_FAIL_MS: the time after which every second agent fails on its trial, in milliseconds. The
 * next agent is then a fallback, and requests the next upgrade.
 * STAMP_STAYS: whether the last agent keeps running until it is told to exit.
 * STAMP_READY_FD: the descriptor to which the agent writes a newline when it works. */
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
