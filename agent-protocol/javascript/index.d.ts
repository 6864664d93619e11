// The types of the agent's half of agent-protocol(7). Times are in milliseconds.

export interface Failure {
  id: string;
  /** The stage at which the upgrade failed: one of the stages in agent-protocol(7), FAILURES. */
  stage: string;
  reason: string;
  version?: string;
  errno?: string;
  exitStatus?: number;
  signal?: number;
}

export type AgentEvent =
  | {
      type: 'welcome';
      protocol: number;
      /** The agent's features that the upgrader has, too. */
      features: string[];
      generation: number;
      role: 'first' | 'candidate' | 'fallback';
      previousVersion?: string;
      failure?: Failure;
      /**
       * An active agent must call heartbeat() at least once in every half of this time. If left
       * out, the upgrader wants no heartbeats.
       */
      watchdog?: number;
    }
  /**
   * Gives the work to this agent, now. If `clean` is false, the program must recover as after a
   * crash. `trial` (its length) and `commit` (the condition for passing it) are set only for an
   * agent on trial. `failure` is set only for a fallback (the previous version, started again) that
   * got its `welcome` before the upgrade failed.
   */
  | {
      type: 'activate';
      clean: boolean;
      state?: string;
      failure?: Failure;
      trial?: number;
      commit?: 'survive' | 'healthy';
    }
  /**
   * Asks the program to finish, give up all work, call stopped() and exit with status 0. `reason`
   * is `signal` if SIGTERM reached this process, and `end_of_input` if the upgrader has gone. Any
   * other stop is requested by the upgrader, and `deadline` is the time that is left for stopped().
   */
  | {
      type: 'stop';
      reason: 'upgrade' | 'rollback' | 'shutdown' | 'signal' | 'end_of_input';
      deadline?: number;
      id?: string;
      generation?: number;
    }
  | { type: 'accepted'; id: string; generation: number }
  /** The candidate is ready. The upgrader waits for this agent to call confirm() or cancel(). */
  | { type: 'candidate_ready'; id: string; generation: number; version?: string }
  /**
   * The candidate failed after this agent was told to stop. This agent should call cancel() and
   * stay active if it still can; otherwise it finishes its stop.
   */
  | { type: 'candidate_lost'; id: string; reason: string }
  | { type: 'upgrade_failed'; failure: Failure }
  | { type: 'committed'; id: string; generation: number }
  /**
   * The upgrader has refused a message of this agent. `about` is the type of that message, if it is
   * known.
   */
  | { type: 'error'; about?: string; reason: string };

/**
 * The terms of an upgrade that an agent requests. For a member that is left out, the upgrader uses
 * its own default.
 */
export interface Upgrade {
  /** 1 to 64 bytes of printable ASCII. */
  id: string;
  /** An absolute path. */
  executable: string;
  /** The arguments after the program's name; by default the arguments of this agent. */
  args?: string[];
  mode?: 'parallel' | 'sequential';
  gate?: 'none' | 'confirm';
  commit?: 'survive' | 'healthy';
  onUncleanStop?: 'fallback' | 'continue';
  startTimeout?: number;
  confirmTimeout?: number;
  stopTimeout?: number;
  trial?: number;
  /**
   * With "warm", this agent's program is started again and stands by while the new version is on
   * trial.
   */
  fallback?: 'cold' | 'warm';
}

/**
 * A start-up check. Returns, or resolves to, a string that says what is wrong. Returns null or
 * undefined if the check passes.
 */
export type Check = () => string | null | undefined | Promise<string | null | undefined>;

/**
 * The agent's end of the conversation with the upgrader. A process has one, and must open it before
 * anything else. A call that sends a message throws an error if the protocol does not allow the
 * message in the current state, if a text or a number is invalid, or if too much is still unsent.
 * Then nothing has been sent. ready() is the exception: if a check fails, ready() sends `unfit`,
 * and its promise is rejected.
 */
export class Agent implements AsyncIterable<AgentEvent> {
  private constructor();
  /**
   * Starts the conversation. `version` is the version of the program, at most 128 bytes. `features`
   * names the features that the program has, at most 16 names of at most 32 bytes. If the program
   * and the upgrader have the feature "readiness", a first agent or a fallback must call healthy():
   * the upgrader tells init only then, and not already at `activate`, that the service is ready.
   *
   * Throws an error with code EBUSY if this process has opened its conversation before, and with
   * code ENOTCONN if an agent has executed this program in its own place.
   */
  static open(version?: string, options?: { features?: string[] }): Agent;
  /**
   * True if there is no upgrader. In that case `activate` comes after ready(), and `stop` after
   * SIGTERM. upgrade() throws; every other call succeeds and has no effect.
   */
  readonly alone: boolean;
  /**
   * Closes the pipes, and stops catching SIGTERM. Sends nothing to the upgrader. Ends all waits for
   * an event.
   */
  close(): void;
  /** Returns the next event, or null if there is none now. */
  next(): AgentEvent | null;
  /**
   * Resolves to the next event, or to null when `timeout` is over, `signal` aborts, or the
   * conversation is closed. Rejects if the conversation was closed before. A wait keeps the process
   * alive, also without an upgrader.
   */
  wait(options?: { timeout?: number; signal?: AbortSignal }): Promise<AgentEvent | null>;
  /**
   * Yields events until the conversation is closed, so the program must leave its loop itself,
   * after `stop`.
   */
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent>;
  /** Registers a start-up check, to be run by ready() in the order of registration. */
  addCheck(name: string, check: Check): void;
  /**
   * Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit`, runs no
   * further check and rejects. The program must then exit without any other effect. If a check
   * throws an error, ready() rejects with that error, has sent nothing and may be called again.
   */
  ready(): Promise<void>;
  /**
   * Tells the upgrader that this agent must not get the work, or, if it is on trial, must not keep
   * the work. Resolves when the whole message has been written to the pipe, or the upgrader has
   * gone.
   */
  unfit(reason: string): Promise<void>;
  /** Requests an upgrade of this agent. The answer is the event `accepted` or `upgrade_failed`. */
  upgrade(asked: Upgrade): void;
  /** Confirms the upgrade `id`, whose candidate is ready. */
  confirm(id: string): void;
  /**
   * Cancels the upgrade `id`, so that this agent stays active. May be called even after a stop for
   * that upgrade, until stopped() has been called.
   */
  cancel(id: string, reason?: string): void;
  /**
   * Confirms a clean stop, and passes `state` to the next agent. All work must be finished or given
   * up before the call, and the program must exit after it. If the state is refused, nothing has
   * been confirmed. Resolves when the whole message has been written to the pipe, or the upgrader
   * has gone.
   */
  stopped(state?: string): Promise<void>;
  /**
   * Tells the upgrader that this agent works. If the agent is on trial, the upgrade is then
   * committed at once. With the feature "readiness", a first agent or a fallback must call this
   * function, and init is then told that the service is ready. With an upgrader, throws an error if
   * this agent is not active, if it has said `unfit`, or (without the feature) if it is not on
   * trial.
   */
  healthy(): void;
  /**
   * Asks for more time: moves this agent's current deadline to `ms` from now, unless the deadline
   * is later already. With the feature "readiness" an active agent has a deadline until it has
   * called healthy().
   */
  extend(ms: number): void;
  /** Tells the upgrader that this agent is alive. Allowed from `activate` to stopped(). */
  heartbeat(): void;
  /** Sends a status of one line for people, cut to 256 bytes. */
  status(text: string): void;
}

/**
 * At most one of registry, directory and url may be set. Without these three, npm's settings are
 * used.
 */
export interface UpdateOptions {
  /**
   * The agent that is to be replaced: update() requests the agent's upgrade. If left out, the
   * program is a daemon, and `agentify run --releases` requests the upgrade.
   */
  agent?: Agent;
  /** The URL of npm's registry. */
  registry?: string;
  /** A directory of files that `agent-releases pack` has made. */
  directory?: string;
  /** The URL of a manifest, which the publisher replaces for each newer version. */
  url?: string;
  /**
   * With directory and url: a directory of public keys. The manifest must be signed with one of
   * these keys.
   */
  keys?: string;
  /** How many of the newest releases are kept. If left out, none is removed. */
  keep?: number;
  /** The directory of releases. Default: the directory that contains this program. */
  releases?: string;
  /**
   * The package's name on the registry. Default: the name in the nearest package.json above this
   * program.
   */
  package?: string;
  /** The name for a new directory of releases. Default: `package` without its scope. */
  name?: string;
  /** The tag of the version on the registry. Default: `latest`. */
  tag?: string;
  /**
   * The program in the package's `bin` to run. Needed if `bin` has several programs, and none of
   * them is called `package`.
   */
  program?: string;
  /** Whether packages may run their install scripts, which native addons need. */
  scripts?: boolean;
  /**
   * The directory that contains the program agent-releases. Default: the npm package with the
   * upgrader's programs, or else PATH.
   */
  programs?: string;
  /** Without `agent`: how many milliseconds an upgrade may take to begin. Default: two minutes. */
  wait?: number;
  /** Aborts the update. A release that was added stays. */
  signal?: AbortSignal;
}

export interface Update {
  /**
   * The outcome of the update:
   * - `current`: there is no newer version.
   * - `installed`: the directory had no release, and now has its first release.
   * - `committed`: the newer version has passed its trial. Only a caller that the upgrade does not
   *   replace gets this outcome.
   * - `failed`: the upgrade to the newer version failed, now or at an earlier try. The version is
   *   tried again only if it did not cause the failure, for example after a failure at the stage
   *   `request`.
   * - `held`: an operator has chosen a version, so nothing was done.
   * - `stopping`: the agent has been told to stop. If `newest` is set, that version usually
   *   replaces the agent now.
   */
  outcome: 'current' | 'installed' | 'committed' | 'failed' | 'held' | 'stopping';
  /** The version that runs. */
  version?: string;
  /** With `failed` and `stopping`: the version that was tried. */
  newest?: string;
  /** With `failed`: the stage at which the upgrade failed, as in agent-protocol(7), and why. */
  stage?: string;
  reason?: string;
  /**
   * A failure that did not end the update: why old releases could not be removed, why a damaged
   * release was left out, or why the failure could not be recorded.
   */
  warning?: string;
}

/**
 * An update failed. `deed` names the step that failed, and `reason` says why. `status` is the exit
 * status of the program that was run for this step, if that program failed.
 */
export class UpdateError extends Error {
  readonly deed: string;
  readonly reason: string;
  readonly status?: number;
}

/**
 * Looks for a newer version, and replaces the daemon or the agent by it. Resolves when the upgrade
 * has ended; a daemon that is replaced is stopped before that. An agent still gets its events
 * meanwhile; its update waits until the agent is active and its own trial is over.
 *
 * Throws an UpdateError if the update fails, or if another update is under way. No release is then
 * half-written. A release that was added stays, and the next call continues with it.
 */
export function update(options?: UpdateOptions): Promise<Update>;
