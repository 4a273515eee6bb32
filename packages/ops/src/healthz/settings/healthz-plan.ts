/**
 * The settings of exechealthz: commands to run, and where to serve their results over HTTP.
 */
export interface HealthzPlan {
  /** Paths are unique. */
  readonly checks: readonly HealthzCheck[];
  /** 0: any free port. */
  readonly port: number;
  /** Milliseconds between starts of a command. */
  readonly period: number;
  /** Milliseconds after which a result is too old to count. */
  readonly latency: number;
  /** Milliseconds after which a running command is killed. */
  readonly timeout: number;
  /** Whether a healthy response is the output of the command instead of `ok`. */
  readonly showsOutput: boolean;
}

export interface HealthzCheck {
  readonly path: string;
  /** The command for `sh -c`. */
  readonly command: string;
}
