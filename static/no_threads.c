/* In the place of libuv's unix/thread.c: the upgrader has one thread, and asks nothing of libuv
 * that would start another. So every lock is free, and nobody is ever waited for. */
#include <stdlib.h>
#include <uv.h>

int uv_mutex_init(uv_mutex_t* lock) {
  (void)lock;
  return 0;
}

int uv_rwlock_init(uv_rwlock_t* lock) {
  (void)lock;
  return 0;
}

void uv_mutex_destroy(uv_mutex_t* lock) {
  (void)lock;
}

void uv_mutex_lock(uv_mutex_t* lock) {
  (void)lock;
}

void uv_mutex_unlock(uv_mutex_t* lock) {
  (void)lock;
}

void uv_rwlock_destroy(uv_rwlock_t* lock) {
  (void)lock;
}

void uv_rwlock_rdlock(uv_rwlock_t* lock) {
  (void)lock;
}

void uv_rwlock_rdunlock(uv_rwlock_t* lock) {
  (void)lock;
}

void uv_rwlock_wrlock(uv_rwlock_t* lock) {
  (void)lock;
}

void uv_rwlock_wrunlock(uv_rwlock_t* lock) {
  (void)lock;
}

void uv_once(uv_once_t* guard, void (*callback)(void)) {
  if (*guard != UV_ONCE_INIT) return;
  *guard = UV_ONCE_INIT + 1;
  callback();
}

/* What libuv's pool of threads would need: it is never made, and so never taken down. */
int uv_thread_join(uv_thread_t* thread) {
  (void)thread;
  abort();
}

void uv_cond_signal(uv_cond_t* cond) {
  (void)cond;
  abort();
}

void uv_cond_destroy(uv_cond_t* cond) {
  (void)cond;
  abort();
}
