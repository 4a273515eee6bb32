/**
 * The flags of `portolan corefile migrate` and `portolan corefile fmt`.
 */
import type { MigrationSettings } from '@portolan/corefile/migration/migrate-corefile.ts';
import { RELEASES } from '@portolan/corefile/migration/releases.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';

const LAST_RELEASE = RELEASES.at(-1) ?? '';

/** Of both. */
const WRITE_FLAG = {
  name: 'write',
  value: 'none',
  help: 'change the files in place, with those that they import, instead of printing the result',
} as const satisfies Flag;

export const FORMAT_FLAGS = [
  WRITE_FLAG,
  {
    name: 'diff',
    value: 'none',
    help: 'exit with 1 and name the files that are not formatted, without a change',
  },
] as const satisfies readonly Flag[];

export const MIGRATE_FLAGS = [
  {
    name: 'from',
    valueName: 'version',
    value: { kind: 'text', of: 'a version of CoreDNS' },
    help: 'version of CoreDNS that the Corefile is for',
  },
  {
    name: 'to',
    valueName: 'version',
    value: { kind: 'text', of: 'a version of CoreDNS' },
    default: LAST_RELEASE,
    help: 'version of CoreDNS to change it for',
  },
  {
    name: 'deprecations',
    value: 'none',
    help: 'also change plugins and options that still work but are deprecated',
  },
  { name: 'downgrade', value: 'none', help: 'change to an older version' },
  WRITE_FLAG,
] as const satisfies readonly Flag[];

export type FormatFlags = FlagsOf<typeof FORMAT_FLAGS>;

export type MigrateFlags = FlagsOf<typeof MIGRATE_FLAGS>;

export interface MigratePlan extends Pick<MigrationSettings, 'from' | 'to' | 'deprecations' | 'direction'> {
  readonly writes: boolean;
}

/** @returns undefined without the version to start from */
export function planFromMigrateFlags(flags: MigrateFlags): MigratePlan | undefined {
  const { from, to = LAST_RELEASE, deprecations = false, downgrade = false, write = false } = flags;
  if (from === undefined) return undefined;
  return { from, to, deprecations, direction: downgrade ? 'down' : 'up', writes: write };
}
