/**
 * `portolan skydns`: the command line and the environment of SkyDNS.
 */
import { systemClock } from '../../base/clock.ts';
import { describeError } from '../../base/describe-error.ts';
import type { Log } from '../../base/log.ts';
import { countCores, readersFor } from '../../config/cores.ts';
import { findDefaultDrain } from '../../config/server/drain.ts';
import { readSkyDnsFlags, SKYDNS_FLAGS } from '../../config/skydns/skydns-flags.ts';
import { applyConfig, readSettings, type SkyDnsSettings } from '../../config/skydns/skydns-settings.ts';
import { describeProblem, type Problem } from '../../config/values/problem.ts';
import { ValueReader } from '../../config/values/value-reader.ts';
import { placeOfServer } from '../../observe/control/control-place.ts';
import { EtcdPlugin } from '../../plugins/etcd/etcd-plugin.ts';
import { SkyDnsFrontEnd } from '../../server/skydns/skydns-front-end.ts';
import { readKey } from '../../sources/etcd/read-key.ts';
import type { RunCommand } from '../grammar/command.ts';
import { helpText } from '../grammar/help-text.ts';
import { createErrorLog } from '../process/error-log.ts';
import { NO_COMPANIONS } from '../process/server-companions.ts';
import { runServerProcess } from '../process/server-process.ts';
import { VERSION } from '../process/version.ts';
import { openExtraPlugins } from './blocks-extra.ts';

export const runSkyDns: RunCommand = async (words, command) => {
  const reading = readSkyDnsFlags(words, process.env);
  if (reading.kind !== 'flags') {
    process.stdout.write(
      reading.kind === 'help'
        ? helpText(command, SKYDNS_FLAGS, HELP)
        : `Portolan version ${VERSION}, in place of SkyDNS\n`,
    );
    return 0;
  }
  const settings = readSettings(reading.read, process.env);
  if (settings.kind === 'bad') return complain(settings.problems, 2);
  return await serve(settings.settings);
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
      const settings = await readConfig(flags, log);
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

/** The key `config` of etcd has wrong values. */
class ConfigKeyError extends Error {
  override readonly name = 'ConfigKeyError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
  }
}

/** The settings with the key `config` applied; only the flags while etcd is unavailable. @throws ConfigKeyError */
async function readConfig(flags: SkyDnsSettings, log: Log): Promise<SkyDnsSettings> {
  const { etcd, version, prefix } = flags;
  const read = new ValueReader();
  const settings = await readKey({ etcd, version, key: `/${prefix}/config` }, systemClock)
    .then((json) => (json === undefined ? flags : applyConfig(flags, json, read)))
    .catch((error: unknown) => {
      const reason = describeError(error);
      log.warn('cannot read config from etcd: using flags until it is available', { reason });
      return flags;
    });
  if (read.problems.length > 0) throw new ConfigKeyError(read.problems);
  return settings;
}

function fail(error: unknown): number {
  if (error instanceof ConfigKeyError) return complain(error.problems, 1);
  process.stderr.write(`portolan skydns: ${describeError(error)}\n`);
  return 1;
}

function complain(problems: readonly Problem[], exitCode: number): number {
  for (const problem of problems) process.stderr.write(`portolan skydns: ${describeProblem(problem)}\n`);
  return exitCode;
}
