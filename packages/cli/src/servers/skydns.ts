/**
 * `portolan skydns`: the command line and the environment of SkyDNS.
 */
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { ConfigKeyError, readConfigKey } from '@portolan/frontends/skydns/run/config-key.ts';
import { SkyDnsFrontEnd } from '@portolan/frontends/skydns/run/skydns-front-end.ts';
import { readSkyDnsFlags, SKYDNS_FLAGS } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings, type SkyDnsSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { placeOfServer } from '@portolan/server/observe/control/control-place.ts';
import { findDefaultDrain } from '@portolan/server/plan/drain.ts';
import { countCores, readersFor } from '@portolan/server/settings/cores.ts';
import type { RunCommand } from '../grammar/command.ts';
import { helpText } from '../grammar/help-text.ts';
import { createErrorLog } from '../process/error-log.ts';
import { printFailure, printProblems, printVersion } from '../process/print-problems.ts';
import { NO_COMPANIONS } from '../process/server-companions.ts';
import { runServerProcess } from '../process/server-process.ts';
import { openExtraPlugins } from './blocks-extra.ts';

export const runSkyDns: RunCommand = async (words, command) => {
  const reading = readSkyDnsFlags(words, process.env);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText(command, SKYDNS_FLAGS, HELP));
      return 0;
    case 'version':
      printVersion('SkyDNS');
      return 0;
    case 'flags': {
      const settings = readSettings(reading.read, process.env);
      if (settings.kind === 'good') return await serve(settings.settings);
      printProblems('skydns', settings.problems);
      return 2;
    }
  }
};

async function serve(flags: SkyDnsSettings): Promise<number> {
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

const HELP = {
  about: 'Answers names from the keys of an etcd, as SkyDNS does, and forwards all others.',
  notes: `Names in parentheses are of environment variables. PROMETHEUS_PORT, PROMETHEUS_PATH, PROMETHEUS_NAMESPACE and
PROMETHEUS_SUBSYSTEM open the metrics of SkyDNS. The JSON of the key config in etcd wins over the flags.`,
};

function fail(error: unknown): number {
  if (error instanceof ConfigKeyError) printProblems('skydns', error.problems);
  else printFailure('skydns', error);
  return 1;
}
