// Types of the agent's half of agent-protocol(7). Times are milliseconds.

export interface Failure {
  id: string;
  /** Where the first cause lies: a word of agent-protocol(7), FAILURES. */
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
      /** Send a heartbeat at least every half of it. */
      watchdog?: number;
    }
  /**
   * The work is yours, now. Where `clean` is false, recover as after a crash. A fallback that was
   * welcomed as a standby, before anything had failed, gets `failure` here. An agent on trial gets
   * `trial`, how long that lasts, and `commit`, what passes it.
   */
  | {
      type: 'activate';
      clean: boolean;
      state?: string;
      failure?: Failure;
      trial?: number;
      commit?: 'survive' | 'healthy';
    }
  /** Finish, give everything up, call stopped(), exit with status 0. */
  | {
      type: 'stop';
      reason: 'upgrade' | 'rollback' | 'shutdown' | 'signal' | 'end_of_input';
      deadline?: number;
      id?: string;
      generation?: number;
    }
  | { type: 'accepted'; id: string; generation: number }
  /** The candidate waits at the gate: call confirm() or cancel(). */
  | { type: 'candidate_ready'; id: string; generation: number; version?: string }
  /** The candidate failed after this agent was told to stop: call cancel() to keep the work. */
  | { type: 'candidate_lost'; id: string; reason: string }
  | { type: 'upgrade_failed'; failure: Failure }
  | { type: 'committed'; id: string; generation: number }
  /** Something that this agent sent was not obeyed. */
  | { type: 'error'; about?: string; reason: string };

/** What is left out is the upgrader's own default. */
export interface Upgrade {
  /** 1 to 64 bytes of printable ASCII. */
  id: string;
  /** An absolute path. */
  executable: string;
  /** The arguments after the program's name; left out: those of this agent. */
  args?: string[];
  mode?: 'parallel' | 'sequential';
  gate?: 'none' | 'confirm';
  commit?: 'survive' | 'healthy';
  onUncleanStop?: 'fallback' | 'continue';
  startTimeout?: number;
  confirmTimeout?: number;
  stopTimeout?: number;
  trial?: number;
  /** With "warm" this agent's program stands by, started again, while the new one is on trial. */
  fallback?: 'cold' | 'warm';
}

/** Says what is wrong, or nothing. */
export type Check = () => string | null | undefined | Promise<string | null | undefined>;

/**
 * One process has one agent, opened first of all. What it says throws, and nothing is sent, where
 * the protocol does not allow it now or the upgrader would not take it.
 */
export class Agent implements AsyncIterable<AgentEvent> {
  private constructor();
  /** Throws an error with code EBUSY if this process has opened its conversation before. */
  static open(version?: string): Agent;
  /** True where there is no upgrader: the same calls work, and lead through the same story. */
  readonly alone: boolean;
  close(): void;
  next(): AgentEvent | null;
  wait(options?: { timeout?: number; signal?: AbortSignal }): Promise<AgentEvent | null>;
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent>;
  addCheck(name: string, check: Check): void;
  ready(): Promise<void>;
  /** Resolves when the upgrader's pipe has taken it. */
  unfit(reason: string): Promise<void>;
  upgrade(asked: Upgrade): void;
  confirm(id: string): void;
  cancel(id: string, reason?: string): void;
  /** Resolves when the upgrader's pipe has taken it. */
  stopped(state?: string): Promise<void>;
  healthy(): void;
  extend(ms: number): void;
  heartbeat(): void;
  status(text: string): void;
}
