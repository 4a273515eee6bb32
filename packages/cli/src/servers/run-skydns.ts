/**
 * Runs a server of `skydns` until a stop signal.
 */
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { ConfigKeyError, readConfigKey } from '@portolan/frontends/skydns/run/config-key.ts';
import { SkyDnsFrontEnd } from '@portolan/frontends/skydns/run/skydns-front-end.ts';
import type { SkyDnsSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { placeOfServer } from '@portolan/server/observe/control/control-place.ts';
import { findDefaultDrain } from '@portolan/server/plan/drain.ts';
import { countCores, readersFor } from '@portolan/server/settings/cores.ts';
import { createErrorLog } from '../process/error-log.ts';
import { printFailure, printProblems } from '../process/print-problems.ts';
import { NO_COMPANIONS } from '../process/server-companions.ts';
import { runServerProcess } from '../process/server-process.ts';
import { openExtraPlugins } from './blocks-extra.ts';

/** @returns the exit code */
export async function runSkyDnsServer(flags: SkyDnsSettings): Promise<number> {
  const log = createErrorLog(flags.isVerbose ? 'debug' : 'info');
  return await runServerProcess({
    manner: {
      role: 'skydns',
      log,
      format: 'json',
      controlPlace: placeOfServer(undefined, 'skydns'),
      reloadSignal: 'SIGHUP',
      noteStop() {},
      fail,
    },
    companions: { ...NO_COMPANIONS, dashboard: flags.dashboard },
    async open({ dependencies }) {
      // It may wait for etcd.
      const settings = await readConfigKey(flags, systemClock, log);
      const udpReaders = readersFor(countCores());
      const drain = findDefaultDrain(process.env);
      const extra = await openExtraPlugins(settings.blocksExtra, log);
      const frontEnd = new SkyDnsFrontEnd(flags, settings, { extra, udpReaders, drain, ...dependencies });
      return {
        frontEnd,
        accompany({ engine }) {
          const etcd = engine.find(EtcdPlugin);
          if (etcd !== undefined) frontEnd.follow(etcd.source);
          return [];
        },
      };
    },
  });
}

function fail(error: unknown): number {
  if (error instanceof ConfigKeyError) printProblems('skydns', error.problems);
  else printFailure('skydns', error);
  return 1;
}
