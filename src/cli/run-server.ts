/**
 * Runs a server from its start to its end, in the surroundings of a process: its log, its environment, its signals.
 */
import { homedir } from 'node:os';
import { formatDuration } from '../config/duration.ts';
import type { LogPlan, ServerPlan } from '../config/plan.ts';
import { systemClock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { createLog } from '../observe/log.ts';
import type { Sidecar } from '../roles/sidecar/sidecar.ts';
import { Server } from '../server/server.ts';
import { countAnswered } from '../table/counter-sums.ts';
import { ExitError } from './exit.ts';
import { packageFolder } from './package-folder.ts';
import { onReportSignal, onStopSignal } from './signals.ts';
import { VERSION } from './version.ts';

/** How the process speaks. */
interface Voice {
  readonly command: string;
  readonly format: LogPlan['format'];
  readonly log: Log;
}

/**
 * @param command what it is run as, for messages
 * @throws ExitError if the server cannot be started; why is said by then
 */
export async function runServer(plan: ServerPlan, command: 'serve' | 'kube-dns'): Promise<void> {
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
    await startAndStop(plan, { command, format: plan.log.format, log });
  } finally {
    clearInterval(hold);
  }
}

async function startAndStop(plan: ServerPlan, voice: Voice): Promise<void> {
  const { log } = voice;
  const server = makeServer(plan, voice);
  const sidecar = await makeSidecar(plan, log);
  const stopped = new Promise<void>((resolve, reject) => {
    onStopSignal((signal) => {
      log.info('stopping', { signal, lameduck: formatDuration(plan.lameduck) });
      stopAll(server, sidecar).then(resolve, reject);
    });
  });
  onReportSignal(() => log.info('report', reportOf(server)));
  try {
    // Whoever asks how the server is may do so while it starts.
    await sidecar?.start();
    await server.start();
  } catch (error) {
    await stopAll(server, sidecar);
    giveUp(error, voice);
  }
  await stopped;
  log.info('stopped');
}

/** The sidecar goes last: it tells of the server until its end. */
async function stopAll(server: Server, sidecar: Sidecar | undefined): Promise<void> {
  await server.stop();
  await sidecar?.stop();
}

function makeServer(plan: ServerPlan, voice: Voice): Server {
  try {
    return new Server(plan, surroundings(voice.log));
  } catch (error) {
    return giveUp(error, voice);
  }
}

async function makeSidecar({ sidecar }: ServerPlan, log: Log): Promise<Sidecar | undefined> {
  if (sidecar === undefined) return undefined;
  const role = await import('../roles/sidecar/sidecar.ts');
  return new role.Sidecar(sidecar, { clock: systemClock, log });
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
function giveUp(error: unknown, { command, format, log }: Voice): never {
  const reason = error instanceof Error ? error.message : String(error);
  if (format === 'json') log.error('cannot serve', { reason });
  else process.stderr.write(`portolan ${command}: ${reason}\n`);
  log.debug('where it came from', { stack: error instanceof Error ? error.stack : undefined });
  throw new ExitError(1);
}

function reportOf(server: Server): Readonly<Record<string, string | number | boolean | undefined>> {
  const { ready, queries, table, dataAge, udp } = server.figures();
  return {
    ready,
    queries: countAnswered(queries),
    names: table.nodes,
    cached: table.cached,
    dataAgeSeconds: dataAge === undefined ? undefined : dataAge / 1000,
    ringDrops: udp?.slow.dropped,
    kernelDrops: udp?.kernelDrops,
  };
}
