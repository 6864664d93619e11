/* What an agent calls: the C interface of libagent-protocol. See agent_protocol(3).
 *
 * An agent opens the conversation first of all, prepares what it needs, says ready, and then takes
 * events. Where there is no upgrader the same calls work and lead the program through the same
 * story, alone: after ready comes activate, SIGTERM comes as stop, a request for an upgrade is
 * refused, and everything else does nothing and succeeds.
 *
 * No function throws (where memory has run out the process ends), blocks without saying so, or
 * writes to standard output. A handle belongs to one thread at a time. Functions that return int
 * return 0, or -1 with errno, and with agent_protocol_error() telling the deed and the reason;
 * nothing has been sent then, but for what agent_protocol_ready() says of a check. Texts are UTF-8:
 * one that is not (EILSEQ), is too long (EMSGSIZE) or holds a NUL that its length says is part of
 * it (EINVAL) is refused, never cut or changed. What the upgrader's pipe does not take at once is
 * kept, within limits, and sent by agent_protocol_next() and agent_protocol_wait(), so call one of
 * them whenever the descriptor is readable. */
#ifndef AGENT_PROTOCOL_H
#define AGENT_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AGENT_PROTOCOL_API __attribute__((visibility("default")))
#else
#define AGENT_PROTOCOL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The handle: an agent's end of the conversation. */
typedef struct agent_protocol_agent agent_protocol_agent;

/* What has happened. Numbers are never reused. */
enum agent_protocol_event_type {
  AGENT_PROTOCOL_WELCOME = 1,         /* generation, role, version (the previous one), failure */
  AGENT_PROTOCOL_ACTIVATE = 2,        /* clean, state, failure, trial_ms, commit: the work is
                                         yours, now */
  AGENT_PROTOCOL_STOP = 3,            /* stop_reason, deadline_ms, id, generation */
  AGENT_PROTOCOL_ACCEPTED = 4,        /* id, generation */
  AGENT_PROTOCOL_CANDIDATE_READY = 5, /* id, generation, version */
  AGENT_PROTOCOL_CANDIDATE_LOST = 6,  /* id, reason */
  AGENT_PROTOCOL_UPGRADE_FAILED = 7,  /* id, reason, failure */
  AGENT_PROTOCOL_COMMITTED = 8,       /* id, generation */
  AGENT_PROTOCOL_ERROR = 9            /* about, reason: something sent was not obeyed */
};

enum agent_protocol_role {
  AGENT_PROTOCOL_FIRST = 1,
  AGENT_PROTOCOL_CANDIDATE = 2,
  AGENT_PROTOCOL_FALLBACK = 3
};

enum agent_protocol_stop_reason {
  AGENT_PROTOCOL_STOP_UPGRADE = 1,
  AGENT_PROTOCOL_STOP_ROLLBACK = 2,
  AGENT_PROTOCOL_STOP_SHUTDOWN = 3,
  AGENT_PROTOCOL_STOP_SIGNAL = 4,      /* SIGTERM reached the agent itself */
  AGENT_PROTOCOL_STOP_END_OF_INPUT = 5 /* the upgrader has gone: never carry on without it */
};

/* Why an upgrade failed. A fallback is told it once: with AGENT_PROTOCOL_WELCOME, or, if it was
 * welcomed as a standby before the upgrade failed, with AGENT_PROTOCOL_ACTIVATE. */
struct agent_protocol_failure {
  const char* id;
  const char* stage;      /* "request", "spawn", "start", ... as in agent-protocol(7) */
  const char* reason;     /* a sentence for people */
  const char* version;    /* of the failed agent, or NULL */
  const char* errno_name; /* such as "ENOENT", or NULL */
  int exit_status;        /* or -1 */
  int signal;             /* or -1 */
};

/* One event. It and all that it points to belong to the handle and hold until the next call of
 * agent_protocol_next(), agent_protocol_wait() or agent_protocol_close(). Later versions of the
 * library only add members at the end, and types, which a program passes over. Texts that do not
 * apply are NULL, numbers -1, enumerations and `clean` 0. */
struct agent_protocol_event {
  enum agent_protocol_event_type type;
  enum agent_protocol_role role;
  enum agent_protocol_stop_reason stop_reason;
  int clean; /* 1: the agent before confirmed its stop */
  int64_t generation;
  int64_t deadline_ms; /* what is left to say stopped, at arrival; or -1 */
  int64_t watchdog_ms; /* send a heartbeat at least every half of this; -1: none */
  const char* id;
  const char* about;
  const char* reason;
  const char* version;
  const char* state;                            /* UTF-8, NUL-terminated, or NULL */
  const struct agent_protocol_failure* failure; /* or NULL */
  const char* const* features; /* welcome: those of ours that it has, too; ended by NULL */
  const char* commit; /* activate, on trial: what passes it, "survive" or "healthy"; or NULL */
  int64_t trial_ms;   /* activate, on trial: how long the trial lasts; or -1 */
};

/* Starts the conversation: the first thing a program does. `version` is the agent's own, of at
 * most 128 bytes, or NULL. Afterwards descriptor 0 is /dev/null and 1 a copy of 2, the pipes are
 * private and close-on-exec, as is the lock's descriptor, which stays open for the life of the
 * process; the AGENT_PROTOCOL variables are gone from the environment; `hello` is sent; SIGPIPE is
 * caught and does nothing, if it had its default (programs that this one starts get the default
 * back). SIGTERM is caught: a held agent exits at once with status 143, an active one gets
 * AGENT_PROTOCOL_STOP; a process forked from this one dies of it as by default. Without an upgrader
 * descriptors 0 and 1 are left alone. NULL, with errno, only where descriptors have run out, the
 * upgrader's pipes are not there, `version` cannot be sent, a handle is open already (EBUSY), or
 * this process has had its conversation with an upgrader (ENOTCONN), also if it was forked from the
 * agent since, or has executed itself anew: it must not take itself for a program without an
 * upgrader. */
AGENT_PROTOCOL_API agent_protocol_agent* agent_protocol_open(const char* version);

/* The same for an agent with features, at most 16 names of at most 32 bytes, ended by NULL; or
 * NULL. With "readiness", where the upgrader has it, init is told that the service is ready when
 * the agent says agent_protocol_healthy(), in every role, and not when it is activated. */
AGENT_PROTOCOL_API agent_protocol_agent* agent_protocol_open_with(const char* version,
                                                                  const char* const* features);

/* Frees the handle and closes its descriptors but the lock's; SIGTERM and SIGPIPE do what they did
 * before, unless the program has set handlers of its own since, which stay. Says nothing to the
 * upgrader. NULL is allowed. */
AGENT_PROTOCOL_API void agent_protocol_close(agent_protocol_agent* agent);

/* 1 if there is no upgrader, else 0. */
AGENT_PROTOCOL_API int agent_protocol_alone(const agent_protocol_agent* agent);

/* A descriptor that polls readable when agent_protocol_next() may have an event or can send what
 * was kept; for any event loop, level-triggered. It belongs to the handle and stays the same. */
AGENT_PROTOCOL_API int agent_protocol_fd(const agent_protocol_agent* agent);

/* The next event, or NULL if there is none now. Never blocks. Call it until it answers NULL.
 * At the end of input a held agent exits here, at once, with status 1: the protocol wants no side
 * effect; an active one gets AGENT_PROTOCOL_STOP. One stop is told once, whatever else asks for
 * it; after a cancel that takes it back there may be another. */
AGENT_PROTOCOL_API const struct agent_protocol_event* agent_protocol_next(
    agent_protocol_agent* agent);

/* The same, but waits for up to `timeout_ms` (-1: without limit). Returns NULL when the time is
 * over; any other negative time is over at once. A caller that computes the rest of a time passes 0
 * when none is left. */
AGENT_PROTOCOL_API const struct agent_protocol_event* agent_protocol_wait(
    agent_protocol_agent* agent, int timeout_ms);

/* A start-up check: returns 0 if all is well; otherwise non-zero, with what is wrong written to
 * `reason` (`size` bytes, NUL-terminated, empty before). */
typedef int (*agent_protocol_check)(void* context, char* reason, size_t size);

/* Registers a check, to be run by agent_protocol_ready() in the order of registration. `name`, of
 * at most 128 bytes, is copied. */
AGENT_PROTOCOL_API int agent_protocol_add_check(agent_protocol_agent* agent, const char* name,
                                                agent_protocol_check check, void* context);

/* Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit` with that
 * check's name and reason, runs no further check and returns -1: the program must then end without
 * side effect. In the reason, each byte that is not valid UTF-8 becomes U+FFFD, and a reason that
 * fills its buffer without a NUL ends in "...". Between checks a held agent whose input has ended
 * exits at once, as in agent_protocol_next(). */
AGENT_PROTOCOL_API int agent_protocol_ready(agent_protocol_agent* agent);

/* Says that this agent must not be given (held), or must not keep (on trial), the work. A held
 * agent exits next, one on trial is told to stop. `reason` has at most 1,024 bytes. Returns when
 * the upgrader's pipe has taken it. */
AGENT_PROTOCOL_API int agent_protocol_unfit(agent_protocol_agent* agent, const char* reason);

/* The terms of an upgrade that an agent requests. Start from AGENT_PROTOCOL_UPGRADE_INIT; NULL and
 * -1 leave a member to the upgrader's own default. Later versions of the library only add members
 * at the end: those beyond `size`, which the program did not know when it was compiled, get the
 * default, too. */
struct agent_protocol_upgrade {
  size_t size;                 /* sizeof: lets later versions add members */
  const char* id;              /* required: 1 to 64 bytes of printable ASCII */
  const char* executable;      /* required: an absolute path */
  const char* const* args;     /* the arguments after the program's name, ended by NULL; or NULL */
  const char* mode;            /* "parallel", "sequential" */
  const char* gate;            /* "none", "confirm" */
  const char* commit;          /* "survive", "healthy" */
  const char* on_unclean_stop; /* "fallback", "continue" */
  int64_t start_timeout_ms;
  int64_t confirm_timeout_ms;
  int64_t stop_timeout_ms;
  int64_t trial_ms;
  const char* fallback; /* "cold", "warm" */
};
#define AGENT_PROTOCOL_UPGRADE_INIT                                                              \
  {                                                                                              \
    sizeof(struct agent_protocol_upgrade), NULL, NULL, NULL, NULL, NULL, NULL, NULL, -1, -1, -1, \
        -1, NULL                                                                                 \
  }

/* Asks to be replaced. Answered by AGENT_PROTOCOL_ACCEPTED or AGENT_PROTOCOL_UPGRADE_FAILED. */
AGENT_PROTOCOL_API int agent_protocol_request_upgrade(agent_protocol_agent* agent,
                                                      const struct agent_protocol_upgrade* upgrade);

/* Opens the gate of the upgrade `id`, whose candidate is ready. */
AGENT_PROTOCOL_API int agent_protocol_confirm(agent_protocol_agent* agent, const char* id);

/* Gives the upgrade `id` up, also after a stop for it, before stopped: then the agent stays active.
 * `reason` has at most 1,024 bytes, or is NULL. */
AGENT_PROTOCOL_API int agent_protocol_cancel(agent_protocol_agent* agent, const char* id,
                                             const char* reason);

/* Confirms a clean stop: all is finished and given up; exit next. `state`, for the next agent, is a
 * text in UTF-8 of at most 32,768 bytes, and of at most 65,000 when it is escaped for a message: a
 * quote, a backslash and each of the control characters \b \f \n \r \t counts 2 bytes, another
 * control character 6. Or NULL. Where it is refused nothing has been confirmed: call again, with a
 * state that fits or without one. Returns when the upgrader's pipe has taken it. After a stop that
 * the upgrader did not ask for (a signal, the end of input) it only succeeds. */
AGENT_PROTOCOL_API int agent_protocol_stopped(agent_protocol_agent* agent, const char* state);

/* The same with a state of `size` bytes. One that holds a NUL is refused, and not cut there. */
AGENT_PROTOCOL_API int agent_protocol_stopped_with(agent_protocol_agent* agent, const char* state,
                                                   size_t size);

/* Vouches for itself on trial: committed at once. With the feature "readiness" in every role, once
 * it is active: it works, and init is told. */
AGENT_PROTOCOL_API int agent_protocol_healthy(agent_protocol_agent* agent);

/* Moves the running deadline to at least `ms` from now, 1 to 86,400,000. With the feature
 * "readiness" an active agent has one until it has said healthy. */
AGENT_PROTOCOL_API int agent_protocol_extend(agent_protocol_agent* agent, int64_t ms);

/* Says that it is alive: wanted at least every half of watchdog_ms where that is asked for. */
AGENT_PROTOCOL_API int agent_protocol_heartbeat(agent_protocol_agent* agent);

/* One line for people, of at most 256 bytes. */
AGENT_PROTOCOL_API int agent_protocol_status(agent_protocol_agent* agent, const char* text);

/* Why the last call that returned -1 did; valid until the next call. Never NULL. */
AGENT_PROTOCOL_API const char* agent_protocol_error(const agent_protocol_agent* agent);

#ifdef __cplusplus
}
#endif

#endif
