/**
 * What signals do, from the first moment on: the entry imports this before all else.
 *
 * SIGTERM and SIGINT stop a server in good order. A second one, and any that comes before there is a server, ends the
 * process at once. SIGHUP, SIGUSR1 and SIGUSR2 never end it in any command: by default the first would, the second would
 * open Node's inspector, the third would end it.
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

/** Ends the process at once, as a signal without a handler does: `process.exit()` may wait for threads of V8 (see portolan.ts). */
function endBySignal(signal: StopSignal): void {
  takeLastSteps();
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The kernel sends process 1 of a container no signal that has no handler.
  process.exit(128 + NUMBERS[signal]);
}

function takeLastSteps(): void {
  for (const step of lastSteps.splice(0)) step();
}

/** Calls `step`, which must not wait, when the process ends, however it does: only SIGKILL and a crash go without. */
export function onEnd(step: () => void): void {
  lastSteps.push(step);
}

/**
 * Calls `run` for the first stop signal; the next one ends the process.
 *
 * @param again called for the next one instead
 */
export function onStopSignal(run: (signal: StopSignal) => void, again?: (signal: StopSignal) => void): void {
  stop = (signal) => {
    stop = again;
    run(signal);
  };
}

/** Calls `run` for SIGQUIT, which else ends the process with a memory image. */
export function onQuitSignal(run: () => void): void {
  process.on('SIGQUIT', run);
}

/** How to end at once, for the line that tells of the first stop signal; nothing where no person pressed a key. */
export function stopHint(signal: StopSignal): string | undefined {
  return signal === 'SIGINT' ? 'Press Ctrl-C again to end at once.' : undefined;
}

/** Calls `run` whenever an operator asks for a report (SIGUSR1, as dnsmasq does). */
export function onReportSignal(run: () => void): void {
  report = run;
}

/** Calls `run` whenever files are to be read again (SIGHUP). */
export function onReloadSignal(run: () => void): void {
  reload = run;
}

/** Calls `run` whenever the log was rotated (SIGUSR2). */
export function onReopenSignal(run: () => void): void {
  reopen = run;
}
