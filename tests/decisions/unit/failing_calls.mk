# The calls that tests/decisions/unit/failing_*_test can make fail: see failing_calls.h. Calls that
# deal with offsets in files end in 64, which is the name in the C library on 64-bit machines, too.
# With _FORTIFY_SOURCE, open() and realpath() can become __open64_2 and __realpath_chk.

failing_calls = clone dup2 dup3 epoll_create1 epoll_ctl eventfd fcntl64 fdatasync flock fstat64 \
  fstatat64 fstatfs64 fsync ftruncate64 getcwd getppid getrlimit64 ioctl kill lstat64 mkfifoat \
  open64 __open64_2 openat64 opendir pipe2 poll prctl pread64 pwrite64 read readlinkat realpath \
  __realpath_chk renameat send sendto setenv setsid signalfd sigprocmask stat64 symlinkat sync \
  syncfs syscall unlinkat \
  uv_loop_init uv_poll_init uv_timer_init waitpid write

$(BUILD)/tests/decisions/unit/failing $(BUILD)/tests/decisions/unit/failing_%_test: \
  LDFLAGS += $(patsubst %,-Wl$(comma)--wrap=%,$(failing_calls))
