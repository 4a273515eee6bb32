/**
 * Runs a server as a process: the one place where front end, companions, signals and exit codes meet, for every role.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import { loadPlugins } from '@portolan/kernel/contract/plugin-use.ts';
import { pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { countAnswered } from '@portolan/kernel/table/counter-sums.ts';
import type { FrontEnd } from '@portolan/server/front-end.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import { Server, type ServerDependencies } from '@portolan/server/server.ts';
import { holdProcess } from './hold-process.ts';
import { type Companion, type Life, runLifeCycle } from './life-cycle.ts';
import type { Manner } from './manner.ts';
import { createHttpHost } from './process-http.ts';
import { type CompanionPlans, createAutoscaler, createCompanions } from './server-companions.ts';
import { serverDependencies } from './server-dependencies.ts';
import { onQuitSignal, onReloadSignal, onReopenSignal, onReportSignal } from './signals.ts';
import { StopRequest } from './stop-request.ts';

/** What distinguishes a role of the program that serves DNS. */
export interface ServerRole {
  readonly manner: Manner;
  readonly companions: CompanionPlans;
  /** Prepares the machine before the configuration is read. It is never abandoned: a stop signal counts after it. */
  readonly prepare?: (http: HttpHost) => Promise<void>;
  /** Makes the front end. A stop signal abandons it, so it holds nothing that must be closed. @throws the reason */
  readonly open: (context: RoleContext) => Promise<OpenRole>;
}

/** The parts of the process that a role may use. */
export interface RoleContext {
  readonly dependencies: ServerDependencies;
  /** The server, once it is made: for calls after {@link ServerRole.open}. */
  readonly server: () => Server;
}

export interface OpenRole {
  readonly frontEnd: FrontEnd;
  /**
   * Connects the role to the server that was made with its front end.
   *
   * @returns the companions of this role alone; they start last and stop first
   */
  readonly accompany?: (server: Server) => readonly Companion[];
}

/** @returns the exit code when the server has stopped or cannot run */
export async function runServerProcess(role: ServerRole): Promise<number> {
  const { manner } = role;
  const { noteStop, stopAgain, exitCode = () => 0 } = manner;
  const stop = new StopRequest(noteStop, stopAgain);
  const http = createHttpHost(manner.log);
  try {
    await holdProcess(() => prepareAndServe(role, http, stop));
    manner.end?.();
    return exitCode(await stop.signal);
  } catch (error) {
    return manner.fail(error);
  } finally {
    await http.stop();
  }
}

async function prepareAndServe(role: ServerRole, http: HttpHost, stop: StopRequest): Promise<void> {
  await role.prepare?.(http);
  const life = stop.isMade ? undefined : await stop.race(createLife(role, http, stop));
  if (life !== undefined) await runLifeCycle(life);
}

async function createLife(
  { manner, companions, open }: ServerRole,
  http: HttpHost,
  stop: StopRequest,
): Promise<Life> {
  const { log, settle } = manner;
  const autoscaler = await createAutoscaler(companions, log);
  const furtherMetrics = () => autoscaler?.families() ?? [];
  const dependencies: ServerDependencies = { ...serverDependencies(log), http, furtherMetrics };
  const { frontEnd, accompany } = await open({ dependencies, server: () => server });
  await loadPlugins(pluginUses(frontEnd.plan.engine));
  const server = new Server(frontEnd, dependencies);
  const own = accompany?.(server) ?? [];
  const common = await createCompanions(companions, { server, http, manner, autoscaler });
  followSignals(server, manner);
  return { server, companions: [...common, ...own], stop, settle };
}

function followSignals(
  server: Server,
  { log, reloadSignal, report = reportState(log), reopenLog, quit }: Manner,
): void {
  const reload = () => {
    server.reload().catch((error: unknown) => log.error('reload failed', { reason: String(error) }));
  };
  if (reloadSignal === 'SIGHUP') onReloadSignal(reload);
  onReportSignal(reloadSignal === 'SIGUSR1' ? reload : () => report(server));
  onReopenSignal(() => {
    server.queryLog.reopen();
    try {
      reopenLog?.();
    } catch (error) {
      log.error(describeError(error));
    }
  });
  if (quit !== undefined) onQuitSignal(quit);
}

function reportState(log: Manner['log']): (server: Server) => void {
  return (server) => {
    const { ready, queries, table, dataAge, udp } = server.stats();
    log.info('report', {
      ready,
      queries: countAnswered(queries),
      names: table.nodes,
      cached: table.cached,
      dataAge: dataAge === undefined ? undefined : formatElapsed(dataAge),
      ringDrops: udp?.slow.dropped,
      kernelDrops: udp?.kernelDrops,
    });
  };
}
