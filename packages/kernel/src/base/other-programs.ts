/**
 * Whether this process runs other programs. One that never does gives up the right to: see `socket/confinement.ts`.
 */

let reason: string | undefined;
let isForbidden = false;

/**
 * Call it before the process becomes one that runs other programs.
 *
 * @param why for people: `the kubeconfig names a command`
 * @throws Error if it is too late
 */
export function needPrograms(why: string): void {
  if (isForbidden)
    throw new Error(
      `${why}: this process may run no programs any more. Restart it with PORTOLAN_SECCOMP=off.`,
    );
  reason ??= why;
}

/** Why the process runs other programs; undefined: it runs none. */
export function whyPrograms(): string | undefined {
  return reason;
}

/** The kernel refuses to run other programs from now on. */
export function notePrograms(state: 'forbidden' | 'allowed'): void {
  isForbidden = state === 'forbidden';
  if (!isForbidden) reason = undefined;
}
