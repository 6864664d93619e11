// Replaces libstdc++'s header of the same name, which needs glibc. Says which functions of the C
// library musl has.
#pragma once

#include <features.h>
#include <pthread.h>

#define __locale_t locale_t

// Declares functions of glibc that libstdc++'s headers mention, since Debian has configured
// libstdc++ for glibc.
extern "C" int pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t,
                                      const struct timespec*);
extern "C" int pthread_mutex_clocklock(pthread_mutex_t*, clockid_t, const struct timespec*);
extern "C" int pthread_rwlock_clockrdlock(pthread_rwlock_t*, clockid_t, const struct timespec*);
extern "C" int pthread_rwlock_clockwrlock(pthread_rwlock_t*, clockid_t, const struct timespec*);
