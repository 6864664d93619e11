/* The C interface of libagent-protocol, which an agent calls. See agent_protocol(3).
 *
 * An agent first opens the conversation, prepares its work, says ready, and then handles events.
 * Without an upgrader the same calls lead through the same steps: after ready comes the event
 * activate, and after SIGTERM the event stop. A request for an upgrade is refused. Every other call
 * succeeds and has no effect.
 *
 * Rules for all functions:
 * - No function throws or writes to standard output. If memory runs out, the process ends.
 * - If a function may wait, its comment says for how long.
 * - A handle must not be used by two threads at once, nor by a process that was forked from the
 *   agent.
 * - A function that returns int, except agent_protocol_alone() and agent_protocol_fd(), returns 0
 *   after a success. After a failure it returns -1 and sets errno; agent_protocol_error() has the
 *   reason.
 * - A function that has failed has sent nothing. Only agent_protocol_ready() reports a failed check
 *   to the upgrader.
 * - Texts are UTF-8. A text is refused, never cut or changed, if it is invalid UTF-8 (EILSEQ), too
 *   long (EMSGSIZE), or contains a NUL within its given length (EINVAL).
 *
 * If the pipe to the upgrader is full, messages are kept, within limits, and sent later by
 * agent_protocol_next() and agent_protocol_wait(). So call one of these two whenever the descriptor
 * of agent_protocol_fd() is readable. */
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

/* The types of events, each with the members of the event that it uses. Numbers are never
 * reused. */
enum agent_protocol_event_type {
  AGENT_PROTOCOL_WELCOME = 1,         /* generation, role, version (the previous one), failure */
  AGENT_PROTOCOL_ACTIVATE = 2,        /* clean, state, failure, trial_ms, commit: this agent gets
                                         the work now */
  AGENT_PROTOCOL_STOP = 3,            /* stop_reason, deadline_ms, id, generation */
  AGENT_PROTOCOL_ACCEPTED = 4,        /* id, generation */
  AGENT_PROTOCOL_CANDIDATE_READY = 5, /* id, generation, version */
  AGENT_PROTOCOL_CANDIDATE_LOST = 6,  /* id, reason */
  AGENT_PROTOCOL_UPGRADE_FAILED = 7,  /* id, reason, failure */
  AGENT_PROTOCOL_COMMITTED = 8,       /* id, generation */
  AGENT_PROTOCOL_ERROR = 9            /* about, reason: a message of this agent was refused */
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
  AGENT_PROTOCOL_STOP_END_OF_INPUT = 5 /* the upgrader has gone, so the agent must end, too */
};

/* Why an upgrade failed. A fallback gets the failure once: with AGENT_PROTOCOL_WELCOME, or, if the
 * fallback was started as a standby before the upgrade failed, with AGENT_PROTOCOL_ACTIVATE. */
struct agent_protocol_failure {
  const char* id;
  const char* stage;      /* "start", "trial", ... as in agent-protocol(7), or a later version's */
  const char* reason;     /* a sentence for people */
  const char* version;    /* the version of the failed agent, or NULL */
  const char* errno_name; /* such as "ENOENT", or NULL */
  int exit_status;        /* the exit status of the failed agent, or -1 */
  int signal;             /* the signal that killed the failed agent, or -1 */
};

/* One event. It belongs to the handle, and is valid until the next call of agent_protocol_next(),
 * agent_protocol_wait() or agent_protocol_close(). A member that does not apply is NULL if it is a
 * text, -1 if it is a number, and 0 if it is an enumeration or `clean`. Later versions of the
 * library only add members at the end, and types of events: a program must ignore a type that it
 * does not know. */
struct agent_protocol_event {
  enum agent_protocol_event_type type;
  enum agent_protocol_role role;
  enum agent_protocol_stop_reason stop_reason;
  int clean; /* activate: 1 if the last active agent said stopped before it exited */
  int64_t generation;
  int64_t deadline_ms; /* stop: how long the agent may take to say stopped; or -1 */
  int64_t watchdog_ms; /* welcome: send a heartbeat at least every half of this; -1: send none */
  const char* id;
  const char* about;
  const char* reason;
  const char* version;
  const char* state;                            /* from the last active agent, or NULL */
  const struct agent_protocol_failure* failure; /* or NULL */
  const char* const* features; /* welcome: the features of both sides, ended by NULL */
  const char* commit; /* activate, on trial: how to pass it, "survive" or "healthy"; or NULL */
  int64_t trial_ms;   /* activate, on trial: the length of the trial; or -1 */
};

/* Starts the conversation, and must be the first thing that a program does. `version` is the
 * version of the agent, of at most 128 bytes, or NULL. These things are true afterwards:
 * - `hello` has been sent.
 * - Descriptor 0 is /dev/null, and 1 is a copy of 2. The pipes to the upgrader are private and
 *   close-on-exec.
 * - The descriptor of the upgrader's lock is close-on-exec, and stays open for the life of the
 *   process.
 * - The AGENT_PROTOCOL variables are gone from the environment.
 * - SIGTERM is caught: a held agent (one that must not work yet) exits at once with status 143, an
 *   active one gets AGENT_PROTOCOL_STOP. A forked process dies of SIGTERM as by default.
 * - SIGPIPE, if its disposition was the default, has no effect. Programs that this one starts get
 *   the default back.
 *
 * Without an upgrader, nothing is sent, and descriptors 0 and 1 are left alone; the two signals are
 * caught nevertheless.
 *
 * Returns NULL and sets errno if there are no descriptors left, the upgrader's pipes are missing,
 * `version` cannot be sent, or a handle is open already (EBUSY). The error is ENOTCONN if this
 * process or the agent from which it was forked has had a conversation with an upgrader before,
 * even if it has executed its program again since. */
AGENT_PROTOCOL_API agent_protocol_agent* agent_protocol_open(const char* version);

/* Starts the conversation as agent_protocol_open() does, for an agent with features: at most 16
 * names of at most 32 bytes, ended by NULL; or NULL. If the agent and the upgrader have the feature
 * "readiness", init is told that the service is ready when a first agent or a fallback calls
 * agent_protocol_healthy(), and not already when that agent is activated. */
AGENT_PROTOCOL_API agent_protocol_agent* agent_protocol_open_with(const char* version,
                                                                  const char* const* features);

/* Frees the handle, and closes its descriptors except the lock's. SIGTERM and SIGPIPE get their
 * former dispositions back, unless the program has set handlers of its own since, which stay. Sends
 * nothing to the upgrader. NULL is allowed. */
AGENT_PROTOCOL_API void agent_protocol_close(agent_protocol_agent* agent);

/* Returns 1 if there is no upgrader, else 0. */
AGENT_PROTOCOL_API int agent_protocol_alone(const agent_protocol_agent* agent);

/* Returns a descriptor that polls readable when agent_protocol_next() may have an event, or can
 * send messages for which the pipe had no room. The descriptor fits any level-triggered event loop,
 * and belongs to the handle. */
AGENT_PROTOCOL_API int agent_protocol_fd(const agent_protocol_agent* agent);

/* Returns the next event, or NULL if there is none now. Never blocks. Should be called until it
 * returns NULL. If the input has ended, ends a held agent (one that must not work yet) at once,
 * with status 1; an active agent gets AGENT_PROTOCOL_STOP. A stop is reported once, even if it is
 * requested in several ways, and again only after a cancel. */
AGENT_PROTOCOL_API const struct agent_protocol_event* agent_protocol_next(
    agent_protocol_agent* agent);

/* Returns the next event as agent_protocol_next() does, but waits for up to `timeout_ms`, and
 * returns NULL when the time is over. -1 means no limit; 0 and any other negative number mean no
 * wait. A caller that computes the time until a deadline must take care not to pass -1. */
AGENT_PROTOCOL_API const struct agent_protocol_event* agent_protocol_wait(
    agent_protocol_agent* agent, int timeout_ms);

/* A start-up check. Returns 0 if it passes. Otherwise returns another number, and writes the reason
 * to `reason`, a buffer of `size` bytes that is empty before; the reason ends with a NUL. */
typedef int (*agent_protocol_check)(void* context, char* reason, size_t size);

/* Registers a check, to be run by agent_protocol_ready() in the order of registration. `name`, of
 * at most 128 bytes, is copied. */
AGENT_PROTOCOL_API int agent_protocol_add_check(agent_protocol_agent* agent, const char* name,
                                                agent_protocol_check check, void* context);

/* Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit` with that
 * check's name and reason, runs no further check and returns -1; the program must then exit without
 * any other effect. A reason that fills its buffer without a NUL is cut and ends in "..."; invalid
 * UTF-8 in it becomes U+FFFD. If the input of an agent that is not active yet has ended before a
 * check, or after the last one, the process exits at once with status 1. */
AGENT_PROTOCOL_API int agent_protocol_ready(agent_protocol_agent* agent);

/* Tells the upgrader that this agent must not get the work, or, if it is on trial, must not keep
 * the work. An agent that is not active yet must then exit; an agent on trial is told to stop.
 * `reason` has at most 1,024 bytes. Returns when the whole message has been written to the pipe. */
AGENT_PROTOCOL_API int agent_protocol_unfit(agent_protocol_agent* agent, const char* reason);

/* The terms of an upgrade that an agent requests. Initialise it by AGENT_PROTOCOL_UPGRADE_INIT. For
 * a member that is NULL or -1 the upgrader uses its own default. Later versions of the library only
 * add members at the end; by `size` the library recognizes a program whose header lacks them, for
 * which the upgrader uses its defaults. */
struct agent_protocol_upgrade {
  size_t size;                 /* the size of this structure */
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

/* Requests an upgrade of this agent. The answer is the event AGENT_PROTOCOL_ACCEPTED or
 * AGENT_PROTOCOL_UPGRADE_FAILED. */
AGENT_PROTOCOL_API int agent_protocol_request_upgrade(agent_protocol_agent* agent,
                                                      const struct agent_protocol_upgrade* upgrade);

/* Confirms the upgrade `id`, whose candidate is ready: the upgrader then stops this agent and
 * activates the candidate. */
AGENT_PROTOCOL_API int agent_protocol_confirm(agent_protocol_agent* agent, const char* id);

/* Cancels the upgrade `id`, so that this agent stays active. May be called even after a stop for
 * that upgrade, until the agent has said stopped. `reason` has at most 1,024 bytes, or is NULL. */
AGENT_PROTOCOL_API int agent_protocol_cancel(agent_protocol_agent* agent, const char* id,
                                             const char* reason);

/* Confirms a clean stop. All work must be finished or given up before the call, and the program
 * must exit after it. `state` is NULL, or a text in UTF-8 for the next agent: at most 32,768 bytes,
 * and at most 65,000 when escaped for a message (a quote, a backslash and each of \b \f \n \r \t
 * count 2 bytes, any other control character 6). Returns when the whole message has been written to
 * the pipe.
 *
 * If the state is refused, nothing has been confirmed: call again with another state, or without
 * one. After a stop that the upgrader did not request (a signal, the end of input), nothing is sent
 * and 0 is returned. */
AGENT_PROTOCOL_API int agent_protocol_stopped(agent_protocol_agent* agent, const char* state);

/* Confirms a clean stop as agent_protocol_stopped() does, with a state of `size` bytes. A state
 * that contains a NUL is refused, and not cut at the NUL. */
AGENT_PROTOCOL_API int agent_protocol_stopped_with(agent_protocol_agent* agent, const char* state,
                                                   size_t size);

/* Tells the upgrader that this agent works. If the agent is on trial, the upgrade is then committed
 * at once. With the feature "readiness", a first agent or a fallback must call this function, and
 * init is then told that the service is ready. */
AGENT_PROTOCOL_API int agent_protocol_healthy(agent_protocol_agent* agent);

/* Asks the upgrader for more time: moves this agent's current deadline to `ms` milliseconds (1 to
 * 86,400,000) from now, unless it is later already. Has no effect without a deadline, and never
 * moves the end of a trial. With the feature "readiness" an active agent has a deadline until it
 * has said healthy. */
AGENT_PROTOCOL_API int agent_protocol_extend(agent_protocol_agent* agent, int64_t ms);

/* Tells the upgrader that the agent is alive. If watchdog_ms is set, the agent must call this
 * function at least once in every half of that time. */
AGENT_PROTOCOL_API int agent_protocol_heartbeat(agent_protocol_agent* agent);

/* Sends a status of one line for people, of at most 256 bytes. */
AGENT_PROTOCOL_API int agent_protocol_status(agent_protocol_agent* agent, const char* text);

/* Returns the reason why the last call that returned -1 has failed. The text is valid until the
 * next call. Never NULL. */
AGENT_PROTOCOL_API const char* agent_protocol_error(const agent_protocol_agent* agent);

#ifdef __cplusplus
}
#endif

#endif
