/**
 * `chaos`: describes the server in class CHAOS. A block without it refuses that class.
 */
import { hostname } from 'node:os';
import { COREDNS_VERSION } from '@portolan/corefile/coredns-version.ts';
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, FORWARDING, PLAN, QUERY_COUNTS } from '@portolan/kernel/contract/services.ts';
import { Cache } from '../cache/cache.ts';
import { type ChaosAnswers, createChaosHandler } from './chaos.ts';
import { answerAsCoreDns } from './coredns-answers.ts';
import { answerAsDnsmasq, type ChaosStats } from './dnsmasq-answers.ts';
import type { ChaosOptions } from './options.ts';
import { countHits, describeServers } from './server-statistics.ts';

const MAX_LENGTH = 255;
const AUTHORS = 'The authors of Portolan';

/** `chaos [VERSION] [AUTHORS…]`. Source: plugin/chaos of CoreDNS 1.14.7. */
export const chaos = definePlugin({
  name: 'chaos',
  answers: true,
  syntax: ['chaos [VERSION] [AUTHORS…]'],
  read(cursor): ChaosOptions {
    let version: string | undefined;
    let authors: readonly string[] | undefined;
    cursor.firstUse(() => {
      const [first, ...others] = cursor.remainingArguments();
      // As in CoreDNS, a version with authors behind it is not cut.
      version = others.length === 0 ? first?.slice(0, MAX_LENGTH) : first;
      if (others.length > 0)
        authors = [...new Set(others.map((author) => author.slice(0, MAX_LENGTH)))].sort();
      if (cursor.nextInBlock())
        throw cursor.error(
          `unknown property '${cursor.word}'`,
          'Take the block out: there are no properties.',
        );
    });
    return { kind: 'coredns', version, authors };
  },
  create: (options, context) => ({ handler: createChaosHandler(findAnswers(options, context)) }),
});

function findAnswers(options: ChaosOptions, context: PluginContext): ChaosAnswers {
  const hostName = hostname();
  if (options.kind === 'coredns')
    return answerAsCoreDns(options, {
      hostName,
      version: `CoreDNS-${COREDNS_VERSION}`,
      authors: [AUTHORS],
    });
  const identity = {
    version: `portolan-${context.use(PLAN).version}`,
    authors: AUTHORS,
    copyright: 'Copyright The authors of Portolan; Apache License 2.0',
    hostName,
  };
  return answerAsDnsmasq(options, identity, () => countAll(options.cacheSize, context));
}

function countAll(cacheSize: number, { find, use }: PluginContext): ChaosStats {
  const { readerPath, forwardTally } = use(FORWARDING);
  readerPath.catchUp();
  const misses = find(Cache)?.own?.counts().misses ?? 0;
  const { insertions, evictions } = use(ANSWER_TABLE).statistics();
  return {
    cacheSize,
    insertions,
    evictions,
    misses,
    hits: countHits(use(QUERY_COUNTS)(), misses),
    servers: describeServers(forwardTally.count().upstreams),
  };
}
