/**
 * `portolan coredns`: CoreDNS's command line, with CoreDNS's start-up lines and exit codes.
 */

import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { logLinesTo } from '../base/log-output.ts';
import { writeSortedFamilies } from '../base/metrics/text-format.ts';
import { type CoreDnsCommand, readCoreDnsFlags } from '../config/corefile/coredns-flags.ts';
import { listPlugins } from '../config/corefile/plugin-order.ts';
import {
  type CorefileReading,
  type GoodCorefile,
  readCorefile,
  type ServerBlock,
} from '../config/corefile/read-corefile.ts';
import { startLines } from '../config/corefile/start-lines.ts';
import { findDefaultDrain } from '../config/server/drain.ts';
import { pluginUses } from '../config/server/server-blocks-plan.ts';
import { loadPlugins } from '../contract/plugin-use.ts';
import { COREDNS_VERSION } from '../corefile/coredns-version.ts';
import { DISK_FILES } from '../corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '../corefile/syntax/findings.ts';
import { describeReadFault } from '../corefile/syntax/importer.ts';
import { ALL_RESTORED, NOTHING_RESTORED } from '../deviations/table.ts';
import { placeOfServer } from '../observe/control/control-place.ts';
import type { ServerEvidence } from '../reasons/finding.ts';
import { createServerControl } from '../server/control/server-control.ts';
import { CoreDnsFrontEnd } from '../server/coredns/coredns-front-end.ts';
import { createCoreDnsLog } from '../server/coredns/coredns-log.ts';
import { CoreDnsMetrics } from '../server/coredns/coredns-metrics.ts';
import { PidFile } from '../server/pid-file.ts';
import { findUdpFault } from '../server/readiness.ts';
import { Server } from '../server/server.ts';
import { formatSocketAddress } from '../socket/addresses.ts';
import { PortInUseError, SocketError } from '../socket/socket-error.ts';
import { CarriedEvents } from './carried-events.ts';
import { CorefileLoadError, type CorefileText, loadCorefile, loadExtra } from './load-corefile.ts';
import { loadOutsidePlugins } from './load-outside-plugins.ts';
import { addressesByInterface } from './machine-interfaces.ts';
import { CarriedAutoscaler } from './make-autoscaler.ts';
import { serverDependencies } from './server-dependencies.ts';
import { onEnd, onQuitSignal, onReopenSignal, onReportSignal, onStopSignal } from './signals.ts';
import { type RunningTelemetry, startTelemetry } from './telemetry.ts';
import { VERSION } from './version.ts';

export type RunPlan = Extract<CoreDnsCommand, { kind: 'run' }>;

/** @param words the arguments after the command @returns the exit code */
export async function runCoreDns(words: readonly string[]): Promise<number> {
  const command = readCoreDnsFlags(words);
  switch (command.kind) {
    case 'end':
      process.stderr.write(command.text);
      return command.exitCode;
    case 'version':
    case 'plugins':
      return printAbout(command.kind);
    case 'run':
      return await serveCorefile(command);
  }
}

/** Prints information about the program. @returns the exit code */
export function printAbout(subject: 'version' | 'plugins'): number {
  process.stdout.write(subject === 'version' ? corednsBanner() : listPlugins());
  return 0;
}

/** Hooks for a program that runs around the server. */
export interface ServingSteps {
  /** The command. */
  readonly role: string;
  /** Changes the blocks of the Corefile before they are served. */
  adapt(blocks: readonly ServerBlock[]): readonly ServerBlock[];
  /** What is wrong with the settings that the Corefile is made from. */
  settingsProblems?(): readonly string[];
  /** That the node lacks packet filter rules which are to be set. */
  missingRules?(): ServerEvidence['missingRules'];
  /** Whether to join ports that another process serves. */
  readonly takeover: boolean;
  /** Until when after the stop signal to answer on while queries arrive, if the Corefile says nothing: milliseconds. */
  readonly drain: number;
  /** Called when the server answers queries. @param writeMetrics renders the metrics of the Corefile's `prometheus` */
  serving(server: Server, writeMetrics: () => string): void;
  /** Called before the server stops; `stopped` is called after it. */
  stopping(): Promise<void>;
  stopped(): Promise<void>;
}

const NO_STEPS: ServingSteps = {
  role: 'coredns',
  adapt: (blocks) => blocks,
  takeover: false,
  drain: findDefaultDrain(process.env),
  serving() {},
  async stopping() {},
  async stopped() {},
};

/** Serves a Corefile until a stop signal. @returns the exit code */
export async function serveCorefile(command: RunPlan, steps: ServingSteps = NO_STEPS): Promise<number> {
  try {
    await loadOutsidePlugins(command.plugins);
    const corefile = loadCorefile(command.conf);
    const read = () => adapt(readText(reloadCorefile(command.conf), command), steps);
    const reading = adapt(readText(corefile, command), steps);
    const write = logLinesTo(process.stdout);
    for (const { message } of reading.warnings) if (message !== undefined) write(`[WARNING] ${message}\n`);
    if (reading.kind === 'bad') {
      for (const problem of reading.problems) process.stderr.write(`${describeCorefileProblem(problem)}\n`);
      return 1;
    }
    return await runUntilStopped(command, { reading, read, steps, write });
  } catch (error) {
    process.stderr.write(`${describeStartFailure(error)}\n`);
    return 1;
  }
}

/** @throws Error with only the reason: callers of a reload add the context */
function reloadCorefile(conf: string | undefined): CorefileText {
  try {
    return loadCorefile(conf);
  } catch (error) {
    throw error instanceof CorefileLoadError ? new Error(error.reason) : error;
  }
}

function readText({ file, text }: CorefileText, { port, blocksExtra, compat }: RunPlan): CorefileReading {
  return readCorefile(text, {
    file,
    extra: blocksExtra === undefined ? undefined : loadExtra(blocksExtra),
    profile: compat ?? '1.14',
    restored: compat === undefined ? NOTHING_RESTORED : ALL_RESTORED,
    defaultPort: Number(port),
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
}

function adapt(reading: CorefileReading, steps: ServingSteps): CorefileReading {
  return reading.kind === 'bad' ? reading : { ...reading, blocks: steps.adapt(reading.blocks) };
}

interface Run {
  readonly reading: GoodCorefile;
  /** Reads the current Corefile. */
  readonly read: () => CorefileReading;
  readonly steps: ServingSteps;
  /** Writes to the log, which is standard output. */
  readonly write: (text: string) => void;
}

async function runUntilStopped(
  {
    isQuiet,
    pidFile,
    compat,
    metricsCompat,
    queryLog,
    autoscaler: autoscalerPlan,
    events: eventsPlan,
  }: RunPlan,
  { reading, read, steps, write }: Run,
): Promise<number> {
  const { blocks } = reading;
  const { takeover } = steps;
  const restored = compat === undefined ? NOTHING_RESTORED : ALL_RESTORED;
  const isDebug = blocks.some(({ plugins }) => plugins.some(({ name }) => name === 'debug'));
  const log = createCoreDnsLog({ isDebug, write });
  const dependencies = serverDependencies(log);
  const frontEnd = new CoreDnsFrontEnd({
    ...{ reading, takeover, queryLog },
    restored,
    drain: restored.has('drain') ? 0 : steps.drain,
    read,
    settingsProblems: steps.settingsProblems,
    missingRules: steps.missingRules,
    onServing: () => {
      if (pidFile !== undefined) keepPidFile(pidFile, log);
      if (!isQuiet) write([...startLines(blocks), corednsBanner()].join('\n'));
    },
    metrics: () => server.engine.metrics,
    metricsText: () => metrics.render() + writeSortedFamilies(autoscaler?.families() ?? []),
    notReady: (wasReady) => [
      ...server.engine.serverBlocks.notReady(wasReady),
      ...(findUdpFault(server.stats().udp) === undefined ? [] : ['udp']),
    ],
    ...dependencies,
  });
  await loadPlugins(pluginUses(frontEnd.plan.engine));
  const server = new Server(frontEnd, dependencies);
  const metrics = new CoreDnsMetrics(server, metricsCompat);
  showBuild(server);
  const autoscaler = autoscalerPlan && new CarriedAutoscaler(autoscalerPlan, ANY_CLUSTER, log);
  const events = eventsPlan && new CarriedEvents(eventsPlan, ANY_CLUSTER, log);
  const control = createServerControl({
    ...{ server, place: placeOfServer(undefined, steps.role), role: steps.role, log, messages: log },
    format: 'text',
    clock: systemClock,
  });
  let telemetry: RunningTelemetry | undefined;
  const stopped = followSignals(server, log);
  // Portolan's own timers are unreferenced; this one keeps the process alive.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await control.start();
    // The start may wait for a cluster or etcd; a signal ends that wait.
    const isServing = await Promise.race([server.start().then(() => true), stopped.then(() => false)]);
    if (!isServing) return 0;
    steps.serving(server, () => metrics.render());
    await autoscaler?.start();
    await events?.start(server);
    telemetry = await startTelemetry(server, steps.role, log);
    await stopped;
    await steps.stopping();
  } finally {
    clearInterval(hold);
    // Hand over the autoscaler's Lease while the server still answers.
    await Promise.all([server.stop(), autoscaler?.stop(), events?.stop()]);
    await telemetry?.stop();
    await control.stop();
    await steps.stopped();
  }
  return 0;
}

/** Called once the server answers queries, because others wait for the file. As in CoreDNS, a failure does not stop the server. */
function keepPidFile(path: string, log: Log): void {
  try {
    const file = PidFile.write(path, 'any');
    onEnd(() => file.remove());
  } catch (error) {
    log.error(`Could not write pidfile: open ${path}: ${describeReadFault(error)}`);
  }
}

/** The cluster of the pod or of the user's kubeconfig. */
const ANY_CLUSTER = { kubecfgFile: undefined, context: undefined, masterUrl: undefined };

/** @returns a promise that resolves at the first stop signal */
function followSignals(server: Server, log: Log): Promise<void> {
  onReportSignal(() => void server.reload());
  onReopenSignal(() => server.queryLog.reopen());
  onQuitSignal(() => {
    log.info('SIGQUIT: Quitting process immediately');
    process.exit(0);
  });
  return new Promise((resolve) =>
    onStopSignal(
      (signal) => {
        log.info(
          signal === 'SIGTERM' ? 'SIGTERM: Shutting down servers then terminating' : 'SIGINT: Shutting down',
        );
        resolve();
      },
      (signal) => {
        if (signal !== 'SIGINT') return;
        log.info('SIGINT: Force quit');
        process.exit(2);
      },
    ),
  );
}

/** Sets the metric that identifies this build. */
function showBuild({ engine }: Server): void {
  const labels = ['version', 'revision', 'goversion'];
  const help = 'A metric with a constant 1 value labeled by version, revision, and goversion of the build.';
  const gauge = engine.metrics.gauge('coredns_build_info', help, labels);
  gauge.set({ version: COREDNS_VERSION, revision: `portolan-${VERSION}`, goversion: '' }, 1);
}

/** Uses CoreDNS's message where it has one. */
function describeStartFailure(error: unknown): string {
  if (error instanceof PortInUseError) {
    const { endpoint, transport } = error;
    return `Listen: listen ${transport} ${formatSocketAddress(endpoint)}: bind: address already in use\n  ${error.message}`;
  }
  if (error instanceof SocketError && error.code === 'EADDRNOTAVAIL') {
    const address = formatSocketAddress(error.endpoint);
    return `Listen: listen tcp ${address}: bind: cannot assign requested address\n  ${error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** The CoreDNS version that Portolan implements, and Portolan's own version. */
function corednsBanner(): string {
  const { platform, arch, version } = process;
  const machine = arch === 'x64' ? 'amd64' : arch;
  return `CoreDNS-${COREDNS_VERSION}\n${platform}/${machine}, portolan-${VERSION}, node ${version}\n`;
}
