/**
 * `identity`: describes the server in class CHAOS. A block without it refuses that class.
 */
import { hostname } from 'node:os';
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import type { PluginContext } from '../../contract/plugin.ts';
import { ANSWER_TABLE, FORWARDING, PLAN, QUERY_COUNTS } from '../../contract/services.ts';
import { Cache } from '../cache/cache.ts';
import { type ChaosAnswers, type ChaosStats, createChaosHandler } from './chaos.ts';
import type { IdentityOptions } from './options.ts';
import { countHits, describeServers } from './server-statistics.ts';

export const identity = definePlainPlugin({
  name: 'identity',
  create({ identifies, ttl, cacheSize, namesHost, version, hasCounts }: IdentityOptions, context) {
    const stats = () => countAll(cacheSize, context);
    const hostName = namesHost === true ? hostname() : undefined;
    const { version: own, ...names } = identityOf(context.use(PLAN).version);
    const shown = {
      version: version === 'none' ? undefined : own,
      knowsVersionServer: version === 'all',
      hostName,
    };
    return { handler: createChaosHandler({ identifies, ...names, ...shown, hasCounts, ttl, stats }) };
  },
});

function countAll(cacheSize: number, context: PluginContext): ChaosStats {
  const { find, use } = context;
  const { readerPath, forwardTally } = use(FORWARDING);
  readerPath.catchUp();
  const misses = find(Cache)?.own?.counts().misses ?? 0;
  const { insertions, evictions } = use(ANSWER_TABLE).statistics();
  return {
    ...{ cacheSize, insertions, evictions, misses },
    hits: countHits(use(QUERY_COUNTS)(), misses),
    servers: describeServers(forwardTally.count().upstreams),
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
