/**
 * Problems and notes collected while a configuration is read.
 */
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

export interface DnsmasqProblem extends Problem {
  /** The exit code of dnsmasq if this were the first problem. */
  readonly exitCode: ExitCode;
}

export interface Note {
  /** The option, or the file and line. */
  readonly where: string;
  /** A whole sentence. */
  readonly text: string;
}

export class Findings {
  readonly problems: DnsmasqProblem[] = [];
  readonly notes: Note[] = [];

  refuse(
    where: string,
    fault: string,
    value: string | undefined,
    remedy: string,
    exitCode: ExitCode = EXIT.BAD_CONFIGURATION,
  ): void {
    this.problems.push({ where, fault, value, remedy, exitCode });
  }

  note(where: string, text: string): void {
    this.notes.push({ where, text });
  }
}
