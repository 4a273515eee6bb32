/**
 * Serves a Corefile, for `coredns` and for programs around it.
 */
import { COREDNS_VERSION } from '@portolan/corefile/coredns-version.ts';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import { CoreDnsFrontEnd } from '@portolan/frontends/coredns/run/coredns-front-end.ts';
import { createCoreDnsLog } from '@portolan/frontends/coredns/run/coredns-log.ts';
import { CoreDnsMetrics } from '@portolan/frontends/coredns/run/coredns-metrics.ts';
import type { CoreDnsCommand } from '@portolan/frontends/coredns/settings/coredns-flags.ts';
import {
  type CorefileReading,
  type CorefileSettings,
  type GoodCorefile,
  readCorefile,
  readDigest,
  type ServerBlock,
} from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { logLinesTo } from '@portolan/kernel/base/log-output.ts';
import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import type { ServerEvidence } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';
import type { Companion } from '../process/life-cycle.ts';
import type { CompanionPlans } from '../process/server-companions.ts';
import { type OpenRole, type RoleContext, runServerProcess } from '../process/server-process.ts';
import { VERSION } from '../process/version.ts';
import { createCoreDnsManner } from './coredns-manner.ts';
import { CorefileLoadError, type CorefileText, loadCorefile, loadExtra } from './load-corefile.ts';
import { loadOutsidePlugins } from './load-outside-plugins.ts';
import { addressesByInterface } from './machine-interfaces.ts';

/** The flags of a server with a Corefile. */
export type CorefileFlags = Omit<Extract<CoreDnsCommand, { kind: 'run' }>, 'kind' | 'autoscaler' | 'events'>;

/** A program that serves a Corefile. */
export interface CorefileProgram {
  /** The command. */
  readonly role: 'coredns' | 'node-cache';
  readonly companionPlans: CompanionPlans;
  /** Prepares the machine, and the Corefile. */
  readonly prepare?: (http: HttpHost) => Promise<void>;
  /** Changes the blocks of the Corefile before they are served. */
  readonly adapt: (blocks: readonly ServerBlock[]) => readonly ServerBlock[];
  /** What is wrong with the settings that the Corefile is made from. */
  readonly settingsProblems?: () => readonly string[];
  /** That the node lacks packet filter rules which are to be set. */
  readonly missingRules?: () => ServerEvidence['missingRules'];
  /** Whether to join ports that another process serves. */
  readonly takeover: boolean;
  /** Until when after the stop signal to answer on while queries arrive, if the Corefile says nothing: milliseconds. */
  readonly drain: number;
  /** Makes a companion of this program. @param metrics those of the Corefile's `prometheus` */
  readonly accompany?: (server: Server, metrics: CoreDnsMetrics) => Companion;
}

/** Serves a Corefile until a stop signal. @returns the exit code */
export async function serveCorefile(flags: CorefileFlags, program: CorefileProgram): Promise<number> {
  const { role, companionPlans: companions, prepare } = program;
  const write = logLinesTo(process.stdout);
  const log = createCoreDnsLog({ isDebug: false, write });
  let blocks: readonly ServerBlock[] = [];
  const manner = createCoreDnsManner({ ...flags, role, log, write, blocks: () => blocks });
  return await runServerProcess({
    manner,
    companions,
    ...(prepare && { prepare }),
    async open(context) {
      await loadOutsidePlugins(flags.plugins);
      const reading = readFirst(flags, program, write);
      ({ blocks } = reading);
      // The plugin `debug`.
      if (blocks.some(({ plugins }) => plugins.some(({ name }) => name === 'debug'))) log.level = 'debug';
      return openFrontEnd(reading, flags, program, context);
    },
  });
}

function openFrontEnd(
  reading: GoodCorefile,
  flags: CorefileFlags,
  program: CorefileProgram,
  { dependencies, server }: RoleContext,
): OpenRole {
  const { conf, compat, metricsCompat, queryLog } = flags;
  const { settingsProblems, missingRules, takeover, drain, accompany } = program;
  const { restored } = compat;
  let metrics: CoreDnsMetrics | undefined;
  const frontEnd = new CoreDnsFrontEnd({
    ...dependencies,
    reading,
    takeover,
    queryLog,
    restored,
    drain: restored.has('drain') ? 0 : drain,
    digest: () => {
      const { file, text } = reloadCorefile(conf);
      return readDigest(text, makeSettings(file, flags));
    },
    read: () => adapt(readText(reloadCorefile(conf), flags), program),
    settingsProblems,
    missingRules,
    metrics: () => server().engine.metrics,
    metricsText: () => (metrics?.render() ?? '') + writeSortedFamilies(dependencies.furtherMetrics?.() ?? []),
    notReady: (wasReady) => [
      ...server().engine.serverBlocks.notReady(wasReady),
      ...(server().udpFault === undefined ? [] : ['udp']),
    ],
  });
  return {
    frontEnd,
    accompany(made) {
      metrics = new CoreDnsMetrics(made, metricsCompat);
      showBuild(made);
      return accompany === undefined ? [] : [accompany(made, metrics)];
    },
  };
}

/** A Corefile cannot be served. The message lists all problems. */
class CorefileError extends Error {
  override readonly name = 'CorefileError';
}

/** @throws CorefileError, CorefileLoadError */
function readFirst(
  flags: CorefileFlags,
  program: CorefileProgram,
  write: (text: string) => void,
): GoodCorefile {
  const reading = adapt(readText(loadCorefile(flags.conf), flags), program);
  for (const { message } of reading.warnings) if (message !== undefined) write(`[WARNING] ${message}\n`);
  if (reading.kind === 'bad')
    throw new CorefileError(reading.problems.map(describeCorefileProblem).join('\n'));
  return reading;
}

/** @throws Error with only the reason: callers of a reload add the context */
function reloadCorefile(conf: string | undefined): CorefileText {
  try {
    return loadCorefile(conf);
  } catch (error) {
    throw error instanceof CorefileLoadError ? new Error(error.reason) : error;
  }
}

function readText({ file, text }: CorefileText, flags: CorefileFlags): CorefileReading {
  return readCorefile(text, makeSettings(file, flags));
}

/** @throws CorefileLoadError */
function makeSettings(file: string, { port, blocksExtra, compat }: CorefileFlags): CorefileSettings {
  return {
    file,
    extra: blocksExtra === undefined ? undefined : loadExtra(blocksExtra),
    ...compat,
    defaultPort: Number(port),
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  };
}

function adapt(reading: CorefileReading, program: CorefileProgram): CorefileReading {
  return reading.kind === 'bad' ? reading : { ...reading, blocks: program.adapt(reading.blocks) };
}

/** Sets the metric that identifies this build. */
function showBuild({ engine }: Server): void {
  const labels = ['version', 'revision', 'goversion'];
  const help = 'A metric with a constant 1 value labeled by version, revision, and goversion of the build.';
  const gauge = engine.metrics.gauge('coredns_build_info', help, labels);
  gauge.set({ version: COREDNS_VERSION, revision: `portolan-${VERSION}`, goversion: '' }, 1);
}
