/**
 * The end of a start: the process gives up rights that it never uses again.
 *
 * An environment variable turns it off, since it is one for all commands, also for those whose command lines are another program's.
 */
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { notePrograms, whyPrograms } from '@portolan/kernel/base/other-programs.ts';

const VARIABLE = 'PORTOLAN_SECCOMP';
const OFF = 'off';

export interface DropPrivilegesOptions {
  readonly environment: Environment;
  readonly log: Log;
  /** See `confine` of `socket/confinement.ts`. */
  readonly confine: () => true | { readonly reason: string };
}

/** Says nothing if all is well: the log of a Corefile with `debug` is CoreDNS's, line by line. */
export function dropPrivileges({ environment, log, confine }: DropPrivilegesOptions): void {
  const reason = whyNot(environment);
  const result = reason === undefined ? confine() : { reason };
  if (result !== true) {
    log.debug('no seccomp filter: other programs could be run', result);
    return;
  }
  notePrograms('forbidden');
}

function whyNot(environment: Environment): string | undefined {
  if (readVariable(environment, VARIABLE) === OFF) return `${VARIABLE}=${OFF}`;
  return whyPrograms();
}
