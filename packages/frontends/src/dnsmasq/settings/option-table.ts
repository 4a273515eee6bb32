/**
 * All options of dnsmasq 2.90 and Portolan's own, indexed by their short and long forms.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import { cacheOptions } from './cache-options.ts';
import { dashboardOptions } from './dashboard-options.ts';
import { fileOptions } from './file-options.ts';
import { filterOptions } from './filter-options.ts';
import { historyOptions } from './history-options.ts';
import { hostsOptions } from './hosts-options.ts';
import { listenOptions } from './listen-options.ts';
import { NFTSET_CLOSED, nftsetOptions } from './nftset-options.ts';
import type { Option } from './option.ts';
import { processOptions } from './process-options.ts';
import { queryLogOptions } from './query-log-options.ts';
import { recordOptions } from './record-options.ts';
import { routeOptions } from './route-options.ts';
import { idleOptions, unsupportedOptions } from './unsupported-options.ts';
import { upstreamOptions } from './upstream-options.ts';

export const allOptions: readonly Option[] = [
  ...fileOptions,
  ...listenOptions,
  ...routeOptions,
  ...upstreamOptions,
  ...filterOptions,
  ...cacheOptions,
  ...hostsOptions,
  ...recordOptions,
  ...nftsetOptions,
  ...processOptions,
  ...dashboardOptions,
  ...historyOptions,
  ...queryLogOptions,
  ...idleOptions,
  ...unsupportedOptions,
];

/** Portolan options that dnsmasq lacks. */
export const ownOptions: ReadonlySet<string> = new Set([
  'blocks-extra',
  NFTSET_CLOSED,
  'stats',
  ...dashboardOptions.map(({ name }) => name),
  ...historyOptions.map(({ name }) => name),
  ...queryLogOptions.map(({ name }) => name),
]);

const byName = new Map(
  allOptions.flatMap((option) =>
    [option.name, ...(option.aliases ?? [])].map((name): [string, Option] => [name, option]),
  ),
);
const byShort = new Map(
  allOptions.flatMap((option): [string, Option][] =>
    option.short === undefined ? [] : [[option.short, option]],
  ),
);

/** Finds an option by its full long form. */
export function findOption(name: string): Option | undefined {
  return byName.get(name);
}

export function findShortOption(letter: string): Option | undefined {
  return byShort.get(letter);
}

/** All options with a long form of this prefix; an option counts once. What abbreviates dnsmasq's own options names only those. */
export function findByPrefix(prefix: string): readonly Option[] {
  const found = [...byName].filter(([name]) => name.startsWith(prefix)).map(([, option]) => option);
  const theirs = found.filter(({ name }) => !ownOptions.has(name));
  return [...new Set(theirs.length > 0 ? theirs : found)];
}

/** The long form nearest to an unknown one, for suggestions. */
export function nearestName(name: string): string | undefined {
  return findNearest(name, byName.keys());
}
