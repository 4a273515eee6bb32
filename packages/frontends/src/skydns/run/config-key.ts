/**
 * The key `config` in etcd, whose JSON wins over the flags of SkyDNS.
 */
import { readKey } from '@portolan/etcd/source/read-key.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { describeProblem, type Problem } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { applyConfig, type SkyDnsSettings } from '../settings/skydns-settings.ts';

/** The key has wrong values. */
export class ConfigKeyError extends Error {
  override readonly name = 'ConfigKeyError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.problems = problems;
  }
}

/** The settings with the key applied; only the flags while etcd is unavailable. @throws ConfigKeyError */
export async function readConfigKey(flags: SkyDnsSettings, clock: Clock, log: Log): Promise<SkyDnsSettings> {
  const { etcd, version, prefix } = flags;
  const read = new ValueReader();
  const settings = await readKey({ etcd, version, key: `/${prefix}/config` }, clock)
    .then((json) => (json === undefined ? flags : applyConfig(flags, json, read)))
    .catch((error: unknown) => {
      const reason = describeError(error);
      log.warn('cannot read config from etcd: using flags until it is available', { reason });
      return flags;
    });
  if (read.problems.length > 0) throw new ConfigKeyError(read.problems);
  return settings;
}
