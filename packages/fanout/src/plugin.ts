/**
 * `fanout`: asks several servers at once, and gives the first good reply.
 *
 * Source: networkservicemesh/fanout.
 */
import { readFileSync } from 'node:fs';
import {
  type Answer,
  type Context,
  definePlugin,
  isWithin,
  type Next,
  namesWithin,
  type Query,
  UPSTREAMS,
} from '@portolan/plugin';
import { chooseServers, fan, type WeightedUpstream } from './fan.ts';
import { type FanoutOptions, readOptions } from './options.ts';

const MAX_WEIGHT = 100;
/** Milliseconds: the host waits no longer for an answer. */
const MAX_TIME = 4_900;

export default definePlugin({
  name: 'fanout',
  before: 'forward',
  syntax: [
    [
      'fanout FROM TO… {',
      '    tls [CERTIFICATE KEY] [AUTHORITIES]',
      '    tls-server NAME',
      '    worker-count NUMBER',
      '    policy sequential|weighted-random',
      '    weighted-random-server-count NUMBER',
      '    weighted-random-load-factor NUMBERS…',
      '    network udp|tcp|tcp-tls',
      '    except ZONES…',
      '    except-file FILE',
      '    attempt-count NUMBER',
      '    timeout DURATION',
      '    race',
      '}',
    ].join('\n'),
  ],
  examples: [
    'fanout . 192.0.2.1 192.0.2.2',
    'fanout example.org 192.0.2.1 tls://192.0.2.2 {\n  except b.example.org\n  policy weighted-random\n  weighted-random-load-factor 50 100\n  race\n}',
  ],
  read: (cursor, block): FanoutOptions => cursor.whole((uses) => readOptions(uses, block)),
  create(options, context) {
    let servers: readonly WeightedUpstream[] = [];
    return {
      handler: {
        name: 'fanout',
        role: 'other',
        questions: namesWithin(new Set([options.from])),
        answers: 'unchanged',
        handle: (query, next) => answer(query, next, options, servers),
      },
      start() {
        servers = openServers(options, context);
      },
    };
  },
});

async function answer(
  query: Query,
  next: Next,
  options: FanoutOptions,
  servers: readonly WeightedUpstream[],
): Promise<Answer> {
  const { from, except, timeout } = options;
  if (!isWithin(query.key, from) || except.some((zone) => isWithin(query.key, zone)))
    return await next(query);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), Math.min(timeout, MAX_TIME));
  try {
    const chosen = chooseServers(servers, options, Math.random);
    const result = await fan(query, chosen, options, over.signal);
    if (result.kind === 'answer') return result.answer;
    return { kind: 'servfail', reason: `plugin/fanout: ${result.reason}` };
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Error if a word is no server, or a file cannot be read */
function openServers(options: FanoutOptions, context: Context): readonly WeightedUpstream[] {
  const { network, tls, weights } = options;
  const addresses = options.servers.flatMap((server) =>
    server.startsWith('/') ? readServers(server) : [server],
  );
  if (addresses.length === 0) throw new Error('no servers');
  if (weights.length > 0 && weights.length !== addresses.length)
    throw new Error('load-factor params count must be the same as the number of hosts');
  return addresses.map((address, index) => {
    const isEncrypted = network === 'tcp-tls' && !address.includes('://');
    const upstream = context.use(UPSTREAMS).open(isEncrypted ? `tls://${address}` : address, {
      network: network === 'tcp' ? 'tcp' : 'udp',
      tls,
    });
    return { upstream, weight: weights[index] ?? MAX_WEIGHT };
  });
}

/** The name servers of a file like resolv.conf. */
function readServers(path: string): readonly string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
}
