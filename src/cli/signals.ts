/**
 * What signals do, from the first moment on: the entry imports this before all else.
 *
 * Until SIGUSR1 has a handler, it opens Node's inspector. A stop signal that arrives before there is a server ends the
 * process at once, and so does the second one ever.
 */
export type StopSignal = 'SIGINT' | 'SIGTERM';

const NUMBERS: Readonly<Record<StopSignal, number>> = { SIGINT: 2, SIGTERM: 15 };

let stop: ((signal: StopSignal) => void) | undefined;
let report: (() => void) | undefined;

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    const stopOnce = stop;
    stop = undefined;
    // What a shell reports of a process that a signal ended.
    if (stopOnce === undefined) process.exit(128 + NUMBERS[signal]);
    stopOnce(signal);
  });
}

process.on('SIGUSR1', () => report?.());

/** Calls `run` for the first stop signal. */
export function onStopSignal(run: (signal: StopSignal) => void): void {
  stop = run;
}

/** Calls `run` whenever an operator asks for a report (SIGUSR1, as dnsmasq does). */
export function onReportSignal(run: () => void): void {
  report = run;
}

/** Calls `run` whenever files are to be read again (SIGHUP). Until then it ends the process, as it does by itself. */
export function onReloadSignal(run: () => void): void {
  process.on('SIGHUP', run);
}

/** Calls `run` whenever the log was rotated (SIGUSR2). */
export function onReopenSignal(run: () => void): void {
  process.on('SIGUSR2', run);
}
