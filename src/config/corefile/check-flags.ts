/**
 * The flags of `portolan corefile check`.
 */

import { ORDER_PROFILES, type OrderProfile } from '../../corefile/coredns-version.ts';
import { ALL_RESTORED, NOTHING_RESTORED, type RestoredDeviations } from '../../deviations/table.ts';
import type { Flag, FlagsOf } from '../flags/flag.ts';
import { readerOf } from '../flags/flag-reader.ts';
import type { Checked } from '../values/problem.ts';
import { PLUGIN_FLAG } from './compat-flags.ts';

export const CHECK_FLAGS = [
  {
    name: 'compat',
    valueName: 'version',
    value: { kind: 'choice', choices: ORDER_PROFILES },
    default: '1.14',
    help: 'version of CoreDNS whose plugins and whose order of plugins count',
  },
  {
    name: 'dns-port',
    valueName: 'port',
    value: { kind: 'integer', min: 1, max: 65_535, of: 'a port' },
    default: '53',
    help: 'port of zones that name none, as -dns.port of CoreDNS',
  },
  PLUGIN_FLAG,
] as const satisfies readonly Flag[];

export type CheckFlags = FlagsOf<typeof CHECK_FLAGS>;

export interface CheckPlan {
  readonly profile: OrderProfile;
  /** The deviations in which a server would do as CoreDNS does. */
  readonly restored: RestoredDeviations;
  readonly defaultPort: number;
}

export function planFromCheckFlags(flags: CheckFlags): Checked<CheckPlan> {
  const read = readerOf(CHECK_FLAGS, flags);
  const profile = read.value('compat');
  const defaultPort = read.value('dns-port');
  const restored = flags.compat === undefined ? NOTHING_RESTORED : ALL_RESTORED;
  const { problems } = read;
  return problems.length === 0
    ? { kind: 'good', value: { profile, restored, defaultPort } }
    : { kind: 'bad', problems };
}
