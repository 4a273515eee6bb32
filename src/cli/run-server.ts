/**
 * Runs a server from its start to its end, in the surroundings of a process: its log, its environment, its signals.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { LogPlan, ServerPlan } from '../config/plan.ts';
import { systemClock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createLog } from '../observe/log.ts';
import { Server } from '../server/server.ts';
import { ExitError } from './exit.ts';
import { onReportSignal, onStopSignal } from './signals.ts';
import { VERSION } from './version.ts';

/** @throws ExitError if the server cannot be started; why is said by then */
export async function runServer(plan: ServerPlan): Promise<void> {
  // A collector of lines that goes away must not end the server.
  process.stderr.on('error', () => {});
  const log = createLog({
    ...plan.log,
    clock: systemClock,
    write: (line) => void process.stderr.write(line),
  });
  // Timers alone keep no process alive, and a server that waits for its cluster may have nothing else.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await runToTheEnd(new Server(plan, surroundings(log)), plan, log);
  } finally {
    clearInterval(hold);
  }
}

async function runToTheEnd(server: Server, plan: ServerPlan, log: Log): Promise<void> {
  const stopped = new Promise<void>((resolve, reject) => {
    onStopSignal((signal) => {
      log.info('stopping', { signal, lameduck: plan.lameduck / 1000 });
      server.stop().then(resolve, reject);
    });
  });
  onReportSignal(() => log.info('report', reportOf(server)));
  try {
    await server.start();
  } catch (error) {
    sayWhyNot(error, plan.log, log);
    await server.stop();
    throw new ExitError(1);
  }
  await stopped;
  log.info('stopped');
}

function surroundings(log: Log) {
  return {
    environment: process.env,
    home: homedir(),
    exampleFolder: findExample(),
    readerEntry: new URL('./reader.js', import.meta.url),
    version: VERSION,
    clock: systemClock,
    log,
  };
}

/** The example lies in the package: beside `dist/` when built, two folders up in the source. */
function findExample(): string {
  const built = fileURLToPath(new URL('../examples/cluster', import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL('../../examples/cluster', import.meta.url));
}

/** For people in their own words; for collectors as a line like any other. */
function sayWhyNot(error: unknown, { format }: LogPlan, log: Log): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (format === 'json') log.error('cannot serve', { reason });
  else process.stderr.write(`portolan serve: ${reason}\n`);
}

function reportOf(server: Server): Readonly<Record<string, string | number | boolean | undefined>> {
  const { ready, queries, table, dataAge, udp } = server.figures();
  return {
    ready,
    queries: queries.byTypeAndRcode.reduce((sum, { count }) => sum + count, 0),
    names: table.nodes,
    cached: table.cached,
    dataAgeSeconds: dataAge === undefined ? undefined : dataAge / 1000,
    ringDrops: udp?.slow.dropped,
    kernelDrops: udp?.kernelDrops,
  };
}
