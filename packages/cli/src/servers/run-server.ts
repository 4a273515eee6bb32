/**
 * Runs a server of `serve` or `kube-dns` until a stop signal.
 */
import { ServeFrontEnd } from '@portolan/frontends/serve/run/serve-front-end.ts';
import type { ServePlan } from '@portolan/frontends/serve/settings/serve-options.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatDuration } from '@portolan/kernel/base/duration.ts';
import { placeOfServer } from '@portolan/server/observe/control/control-place.ts';
import { createErrorLog } from '../process/error-log.ts';
import type { Manner } from '../process/manner.ts';
import { printFailure } from '../process/print-problems.ts';
import { type CompanionPlans, NO_COMPANIONS } from '../process/server-companions.ts';
import { runServerProcess } from '../process/server-process.ts';
import { stopHint } from '../process/signals.ts';
import { openExtraPlugins } from './blocks-extra.ts';

/** @param command its name, for messages @returns the exit code */
export async function runServer(plan: ServePlan, command: 'serve' | 'kube-dns'): Promise<number> {
  return await runServerProcess({
    manner: createManner(plan, command),
    companions: planCompanions(plan),
    async open({ dependencies }) {
      const extra = await openExtraPlugins(plan.blocksExtra, dependencies.log);
      return { frontEnd: new ServeFrontEnd(plan, { ...dependencies, extra }) };
    },
  });
}

function createManner({ log: { level, format }, lameduck, controlSocket }: ServePlan, role: string): Manner {
  const log = createErrorLog(level, format);
  return {
    role,
    log,
    format,
    controlPlace: placeOfServer(controlSocket, role),
    reloadSignal: 'SIGHUP',
    noteStop: (signal) =>
      log.info('stopping', { signal, lameduck: formatDuration(lameduck), hint: stopHint(signal) }),
    end: () => log.info('stopped'),
    fail(error) {
      if (format === 'json') log.error('cannot serve', { reason: describeError(error) });
      else printFailure(role, error);
      log.debug('stack trace', { stack: error instanceof Error ? error.stack : undefined });
      return 1;
    },
  };
}

function planCompanions(plan: ServePlan): CompanionPlans {
  const { autoscaler, events } = plan;
  const { objects } = plan.cluster;
  return {
    ...NO_COMPANIONS,
    // Manifests in a folder have neither nodes nor Events.
    ...(objects.kind === 'api-server' && { cluster: objects, autoscaler, events }),
    dashboard: plan.dashboard,
    takeover: plan.listen.takeover,
    sidecar: plan.sidecar,
  };
}
