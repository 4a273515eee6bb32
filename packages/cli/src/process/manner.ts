/**
 * What a role does as a process in its own way, because users and supervisors of its original rely on it.
 */
import type { ControlPlace } from '@portolan/server/observe/control/control-place.ts';
import type { AdjustableLog } from '@portolan/server/observe/log.ts';
import type { LogFormat } from '@portolan/server/plan/query-log-plan.ts';
import type { Server } from '@portolan/server/server.ts';
import type { StopSignal } from './signals.ts';

export interface Manner {
  /** The command: in messages, telemetry and the name of the control socket. */
  readonly role: string;
  readonly log: AdjustableLog;
  /** The default format of the query log. */
  readonly format: LogFormat;
  readonly controlPlace: ControlPlace;
  /** Whether {@link settle} changes the user. The control socket then opens after it: the kernel tells clients who began to listen. */
  readonly changesUser?: boolean;
  /** The signal that rereads the configuration. SIGUSR1 writes a report where it does not; SIGUSR2 reopens logs in every role. */
  readonly reloadSignal: 'SIGHUP' | 'SIGUSR1';
  /** Writes a report to the log. Default: one line with the state and the counts of the server. */
  readonly report?: (server: Server) => void;
  /** Reopens the file of the log after a rotation. */
  readonly reopenLog?: () => void;
  /** Handles SIGQUIT, which otherwise ends the process with a core dump. */
  readonly quit?: () => void;
  /** Says that the process stops. */
  readonly noteStop: (signal: StopSignal) => void;
  /** Handles a second stop signal. Default: it ends the process at once. */
  readonly stopAgain?: (signal: StopSignal) => void;
  /** The server answers: writes the pid file, drops rights, prints the banner. @throws the reason why the process cannot go on */
  readonly settle?: () => void;
  /** Everything has stopped after a stop signal: last lines of the log. */
  readonly end?: () => void;
  /** The exit code after a stop signal. Default: 0. */
  readonly exitCode?: (signal: StopSignal) => number;
  /** Prints why the process cannot run. @returns the exit code */
  readonly fail: (error: unknown) => number;
}
