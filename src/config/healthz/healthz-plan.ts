/**
 * The plan of the health server of older pods: which commands it runs, and where it serves their results by HTTP.
 */
export interface HealthzPlan {
  /** No two have the same path. */
  readonly checks: readonly CheckPlan[];
  /** 0: any free port. */
  readonly port: number;
  /** Milliseconds from the start of a command to its next start. */
  readonly period: number;
  /** Milliseconds after which a result is too old to say anything. */
  readonly latency: number;
  /** Milliseconds after which a command that still runs is killed. */
  readonly timeout: number;
  /** Whether a healthy answer is what the command printed, instead of `ok`. */
  readonly showsOutput: boolean;
}

export interface CheckPlan {
  readonly path: string;
  /** For `sh -c`. */
  readonly command: string;
}
