/**
 * The flags of `portolan corefile check`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
import { createFlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import { type Compat, readCompat } from './compat.ts';
import { COMPAT_VALUE, PLUGIN_FLAG } from './compat-flags.ts';

export const CHECK_FLAGS = [
  {
    name: 'compat',
    valueName: 'version,-id,…',
    value: COMPAT_VALUE,
    default: '1.14',
    help: 'as -compat of coredns; lists the deviations that the Corefile meets, too',
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

export interface CheckPlan extends Compat {
  readonly defaultPort: number;
}

export function planFromCheckFlags(flags: CheckFlags): Checked<CheckPlan> {
  const read = createFlagReader(CHECK_FLAGS, flags);
  const compat = readCompat(read, read.shown('compat'), flags.compat);
  const defaultPort = read.value('dns-port');
  const { problems } = read;
  return problems.length === 0
    ? { kind: 'good', value: { ...compat, defaultPort } }
    : { kind: 'bad', problems };
}
