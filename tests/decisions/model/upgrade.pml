/* A model of the upgrader, its agents, the lock, and the init that starts the upgrader again. `make
 * model` checks who may be active, and that nothing waits for ever. To be read beside
 * agent-protocol(7).
 *
 * A phase here is the phase of the same name in upgrader/core/supervisor.h; but here it is a
 * variable, and the rules of the page are written out event by event. A step of the upgrader takes
 * one event to its end; the upgrader dies only between two steps.
 *
 * Left out, since nothing that is checked here depends on it:
 * - The content of messages. A `stop` for an upgrade and any other `stop` are two messages.
 *   `hello`, `welcome`, `accepted`, `status`, `heartbeat` and `error` decide nothing, and are not
 *   sent.
 * - Time. A deadline may pass at any moment after it is set, and does pass in the end. So `extend`
 *   is only a deadline that passes later; timeouts of 0, which never pass, are left out. A phase
 *   has one deadline. While `healthy` is awaited from an agent, which may request an upgrade
 *   meanwhile, the deadline is that of `healthy`. `stopped` sets a new deadline in the place of the
 *   old one.
 * - The terms of a request. They are chosen where they matter: whether there is a gate at `ready`,
 *   the effect of an unclean stop at that stop, the meaning of the end of a trial at its end.
 *   Upgrades by SIGUSR2 are requests.
 * - A closed pipe of a held agent, also one that is found closed when `activate` is sent: it counts
 *   as the agent's `unfit`. So do the exit of a standby, and a standby's deadline while the agent
 *   on trial lives.
 * - The program behind an adapter. To the upgrader an adapter is an agent with the feature
 *   `readiness`, which any other agent may have, too.
 * - How long an `activate` that cannot be written waits: until it is written, or the deadline.
 * - SIGQUIT: it is the upgrader's death.
 *
 * Assumed: a process that got SIGKILL ends, and an agent whose input ends exits, both some time
 * later. An agent keeps the lock's descriptor until it exits. There is room for two processes: with
 * the lock there are never more, and without it two are enough to show two active agents.
 *
 * An agent is straight or crooked. A straight agent does what the page asks of it. A crooked agent
 * does anything or nothing: it may say any word at any moment, so its words are chosen when the
 * upgrader hears them, and what it is told has no effect.
 * From the moment that the model is `calm`, new agents are straight, and nothing else goes wrong:
 * the upgrader is not killed, processes can be started, the link can be written, and no deadline
 * passes while only straight agents run. Every property must hold from every state that comes
 * before.
 *
 * SEED_... are errors, each of which a check must find: see `run`.
 */
#define none 2
#ifndef DEATHS
#define DEATHS 2 /* how often the upgrader is killed */
#endif

mtype:phase = { starting, running, preparing, confirming, switching, replacing, trial, abandoning,
  rolling_back, falling_back, shutting_down, ended };
mtype:word = { ready, unfit, upgrade, confirm, cancel, stopped, healthy,
  activate, stop_for_upgrade, stop_for_good, candidate_ready, candidate_lost, upgrade_failed,
  committed };
mtype:life = { absent, living, exited };  /* exited: has exited, and is not reaped yet */
mtype:mind = { hung, fresh, held, vouching, vouched, working, asking, cancelling, stopping,
  finishing, done };

/* ---- the world: two processes, their pipes, and their state */
mtype:life life[2] = absent;
mtype:mind mind[2] = hung;
chan said[2] = [1] of { mtype:word };
chan told[2] = [4] of { mtype:word };
bit crooked[2];
bit trialled[2];    /* started as a candidate */
bit beginning[2];   /* active, has the feature `readiness`, and has not said that it works */
bit killed[2];      /* got SIGKILL */
bit orphan[2];      /* its upgrader has died, and its input has ended */
bit calm, sigterm;

/* ---- what the upgrader knows */
mtype:phase phase = ended;
byte incumbent = none, candidate = none;
bit is_ready[2], to_stop[2], has_stopped[2];
bit promised[2];    /* `activate` was sent, and waits behind a full pipe, or is lost */
bit stands_by[2];   /* a standby: started beside the agent on trial, and not activated */
bit awaits_word[2]; /* init's READY=1 waits for the agent's `healthy`, for a limited time */
bit sequential;     /* how the upgrade under way is made */
bit failed;         /* the upgrade under way has failed, and is being undone */
bit passed;         /* the deadline of this phase has passed */

/* ---- variables that only the properties read */
bit is_active[2];   /* from `activate` until it is reaped, or has exited as an orphan */
bit under_way;      /* an accepted upgrade has not ended */
bit wish;           /* while `calm`, from a straight agent's request for an upgrade to the commit */

#define is_up (phase != ended)
#define standby_lives (candidate != none && stands_by[candidate] && !killed[candidate])
#define someone_crooked ((life[0] == living && crooked[0]) || (life[1] == living && crooked[1]))
#define a_word_is_awaited (incumbent != none && awaits_word[incumbent])
#define serves (phase == running && is_active[incumbent] && !a_word_is_awaited)

#ifdef SEED_NO_LOCK
#define lock_is_free (life[0] == absent || life[1] == absent)
#else
#define lock_is_free (life[0] == absent && life[1] == absent)
#endif

#ifdef SEED_NO_STOP_DEADLINE
#define has_stop_deadline (phase == rolling_back || phase == shutting_down)
#else
#define has_stop_deadline (phase == switching || phase == rolling_back || phase == shutting_down)
#endif
#define has_incumbent_deadline \
  ((phase == starting || phase == falling_back || has_stop_deadline) && \
   incumbent != none && !killed[incumbent])
#define has_candidate_deadline \
  ((phase == preparing || phase == replacing) && candidate != none && !killed[candidate])
#ifdef SEED_NO_WORD_DEADLINE
#define has_word_deadline false
#else
#define has_word_deadline a_word_is_awaited
#endif
#define has_deadline \
  (has_incumbent_deadline || has_candidate_deadline || has_word_deadline || \
   phase == confirming || phase == trial)

/* ---- processes come and go */
inline empty_pipe(pipe) {
  do
  :: nempty(pipe) -> pipe?_
  :: empty(pipe) -> break
  od
}

inline forget(i) {
  empty_pipe(said[i]);
  empty_pipe(told[i]);
  life[i] = absent; mind[i] = hung; crooked[i] = 0; trialled[i] = 0; killed[i] = 0; orphan[i] = 0;
  is_ready[i] = 0; promised[i] = 0; to_stop[i] = 0; has_stopped[i] = 0; is_active[i] = 0;
  stands_by[i] = 0; beginning[i] = 0; awaits_word[i] = 0
}

inline exit(i) { /* init reaps an orphan */
  if
  :: orphan[i] -> forget(i)
  :: !orphan[i] -> life[i] = exited
  fi
}

inline start(i, as_candidate) { /* sets i to the agent, or to none if it cannot start */
  assert(!sigterm);
  if
  :: life[0] == absent -> i = 0
  :: life[0] != absent && life[1] == absent -> i = 1
  :: !calm -> i = none
#ifdef SEED_NO_LOCK
  :: life[0] != absent && life[1] != absent -> i = none
#endif
  fi;
  if
  :: i == none
  :: i != none ->
    life[i] = living; mind[i] = fresh; trialled[i] = as_candidate;
    if
    :: crooked[i] = 0
    :: !calm -> crooked[i] = 1 /* crooked, but exits by itself at some time */
    :: !calm -> crooked[i] = 1; mind[i] = hung
    fi
  fi
}

/* ---- what the upgrader does */
inline go_to(where) { phase = where; passed = 0 }

inline kill(i) {
  killed[i] = 1; promised[i] = 0; awaits_word[i] = 0;
  if
  :: to_stop[i] /* its last message may be `stopped`, which counts */
  :: !to_stop[i] -> empty_pipe(said[i])
  fi
}

inline tell(i, what) {
  if
  :: crooked[i] || life[i] == exited || killed[i]
  :: !(crooked[i] || life[i] == exited || killed[i]) -> assert(nfull(told[i])); told[i]!what
  fi
}

inline send_stop(how) {
  assert(is_active[incumbent] && !to_stop[incumbent] && !has_stopped[incumbent]);
  to_stop[incumbent] = 1;
  awaits_word[incumbent] = 0;
  tell(incumbent, how)
}

inline tell_init_ready(i) { assert(!beginning[i]) }

inline leave() { /* the upgrader exits; init may start it again */
  assert(incumbent == none && candidate == none);
  under_way = 0; sequential = 0; failed = 0;
  go_to(ended)
}

inline leave_when_alone() {
  if
  :: incumbent == none && candidate == none -> leave()
  :: incumbent != none || candidate != none -> go_to(shutting_down)
  fi
}

inline accept() {
  assert(!under_way);
  under_way = 1;
  wish = calm && !crooked[incumbent]
}

inline upgrade_is_over() {
  assert(candidate == none);
  under_way = 0; sequential = 0;
#ifndef SEED_REMEMBERS_FAILURE
  failed = 0;
#endif
  go_to(running)
}

inline upgrade_ends() {
  assert(under_way);
  upgrade_is_over()
}

inline abandon() {
  failed = 1;
  to_stop[incumbent] = 0;
  if
  :: candidate != none -> kill(candidate); go_to(abandoning)
  :: candidate == none -> tell(incumbent, upgrade_failed); upgrade_ends()
  fi
}

/* Called when the old agent has ended. A standby takes over, if there is one. Otherwise a fallback
 * is started, as soon as there is no other agent. */
inline fall_back() {
  failed = 1;
  if
  :: standby_lives ->
    incumbent = candidate;
    candidate = none;
    go_to(falling_back)
  :: candidate != none && !standby_lives -> kill(candidate); go_to(falling_back)
  :: candidate == none ->
    start(incumbent, 0);
    if
    :: incumbent != none -> go_to(falling_back)
    :: incumbent == none -> leave()
    fi
  fi
}

inline roll_back() { /* a standby is not activated before the agent on trial has ended */
  failed = 1;
  send_stop(stop_for_good);
  go_to(rolling_back)
}

inline pass_gate() {
  if
  :: !calm -> abandon() /* the link cannot be replaced, or the executable not synced */
  :: true ->
    assert(sequential || (is_ready[candidate] && !killed[candidate]));
    send_stop(stop_for_upgrade);
    go_to(switching)
  fi
}

inline commit() {
  if
  :: !calm -> roll_back() /* the link cannot be written */
  :: true ->
    assert(is_active[incumbent]);
    tell(incumbent, committed);
    wish = 0;
    if
    :: candidate == none -> upgrade_ends()
    :: candidate != none -> under_way = 0; kill(candidate); go_to(abandoning)
    fi
  fi
}

/* Starts a standby. It is crooked unless the model is calm: a crooked agent may say everything that
 * a straight one says. */
inline start_standby() {
  assert(phase == trial && is_active[incumbent] && candidate == none);
  start(candidate, 0);
  if
  :: candidate != none && calm -> stands_by[candidate] = 1
  :: candidate != none && !calm ->
    stands_by[candidate] = 1; crooked[candidate] = 1; mind[candidate] = hung
  :: candidate == none
  fi
}

/* Called when an agent has been activated. A candidate is judged by its upgrade, so init is sent
 * READY=1 immediately. Any other agent may have the feature `readiness`: READY=1 then waits for its
 * `healthy`. */
inline begin_work(i) {
  if
  :: trialled[i]
  :: !trialled[i]
  :: !trialled[i] -> beginning[i] = 1; awaits_word[i] = 1
  fi;
#ifndef SEED_READY_AT_ACTIVATE
  if
  :: beginning[i]
  :: !beginning[i] -> tell_init_ready(i)
  fi
#else
  tell_init_ready(i)
#endif
}

inline activate_is_written(i) {
  assert(!is_active[0] && !is_active[1] && !killed[i]);
#ifndef SEED_DEAF_IS_ACTIVE
  is_active[i] = 1;
#else
  is_active[i] = !promised[i];
#endif
  promised[i] = 0; stands_by[i] = 0;
  tell(i, activate);
  begin_work(i);
  if
  :: phase == starting -> go_to(running)
  :: phase == falling_back -> upgrade_ends()
  :: phase == replacing ->
    incumbent = candidate;
    candidate = none;
    go_to(trial);
    if
    :: true
    :: !sequential -> start_standby()
    :: true -> commit() /* a trial of 0 */
    fi
  fi
}

/* Sends `activate`. A straight agent reads the message. For a crooked agent, the message may wait
 * for any time, even for ever. */
inline send_activate(i) {
  assert(!is_active[0] && !is_active[1]);
  assert(!promised[0] && !promised[1]);
  assert(is_ready[i] && !killed[i] && !sigterm);
  if
  :: true -> activate_is_written(i)
  :: crooked[i] -> promised[i] = 1; passed = 0
  fi
}

inline activate_candidate() {
  go_to(replacing);
  send_activate(candidate)
}

inline lose_candidate() { /* the candidate is killed, or has been reaped */
#ifndef SEED_LOSS_UNNOTICED
  failed = 1;
#endif
  if
  :: !has_stopped[incumbent] -> tell(incumbent, candidate_lost)
  :: has_stopped[incumbent]
  fi
}

/* ---- what agents say */
inline hear_ready(i) {
  is_ready[i] = 1;
  if
  :: i == incumbent && (phase == starting || phase == falling_back) /* see step_ends() */
  :: i == candidate && phase == preparing -> tell(incumbent, candidate_ready); go_to(confirming)
  :: i == candidate && phase == preparing -> pass_gate()
  :: i == candidate && phase == replacing -> activate_candidate()
#ifdef SEED_STANDBY_WAITS_NOT
  :: i == candidate && (phase == trial || phase == rolling_back) -> send_activate(i)
#else
  :: i == candidate && (phase == trial || phase == rolling_back) /* a standby waits */
#endif
  fi
}

inline held_agent_fails(i) {
  if
  :: stands_by[i] -> kill(i)
  :: i == incumbent && !stands_by[i] -> kill(i); under_way = 0; go_to(shutting_down)
  :: i == candidate && (phase == preparing || phase == confirming) -> abandon()
  :: i == candidate && phase == switching -> kill(i); lose_candidate()
  :: i == candidate && phase == replacing -> fall_back()
  fi
}

inline hear_upgrade() {
  if
  :: !calm -> tell(incumbent, upgrade_failed) /* the executable cannot be started */
  :: true -> /* parallel */
    start(candidate, 1);
    if
    :: candidate != none -> accept(); go_to(preparing)
    :: candidate == none -> tell(incumbent, upgrade_failed)
    fi
  :: true -> sequential = 1; accept(); pass_gate()
  fi
}

inline hear_cancel(i) {
  if
  :: phase == preparing || phase == confirming || (phase == switching && !has_stopped[i]) ->
    abandon()
  :: phase == shutting_down && to_stop[i] && !has_stopped[i] -> tell(i, stop_for_good)
  :: else /* the agent gets only an `error` */
  fi
}

inline hear(i, what) {
  if
  :: what == stopped && to_stop[i] && !has_stopped[i] -> has_stopped[i] = 1; passed = 0
#ifdef SEED_NO_REAP
    ; if
    :: phase == switching && candidate != none && !failed -> activate_candidate()
    :: else
    fi
#endif
  :: what == stopped && !(to_stop[i] && !has_stopped[i])
  :: what != stopped && (killed[i] || life[i] == exited) /* ignored, as from a dead agent */
  :: what == ready && !killed[i] ->
    if
    :: !is_ready[i] -> hear_ready(i)
    :: is_ready[i]
    fi
  :: what == unfit && !killed[i] ->
    if
    :: !is_active[i] -> held_agent_fails(i)
    :: is_active[i] && phase == trial -> roll_back()
    :: is_active[i] && phase != trial
    fi
  :: what == upgrade && !killed[i] ->
    if
    :: is_active[i] && phase == running -> hear_upgrade()
    :: is_active[i] && phase != running && !to_stop[i] -> tell(i, upgrade_failed) /* busy */
    :: !is_active[i] || to_stop[i]
    fi
  :: what == confirm && !killed[i] ->
    if
    :: is_active[i] && phase == confirming -> pass_gate()
    :: !is_active[i] || phase != confirming
    fi
  :: what == cancel && !killed[i] ->
    if
    :: is_active[i] -> hear_cancel(i)
    :: !is_active[i]
    fi
  :: what == healthy && !killed[i] ->
    if
    :: beginning[i] -> beginning[i] = 0; awaits_word[i] = 0; tell_init_ready(i)
    :: !beginning[i] && is_active[i] && phase == trial -> commit()
    :: !beginning[i] && !(is_active[i] && phase == trial)
    fi
  fi
}

/* ---- ends of agents, deadlines and signals */
inline old_agent_has_gone(was_clean) { /* it was told to stop for an upgrade */
  if
  :: failed -> fall_back()
  :: !failed && !was_clean -> fall_back()
  :: !failed && !sequential -> activate_candidate() /* clean, or on_unclean_stop is `continue` */
  :: !failed && sequential ->
    start(candidate, 1);
    if
    :: candidate != none -> go_to(replacing)
    :: candidate == none -> fall_back()
    fi
  fi
}

inline reap_incumbent(i) {
  was_clean = has_stopped[i];
  was_standby = stands_by[i];
  forget(i);
  incumbent = none;
  if
  :: phase == switching -> old_agent_has_gone(was_clean)
  :: phase == trial || phase == rolling_back || (phase == falling_back && was_standby) ->
    fall_back()
  :: else ->
    under_way = 0;
    if
    :: candidate != none -> kill(candidate)
    :: candidate == none
    fi;
    leave_when_alone()
  fi
}

inline reap_candidate(i) {
  forget(i);
  candidate = none;
  if
  :: phase == preparing || phase == confirming || (phase == abandoning && under_way) -> abandon()
  :: phase == abandoning && !under_way -> upgrade_is_over() /* the standby has ended */
  :: phase == trial || phase == rolling_back
  :: phase == switching && !failed -> lose_candidate()
  :: phase == switching && failed
  :: phase == replacing || phase == falling_back -> fall_back()
  :: phase == shutting_down -> leave_when_alone()
  fi
}

inline does_not_work() { /* the incumbent has not said `healthy` in time */
  kill(incumbent);
  if
  :: candidate != none -> kill(candidate)
  :: candidate == none
  fi;
  under_way = 0;
  go_to(shutting_down)
}

inline phase_takes_too_long() {
  if
  :: phase == starting || phase == falling_back -> held_agent_fails(incumbent)
  :: phase == preparing || phase == replacing -> held_agent_fails(candidate)
  :: phase == confirming -> abandon()
  :: phase == switching || phase == rolling_back || phase == shutting_down -> kill(incumbent)
  :: phase == trial -> commit()
  :: phase == trial && (!calm || crooked[incumbent]) -> roll_back() /* no `healthy` in time */
  fi
}

inline deadline_passes() {
  passed = 0;
  if
  :: has_word_deadline -> does_not_work()
  :: else -> phase_takes_too_long()
  fi
}

inline take_sigterm() {
  sigterm = 1;
  if
  :: candidate != none -> kill(candidate)
  :: candidate == none
  fi;
  if
  :: incumbent == none
  :: incumbent != none && !is_active[incumbent] -> kill(incumbent)
  :: incumbent != none && is_active[incumbent] ->
    if
    :: under_way && phase != trial && phase != rolling_back && !has_stopped[incumbent] ->
      tell(incumbent, upgrade_failed)
    :: else
    fi;
    if
    :: !to_stop[incumbent] -> send_stop(stop_for_good)
    :: to_stop[incumbent]
    fi
  fi;
  under_way = 0;
  leave_when_alone()
}

/* The upgrader dies: its children become orphans, and init reaps those that have exited. */
inline die() {
  i = 0;
  do
  :: i < 2 && life[i] == exited -> forget(i); i++
  :: i < 2 && life[i] == living ->
    orphan[i] = 1; promised[i] = 0; stands_by[i] = 0; beginning[i] = 0; awaits_word[i] = 0;
    i++
  :: i < 2 && life[i] == absent -> i++
  :: i == 2 -> i = 0; break
  od;
  incumbent = none; candidate = none;
  leave()
}

/* The order in which the upgrader takes events: a deadline that has passed, then exits, then
 * messages, those of a crooked agent last. Reading is fair: a flood of one agent delays no other
 * agent. */
#define is_own(i) (life[i] != absent && !orphan[i])
#define exit_is_seen(i) (is_up && is_own(i) && life[i] == exited && len(said[i]) == 0 && !passed)
#define has_words(i) (len(said[i]) > 0 || (crooked[i] && len(said[1 - i]) == 0))
#define is_heard(i) \
  (is_up && is_own(i) && has_words(i) && !passed && !exit_is_seen(0) && !exit_is_seen(1))

inline any_word() {
  if
  :: what = ready
  :: what = unfit
  :: what = upgrade
  :: what = confirm
  :: what = cancel
  :: what = stopped
  :: what = healthy
  fi
}

/* Activates a first agent, a fallback, or a standby that is needed, if it is ready. A standby may
 * have been ready before it was needed. */
inline step_ends() {
  if
  :: (phase == starting || phase == falling_back) && incumbent != none &&
     is_ready[incumbent] && !killed[incumbent] && !promised[incumbent] -> send_activate(incumbent)
  :: else
  fi
}

inline serve(i) {
  if
  :: crooked[i] -> any_word()
  :: !crooked[i] -> said[i]?what
  fi;
  hear(i, what);
  what = 0
}

inline reap(i) {
  if
  :: true
  :: crooked[i] && to_stop[i] -> has_stopped[i] = 1 /* its last message was `stopped` */
  fi;
  if
  :: i == incumbent -> reap_incumbent(i)
  :: i == candidate -> reap_candidate(i)
  fi;
  was_clean = 0; was_standby = 0
}

/* ---- the processes of the model: agents, upgrader, clock, init, and the causes of exits */
#define me _pid /* the first two processes are the agents */
#define lives (life[me] == living && !killed[me] && !orphan[me])
#define can_say (nfull(said[me]))

inline say(what, then) { said[me]!what; mind[me] = then }

inline heed(what) { /* a straight agent ignores a `stop` that crosses its `cancel` */
  if
  :: what == activate && (trialled[me] || beginning[me]) -> mind[me] = vouching
  :: what == activate && !(trialled[me] || beginning[me]) -> mind[me] = working
  :: what == stop_for_upgrade && mind[me] != cancelling -> mind[me] = stopping
  :: what == stop_for_good -> mind[me] = finishing
  :: what == candidate_ready && mind[me] == asking -> say(confirm, asking)
  :: what == upgrade_failed && (mind[me] == asking || mind[me] == cancelling) -> mind[me] = working
  :: what == committed -> mind[me] = working
  :: else
  fi
}

active [2] proctype agent() {
  mtype:word what;
end:
  do
  :: atomic { life[me] == living && (killed[me] || orphan[me]) -> exit(me) }

  :: atomic { lives && !crooked[me] && nempty(told[me]) && can_say ->
       told[me]?what; heed(what); what = 0 }
  :: atomic { lives && !crooked[me] && mind[me] == fresh && can_say -> say(ready, held) }
  :: atomic { lives && mind[me] == vouching && can_say ->
       say(healthy, (trialled[me] -> vouched : working)) }
  :: atomic { lives && mind[me] == working && can_say -> say(upgrade, asking) }
  :: atomic { lives && (mind[me] == asking || mind[me] == stopping) && !calm && can_say ->
       say(cancel, cancelling) }
  :: atomic { lives && (mind[me] == stopping || mind[me] == finishing) && can_say ->
       say(stopped, done) }
  :: atomic { lives && mind[me] == done -> exit(me) }

  :: atomic { lives && crooked[me] && mind[me] == fresh -> exit(me) }
  od
}

active proctype upgrader() {
  byte i;
  mtype:word what;
  bit was_clean, was_standby;
end:
  do
  :: atomic { phase == starting && incumbent == none && lock_is_free ->
       start(incumbent, 0);
       if
       :: incumbent != none -> go_to(starting)
       :: incumbent == none -> leave()
       fi }
  :: atomic { is_up && passed -> deadline_passes() }
  :: atomic { exit_is_seen(0) || exit_is_seen(1) ->
       if
       :: exit_is_seen(0) -> i = 0
       :: exit_is_seen(1) -> i = 1
       fi;
       reap(i);
       step_ends();
       i = 0 }
  :: atomic { (promised[0] || promised[1]) && !passed && !exit_is_seen(0) && !exit_is_seen(1) ->
       i = promised[1];
       activate_is_written(i);
       i = 0 }
  :: atomic { is_heard(0) || is_heard(1) ->
       if
       :: is_heard(0) -> i = 0
       :: is_heard(1) -> i = 1
       fi;
       serve(i);
       step_ends();
       i = 0 }
  od
}

active proctype clock() {
end:
  do
  :: atomic { has_deadline && !passed && (!calm || someone_crooked || phase == trial) ->
       passed = 1 }
  od
}

active proctype init_system() {
end:
  do
  :: atomic { phase == ended && !sigterm -> go_to(starting) }
  od
}

/* Kills or stops the upgrader at any moment. Afterwards the model may turn calm. */
active proctype fate() {
  byte deaths, i;
  do
  :: atomic { is_up && deaths < DEATHS -> deaths++; die() }
  :: atomic { is_up && !sigterm -> take_sigterm() }
  :: break
  od;
  if
  :: atomic { !sigterm -> calm = 1 }
  :: true
  fi
}

/* Every accepted upgrade ends. */
ltl upgrades_end { [] (under_way -> <> !under_way) }
/* The upgrader always comes to `running` or to its end again, even if from some time on nothing
 * happens except that deadlines pass and agents exit. */
ltl comes_to_rest { [] <> (phase == running || phase == ended) }
/* Every wait for `healthy` from an agent with the feature `readiness` ends: by that message, or by
 * the agent's end. */
ltl word_comes { [] (a_word_is_awaited -> <> !a_word_is_awaited) }
/* Once the model is calm, an agent works again, whatever happened before, the upgrader's death
 * included. */
ltl works_again { [] (calm -> <> serves) }
/* In the phase `running`, whatever happened before, an upgrade can be requested in which all agents
 * cooperate, and it is committed. */
ltl can_be_committed { [] (wish -> <> !wish) }
