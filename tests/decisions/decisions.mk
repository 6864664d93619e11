# The targets and lists for the tests of decisions: the exploration of all states, the model for the
# model checker spin, and the system calls that unit tests make fail.

# make explore: tries every event in every state of the supervisor, compares each step with the
# second table (an independent second description of the supervisor, in
# tests/decisions/explore/second_*), and prints result lines.

.PHONY: explore
explore_tests := $(addprefix $(BUILD)/tests/decisions/explore/,explore_test second_table_test)
explore:
	@tests/need-packages $(build_packages) catch2
	@$(MAKE) $(jobs) --no-print-directory $(explore_tests)
	@status=0; for test in $(explore_tests); do \
	  WHOLE=1 $$test '~[.],[walk]' >$$test.out || { cat $$test.out; status=1; }; \
	  grep -E '^(report|result|canary): ' $$test.out; done; exit $$status

# make model: checks a model of the upgrader, its agents, its lock and init with the model checker
# spin. `make check` does less: it only compares the names of the phases in the model with those in
# the supervisor.

model_packages = spin gcc

.PHONY: model
model:
	@tests/need-packages $(model_packages) || { \
	  echo 'result: V3 | make model | spin is not to be had | 0 errors | not met: no spin'; \
	  exit 1; }
	@tests/decisions/model/run

unit_tests += $(BUILD)/tests/decisions/model/phase_names_test

# The system calls and functions that the tests tests/decisions/unit/failing_*_test can make fail:
# see failing_calls.h. Each name is the name of a symbol in object files. The symbols of functions
# with file offsets end in 64, even on 64-bit machines. If _FORTIFY_SOURCE is set, the compiler may
# call `__open64_2` and `__realpath_chk` instead of open() and realpath().

failing_calls = clone dup2 dup3 epoll_create1 epoll_ctl eventfd fcntl64 fdatasync flock fstat64 \
  fstatat64 fstatfs64 fsync ftruncate64 getcwd getppid getrlimit64 ioctl kill lstat64 mkfifoat \
  open64 __open64_2 openat64 opendir pipe2 poll prctl pread64 pwrite64 read readlinkat realpath \
  __realpath_chk renameat send sendto setenv setsid signalfd sigprocmask stat64 symlinkat sync \
  syncfs syscall unlinkat \
  uv_loop_init uv_poll_init uv_timer_init waitpid write

$(BUILD)/tests/decisions/unit/failing $(BUILD)/tests/decisions/unit/failing_%_test: \
  LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,$(failing_calls))
