/**
 * Handles signals from the first moment on: the entry imports this module first.
 *
 * The first SIGTERM or SIGINT stops a server gracefully. A second one, or one before a server runs, ends the process immediately.
 * SIGHUP, SIGUSR1 and SIGUSR2 never end a command. By default SIGHUP and SIGUSR2 would do so, and SIGUSR1 would open Node's
 * inspector.
 */
export type StopSignal = 'SIGINT' | 'SIGTERM';

const NUMBERS: Readonly<Record<StopSignal, number>> = { SIGINT: 2, SIGTERM: 15 };

let stop: ((signal: StopSignal) => void) | undefined;
let report: () => void = () => {};
let reload: () => void = () => {};
let reopen: () => void = () => {};
const lastSteps: (() => void)[] = [];

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    const stopOnce = stop;
    stop = undefined;
    if (stopOnce === undefined) endBySignal(signal);
    else stopOnce(signal);
  });
}

process.on('exit', takeLastSteps);
process.on('SIGUSR1', () => report());
process.on('SIGHUP', () => reload());
process.on('SIGUSR2', () => reopen());

/** Ends the process like an unhandled signal: `process.exit()` may wait for V8 threads (see portolan.ts). */
function endBySignal(signal: StopSignal): void {
  takeLastSteps();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // In a container, the kernel does not deliver unhandled signals to process 1.
  process.exit(128 + NUMBERS[signal]);
}

function takeLastSteps(): void {
  for (const step of lastSteps.splice(0)) step();
}

/** Registers a synchronous `step` for the end of the process; only SIGKILL and a crash skip it. */
export function onEnd(step: () => void): void {
  lastSteps.push(step);
}

/**
 * Calls `run` for the first stop signal; the next one ends the process.
 *
 * @param again handles the next signal instead
 */
export function onStopSignal(run: (signal: StopSignal) => void, again?: (signal: StopSignal) => void): void {
  stop = (signal) => {
    stop = again;
    run(signal);
  };
}

/** Calls `run` for SIGQUIT, which would otherwise dump core. */
export function onQuitSignal(run: () => void): void {
  process.on('SIGQUIT', run);
}

/** A hint for the log line of the first stop signal; undefined if a user did not press Ctrl-C. */
export function stopHint(signal: StopSignal): string | undefined {
  return signal === 'SIGINT' ? 'Press Ctrl-C again to end at once.' : undefined;
}

/** Calls `run` when an operator requests a report (SIGUSR1, as in dnsmasq). */
export function onReportSignal(run: () => void): void {
  report = run;
}

/** Calls `run` when files are to be reread (SIGHUP). */
export function onReloadSignal(run: () => void): void {
  reload = run;
}

/** Calls `run` after the log is rotated (SIGUSR2). */
export function onReopenSignal(run: () => void): void {
  reopen = run;
}
