// What stands in the static program for those parts of libuv that the upgrader does not use:
// whatever needs threads, handlers of signals, processes, files that are watched, or streams. They
// are not compiled. Nothing that comes here has an effect, but for handles that are never made:
// to close one is an error of ours.
#include <stdlib.h>
#include <uv.h>

#include "unix/internal.h"

// There is one thread, and so nothing to be locked.
int uv_mutex_init(uv_mutex_t* mutex) {
  (void)mutex;
  return 0;
}
void uv_mutex_destroy(uv_mutex_t* mutex) {
  (void)mutex;
}
void uv_mutex_lock(uv_mutex_t* mutex) {
  (void)mutex;
}
void uv_mutex_unlock(uv_mutex_t* mutex) {
  (void)mutex;
}
int uv_rwlock_init(uv_rwlock_t* lock) {
  (void)lock;
  return 0;
}
void uv_rwlock_destroy(uv_rwlock_t* lock) {
  (void)lock;
}

// A loop has a handle that watches SIGCHLD for uv_spawn(), which the upgrader does not call: it is
// never started, and in no list of the loop.
void uv__signal_global_once_init(void) {}
int uv_signal_init(uv_loop_t* loop, uv_signal_t* handle) {
  (void)loop;
  (void)handle;
  return 0;
}
void uv__signal_loop_cleanup(uv_loop_t* loop) {
  (void)loop;
}

// What other threads have done: there are none.
void uv__work_done(uv_async_t* handle) {
  (void)handle;
}

// At the end of the program.
void uv__process_title_cleanup(void) {}
void uv__signal_cleanup(void) {}
void uv__threadpool_cleanup(void) {}

#define IS_NEVER_MADE(kind, close) \
  void close(kind* handle) {       \
    (void)handle;                  \
    abort();                       \
  }
IS_NEVER_MADE(uv_fs_event_t, uv__fs_event_close)
IS_NEVER_MADE(uv_fs_poll_t, uv__fs_poll_close)
IS_NEVER_MADE(uv_pipe_t, uv__pipe_close)
IS_NEVER_MADE(uv_process_t, uv__process_close)
IS_NEVER_MADE(uv_signal_t, uv__signal_close)
IS_NEVER_MADE(uv_stream_t, uv__stream_close)
IS_NEVER_MADE(uv_stream_t, uv__stream_destroy)
IS_NEVER_MADE(uv_tcp_t, uv__tcp_close)
IS_NEVER_MADE(uv_udp_t, uv__udp_close)
IS_NEVER_MADE(uv_udp_t, uv__udp_finish_close)
