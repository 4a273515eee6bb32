/**
 * Runs a server from its start to its end, in the surroundings of a process: its log, its environment, its signals.
 */
import { homedir } from 'node:os';
import { formatDuration } from '../config/duration.ts';
import type { LogPlan, ServerPlan } from '../config/plan.ts';
import { systemClock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createLog } from '../observe/log.ts';
import { Server } from '../server/server.ts';
import { ExitError } from './exit.ts';
import { packageFolder } from './package-folder.ts';
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
    await startAndStop(plan, log);
  } finally {
    clearInterval(hold);
  }
}

async function startAndStop(plan: ServerPlan, log: Log): Promise<void> {
  const server = makeServer(plan, log);
  const stopped = new Promise<void>((resolve, reject) => {
    onStopSignal((signal) => {
      log.info('stopping', { signal, lameduck: formatDuration(plan.lameduck) });
      server.stop().then(resolve, reject);
    });
  });
  onReportSignal(() => log.info('report', reportOf(server)));
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    giveUp(error, plan.log, log);
  }
  await stopped;
  log.info('stopped');
}

function makeServer(plan: ServerPlan, log: Log): Server {
  try {
    return new Server(plan, surroundings(log));
  } catch (error) {
    return giveUp(error, plan.log, log);
  }
}

function surroundings(log: Log) {
  return {
    environment: process.env,
    home: homedir(),
    exampleFolder: packageFolder('examples/cluster'),
    readerEntry: new URL('./reader.js', import.meta.url),
    version: VERSION,
    clock: systemClock,
    log,
  };
}

/**
 * Says why there is no server: for people in plain words, for collectors as a line like any other.
 *
 * @throws ExitError
 */
function giveUp(error: unknown, { format }: LogPlan, log: Log): never {
  const reason = error instanceof Error ? error.message : String(error);
  if (format === 'json') log.error('cannot serve', { reason });
  else process.stderr.write(`portolan serve: ${reason}\n`);
  log.debug('where it came from', { stack: error instanceof Error ? error.stack : undefined });
  throw new ExitError(1);
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
