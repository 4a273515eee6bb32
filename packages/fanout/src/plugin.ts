/**
 * `fanout`: asks several servers at once, and gives the first good reply.
 *
 * Source: networkservicemesh/fanout.
 */
import { readFileSync } from 'node:fs';
import {
  type Context,
  definePlugin,
  isWithin,
  type Next,
  type Query,
  type Reply,
  within,
} from '@portolan/plugin';
import { chooseServers, fan, type WeightedUpstream } from './fan.ts';
import { type FanoutOptions, readOptions } from './options.ts';

const MAX_WEIGHT = 100;

export default definePlugin<FanoutOptions>({
  api: 1,
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
  parse: readOptions,
  create(options, context) {
    let servers: readonly WeightedUpstream[] = [];
    return {
      questions: within([options.from]),
      start() {
        servers = openServers(options, context);
      },
      handle: (query, next) => answer(query, next, options, servers),
    };
  },
});

async function answer(
  query: Query,
  next: Next,
  options: FanoutOptions,
  servers: readonly WeightedUpstream[],
): Promise<Reply> {
  const { from, except, timeout } = options;
  if (!isWithin(query.name, from) || except.some((zone) => isWithin(query.name, zone)))
    return await next(query);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeout);
  try {
    const chosen = chooseServers(servers, options, Math.random);
    const result = await fan(query, chosen, options, AbortSignal.any([over.signal, query.signal]));
    if (result.kind === 'reply') return result.reply;
    return { kind: 'rcode', rcode: 2, reason: `plugin/fanout: ${result.reason}` };
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Error for a server that is none, or a file that cannot be read */
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
    const upstream = context.upstream(isEncrypted ? `tls://${address}` : address, {
      ...{ network: network === 'tcp' ? 'tcp' : 'udp', tls },
    });
    return { upstream, weight: weights[index] ?? MAX_WEIGHT };
  });
}

/** The name servers of a file like resolv.conf. */
function readServers(path: string): readonly string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => /^nameserver\s+(\S+)/.exec(line)?.[1] ?? []);
}
