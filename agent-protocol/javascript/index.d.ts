// The types of the agent's half of agent-protocol(7). Times are in milliseconds.

export interface Failure {
  id: string;
  /** The stage at which the upgrade failed: one of those in agent-protocol(7), FAILURES. */
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
      features: string[];
      generation: number;
      role: 'first' | 'candidate' | 'fallback';
      previousVersion?: string;
      failure?: Failure;
      /** Send a heartbeat at least every half of this time. */
      watchdog?: number;
    }
  /**
   * Gives the work to this agent, now. If `clean` is false, the program must recover as after a
   * crash. A fallback that was started before the failure, as a standby, learns of it from
   * `failure`. An agent on trial gets `trial`, the length of the trial, and `commit`, which says
   * how to pass it.
   */
  | {
      type: 'activate';
      clean: boolean;
      state?: string;
      failure?: Failure;
      trial?: number;
      commit?: 'survive' | 'healthy';
    }
  /** Asks the program to finish, give up all work, call stopped() and exit with status 0. */
  | {
      type: 'stop';
      reason: 'upgrade' | 'rollback' | 'shutdown' | 'signal' | 'end_of_input';
      deadline?: number;
      id?: string;
      generation?: number;
    }
  | { type: 'accepted'; id: string; generation: number }
  /** The candidate is ready, and waits for this agent to call confirm() or cancel(). */
  | { type: 'candidate_ready'; id: string; generation: number; version?: string }
  /** The candidate failed after this agent was told to stop: call cancel() to keep the work. */
  | { type: 'candidate_lost'; id: string; reason: string }
  | { type: 'upgrade_failed'; failure: Failure }
  | { type: 'committed'; id: string; generation: number }
  /** The upgrader has refused a message of this agent. */
  | { type: 'error'; about?: string; reason: string };

/** The terms of a requested upgrade. If a member is left out, the upgrader uses its own default. */
export interface Upgrade {
  /** 1 to 64 bytes of printable ASCII. */
  id: string;
  /** An absolute path. */
  executable: string;
  /** The arguments after the program's name; by default those of this agent. */
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

/** A start-up check. Returns what is wrong, or nothing. */
export type Check = () => string | null | undefined | Promise<string | null | undefined>;

/**
 * One process has one agent, which must be opened first. A call that sends a message throws if the
 * protocol does not allow the message in the present state, or if the upgrader would refuse it.
 * Then nothing is sent.
 */
export class Agent implements AsyncIterable<AgentEvent> {
  private constructor();
  /** Throws an error with code EBUSY if this process has opened its conversation before. */
  static open(version?: string): Agent;
  /** True if there is no upgrader. The same calls then work, and lead through the same steps. */
  readonly alone: boolean;
  close(): void;
  next(): AgentEvent | null;
  wait(options?: { timeout?: number; signal?: AbortSignal }): Promise<AgentEvent | null>;
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent>;
  addCheck(name: string, check: Check): void;
  ready(): Promise<void>;
  /** Resolves when the whole message has been written to the pipe. */
  unfit(reason: string): Promise<void>;
  upgrade(asked: Upgrade): void;
  confirm(id: string): void;
  cancel(id: string, reason?: string): void;
  /** Resolves when the whole message has been written to the pipe. */
  stopped(state?: string): Promise<void>;
  healthy(): void;
  extend(ms: number): void;
  heartbeat(): void;
  status(text: string): void;
}

/** At most one of registry, directory and url may be set. Without them npm's settings are used. */
export interface UpdateOptions {
  /**
   * The agent that is to be replaced: update() requests its upgrade. If left out, the program is a
   * daemon, and `agentify run --releases` requests the upgrade.
   */
  agent?: Agent;
  /** The URL of npm's registry. */
  registry?: string;
  /** A directory of files that `agent-releases pack` has made. */
  directory?: string;
  /** The URL of a manifest, which the publisher replaces for each newer version. */
  url?: string;
  /** With directory and url: a directory of public keys. One of them has signed the manifest. */
  keys?: string;
  /** How many of the newest releases are kept. If left out, none is removed. */
  keep?: number;
  /** The directory of releases; left out: the one that contains this program. */
  releases?: string;
  /** The name on the registry; left out: that of the nearest package.json above this program. */
  package?: string;
  /** The name for a new directory of releases; left out: `package` without its scope. */
  name?: string;
  /** The tag of the version on the registry; left out: latest. */
  tag?: string;
  /** The program of `bin` to run; needed if `bin` has several, and none is called `package`. */
  program?: string;
  /** Whether packages may run their install scripts, which native addons need. */
  scripts?: boolean;
  /** The directory of agent-releases; left out: the npm package with the programs, or PATH. */
  programs?: string;
  /** Without `agent`: how many milliseconds an upgrade may take to begin; left out: two minutes. */
  wait?: number;
  /** Aborts the update. A release that was added stays. */
  signal?: AbortSignal;
}

export interface Update {
  /**
   * `current`: there is no newer version. `installed`: the directory had no release, and has its
   * first now. `committed`: the newer version has passed its trial; only a caller that the upgrade
   * does not replace gets this result. `failed`: the upgrade to the newer version failed, now or
   * before. The version is tried again only if the failure was not its fault, as after a failure at
   * the stage `request` or `cancel`. `held`: an operator has chosen a version, so nothing was done.
   * `stopping`: the agent has been told to stop. If `newest` is set, an upgrade to that version was
   * requested before, and usually that version replaces the agent now.
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
 * `deed` names the step that failed, and `reason` says why. `status` is the exit status of the
 * program that was run for this step, if that program failed.
 */
export class UpdateError extends Error {
  readonly deed: string;
  readonly reason: string;
  readonly status?: number;
}

/**
 * Looks for a newer version, and replaces the daemon or the agent by it. Resolves when the upgrade
 * has ended. A daemon that is replaced is stopped before that. An agent still gets its events. For
 * an agent, update() first waits until the agent is active and its own trial is over. Throws an
 * UpdateError if the update fails. No release is then half-written. A release that was added stays,
 * and the next call continues with that release. Only one call at a time is allowed.
 */
export function update(options?: UpdateOptions): Promise<Update>;
