/**
 * Every option of dnsmasq 2.90 and those of our own, found by how they are written.
 */
import { findNearest } from '../../base/nearest.ts';
import { cacheOptions } from './cache-options.ts';
import { fileOptions } from './file-options.ts';
import { filterOptions } from './filter-options.ts';
import { hostsOptions } from './hosts-options.ts';
import { listenOptions } from './listen-options.ts';
import type { Option } from './option.ts';
import { processOptions } from './process-options.ts';
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
  ...processOptions,
  ...idleOptions,
  ...unsupportedOptions,
];

/** Options that dnsmasq lacks. */
export const ownOptions: ReadonlySet<string> = new Set(['blocks-extra']);

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

/** The option of a long form, written in full. */
export function findOption(name: string): Option | undefined {
  return byName.get(name);
}

export function findShortOption(letter: string): Option | undefined {
  return byShort.get(letter);
}

/** All options whose long form begins so, several forms of one counted once. */
export function findByPrefix(prefix: string): readonly Option[] {
  const found = [...byName].filter(([name]) => name.startsWith(prefix)).map(([, option]) => option);
  return [...new Set(found)];
}

/** The long form that an unknown one was meant to be. */
export function nearestName(name: string): string | undefined {
  return findNearest(name, byName.keys());
}
