# What tests/unit/failing_*_test can let fail: see failing_calls.h.

failing_calls = clone dup2 dup3 epoll_create1 epoll_ctl eventfd faccessat fcntl flock fstat \
  fstatat fsync ftruncate getcwd getppid getrlimit ioctl kill open opendir pipe2 \
  poll prctl pread pwrite read readlinkat realpath send setenv setsid signalfd sigprocmask stat \
  symlinkat sync syncfs syscall unlinkat \
  uv_idle_init uv_loop_init uv_poll_init uv_timer_init waitpid write

$(BUILD)/tests/unit/failing_%_test: LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,$(failing_calls))
