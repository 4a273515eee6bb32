/**
 * `identity`: describes the server in class CHAOS. A block without it refuses that class.
 */

import { hostname } from 'node:os';
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import type { PluginContext } from '../../contract/plugin.ts';
import { Resolving } from '../resolver/resolving.ts';
import { type ChaosAnswers, type ChaosStats, createChaosHandler } from './chaos.ts';
import type { IdentityOptions } from './options.ts';
import { describeServers } from './server-statistics.ts';

export const identity = definePlainPlugin({
  name: 'identity',
  create({ identifies, ttl, cacheSize, namesHost, version, hasCounts }: IdentityOptions, context) {
    const stats = () => countAll(cacheSize, context);
    const hostName = namesHost === true ? hostname() : undefined;
    const { version: own, ...names } = identityOf(context.version);
    const shown = {
      version: version === 'none' ? undefined : own,
      knowsVersionServer: version === 'all',
      hostName,
    };
    return { handler: createChaosHandler({ identifies, ...names, ...shown, hasCounts, ttl, stats }) };
  },
});

function countAll(cacheSize: number, { find, table }: PluginContext): ChaosStats {
  const resolving = find(Resolving);
  // First of all: it takes in what readers have forwarded.
  const { cache, forward } = resolving?.resolver.stats() ?? {};
  const { insertions, evictions } = table.statistics();
  return {
    ...{ cacheSize, insertions, evictions },
    misses: cache?.misses ?? 0,
    hits: resolving?.countHits() ?? 0,
    servers: describeServers(forward?.upstreams ?? []),
  };
}

/** What a server says of itself, without its counts. */
function identityOf(version: string): Pick<ChaosAnswers, 'version' | 'authors' | 'copyright'> {
  return {
    version: `portolan-${version}`,
    authors: 'The authors of Portolan',
    copyright: 'Copyright The authors of Portolan; Apache License 2.0',
  };
}
