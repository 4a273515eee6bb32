/**
 * `identity`: describes the server in class CHAOS. A block without it refuses that class.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import type { PluginContext } from '../../contract/plugin.ts';
import { Resolving } from '../resolver/resolving.ts';
import { type ChaosStats, createChaosHandler } from './chaos.ts';
import { identityOf } from './identity.ts';
import type { IdentityOptions } from './options.ts';
import { describeServers } from './server-statistics.ts';

export const identity = definePlainPlugin({
  name: 'identity',
  create({ identifies, ttl, cacheSize }: IdentityOptions, context) {
    const stats = () => countAll(cacheSize, context);
    return { handler: createChaosHandler({ identifies, ...identityOf(context.version), ttl, stats }) };
  },
});

function countAll(cacheSize: number, { find, table }: PluginContext): ChaosStats {
  const { insertions, evictions } = table.statistics();
  const resolving = find(Resolving);
  const { cachingResolver, forward } = resolving?.resolver.stats() ?? {};
  return {
    ...{ cacheSize, insertions, evictions },
    misses: cachingResolver?.misses ?? 0,
    hits: resolving?.countHits() ?? 0,
    servers: describeServers(forward?.upstreams ?? []),
  };
}
