/**
 * Runs a server process: log, environment and signals, from start to exit.
 */

import { systemClock } from '../base/clock.ts';
import { formatDuration, formatElapsed } from '../base/duration.ts';
import type { Log } from '../base/log.ts';
import { logLinesTo } from '../base/log-output.ts';
import type { MetricFamily } from '../base/metrics/family.ts';
import type { LogPlan, ServePlan } from '../config/plan.ts';
import { placeOfServer } from '../observe/control/control-place.ts';
import type { ControlSocket } from '../observe/control/control-socket.ts';
import { type AdjustableLog, createLog, usesColours } from '../observe/log.ts';
import type { Sidecar } from '../roles/sidecar/sidecar.ts';
import { createServerControl } from '../server/control/server-control.ts';
import type { Dashboard } from '../server/dashboard/dashboard.ts';
import { ServeFrontEnd } from '../server/serve/serve-front-end.ts';
import { Server } from '../server/server.ts';
import { countAnswered } from '../table/counter-sums.ts';
import { extendBlocks } from './blocks-extra.ts';
import { CarriedEvents } from './carried-events.ts';
import { ExitError } from './exit.ts';
import { CarriedAutoscaler } from './make-autoscaler.ts';
import { packageFolder } from './package-folder.ts';
import { serverDependencies } from './server-dependencies.ts';
import { onReloadSignal, onReopenSignal, onReportSignal, onStopSignal, stopHint } from './signals.ts';
import { type RunningTelemetry, startTelemetry } from './telemetry.ts';

/** How the process reports errors. */
interface Reporting {
  readonly command: string;
  readonly format: LogPlan['format'];
  readonly log: AdjustableLog;
}

/**
 * @param command the command's name, for messages
 * @throws ExitError if the server cannot start, after the reason is reported
 */
export async function runServer(plan: ServePlan, command: 'serve' | 'kube-dns'): Promise<void> {
  const log = createLog({
    level: plan.log.level,
    format: plan.log.format,
    colours: usesColours(process.stderr.isTTY === true, process.env),
    clock: systemClock,
    write: logLinesTo(process.stderr),
  });
  // Portolan's own timers are unreferenced; a server that waits for its cluster may have nothing else.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await startAndStop(plan, { command, format: plan.log.format, log });
  } finally {
    clearInterval(hold);
  }
}

async function startAndStop(plan: ServePlan, reporting: Reporting): Promise<void> {
  const { log } = reporting;
  const autoscaler = makeAutoscaler(plan, log);
  const server = await makeServer(plan, reporting, () => autoscaler?.families() ?? []);
  const sidecar = await makeSidecar(plan, log);
  const events = makeEvents(plan, log);
  const control = makeControl(plan, server, reporting);
  const dashboard = await makeDashboard(plan, control, log);
  const companions = [control, dashboard, sidecar, events];
  let telemetry: RunningTelemetry | undefined;
  const stopped = new Promise<void>((resolve, reject) => {
    onStopSignal((signal) => {
      log.info('stopping', { signal, lameduck: formatDuration(plan.lameduck), hint: stopHint(signal) });
      stopAll(server, companions, autoscaler)
        .then(() => telemetry?.stop())
        .then(resolve, reject);
    });
  });
  onReloadSignal(() => {
    server.reload().catch((error: unknown) => log.error('reload failed', { reason: String(error) }));
  });
  onReopenSignal(() => server.queryLog.reopen());
  onReportSignal(() => log.info('report', reportOf(server)));
  try {
    // Answer health checks already while the server starts.
    await sidecar?.start();
    await control.start();
    await dashboard?.start();
    if (dashboard !== undefined) log.info('serving the dashboard', { address: dashboard.url });
    await server.start();
    await autoscaler?.start();
    await events?.start(server);
    telemetry = await startTelemetry(server, reporting.command, log);
  } catch (error) {
    await stopAll(server, companions, autoscaler);
    giveUp(error, reporting);
  }
  await stopped;
  log.info('stopped');
}

type Stoppable = { stop(): Promise<void> } | undefined;

/** @param companions those that look at the server, and so stop after it */
async function stopAll(
  server: Server,
  companions: readonly Stoppable[],
  autoscaler: CarriedAutoscaler | undefined,
): Promise<void> {
  // Hand over the autoscaler's Lease while the server still answers.
  await Promise.all([server.stop(), autoscaler?.stop()]);
  for (const companion of companions) await companion?.stop();
}

async function makeServer(
  plan: ServePlan,
  reporting: Reporting,
  furtherMetrics: () => readonly MetricFamily[],
): Promise<Server> {
  try {
    const { log } = reporting;
    const given = { ...serverDependencies(log), furtherMetrics };
    const frontEnd = await extendBlocks(new ServeFrontEnd(plan, given), plan.blocksExtra, log);
    return new Server(frontEnd, given);
  } catch (error) {
    return giveUp(error, reporting);
  }
}

function makeControl(plan: ServePlan, server: Server, { log, format, command }: Reporting): ControlSocket {
  const place = placeOfServer(plan.controlSocket, command);
  return createServerControl({
    server,
    place,
    role: command,
    log,
    format,
    messages: log,
    clock: systemClock,
  });
}

async function makeDashboard(
  { dashboard: plan, listen }: ServePlan,
  control: ControlSocket,
  log: Log,
): Promise<Dashboard | undefined> {
  if (plan === undefined) return undefined;
  const { createOwnDashboard } = await import('../server/dashboard/dashboard.ts');
  const folder = packageFolder('dist/dashboard');
  const place = { ...plan, waitsForPort: listen.takeover };
  return createOwnDashboard({ ...place, carryOut: control.carryOut, folder, clock: systemClock, log });
}

async function makeSidecar({ sidecar }: ServePlan, log: Log): Promise<Sidecar | undefined> {
  if (sidecar === undefined) return undefined;
  const role = await import('../roles/sidecar/sidecar.ts');
  return new role.Sidecar(sidecar, { clock: systemClock, log });
}

function makeAutoscaler({ autoscaler, cluster }: ServePlan, log: Log): CarriedAutoscaler | undefined {
  const { objects } = cluster;
  if (autoscaler === undefined || objects.kind !== 'api-server') return undefined;
  return new CarriedAutoscaler(autoscaler, objects, log);
}

/**
 * Reports why the server cannot start: as plain text, or as a log line if the format is JSON.
 *
 * @throws ExitError
 */
function giveUp(error: unknown, { command, format, log }: Reporting): never {
  const reason = error instanceof Error ? error.message : String(error);
  if (format === 'json') log.error('cannot serve', { reason });
  else process.stderr.write(`portolan ${command}: ${reason}\n`);
  log.debug('stack trace', { stack: error instanceof Error ? error.stack : undefined });
  throw new ExitError(1);
}

function makeEvents({ events, cluster }: ServePlan, log: Log): CarriedEvents | undefined {
  const { objects } = cluster;
  if (events === undefined || objects.kind !== 'api-server') return undefined;
  return new CarriedEvents(events, objects, log);
}

function reportOf(server: Server): Readonly<Record<string, string | number | boolean | undefined>> {
  const { ready, queries, table, dataAge, udp } = server.stats();
  return {
    ready,
    queries: countAnswered(queries),
    names: table.nodes,
    cached: table.cached,
    dataAge: dataAge === undefined ? undefined : formatElapsed(dataAge),
    ringDrops: udp?.slow.dropped,
    kernelDrops: udp?.kernelDrops,
  };
}
