/**
 * `ads`: answers names of block lists with an address of your own.
 *
 * Source: c-mueller/ads 0.2.5.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { absolute, all, type Context, definePlugin, type Query, type Reply, type Rr } from '@portolan/plugin';
import { fetchList } from './fetch-list.ts';
import { Lists } from './lists.ts';
import { type AdsOptions, readOptions } from './options.ts';

const TYPE = { A: 1, CNAME: 5, SOA: 6, AAAA: 28 } as const;
/** Seconds, as in the original. */
const TTL = 3_600;
const DENIAL_TTL = 60;

export default definePlugin<AdsOptions>({
  api: 1,
  name: 'ads',
  before: 'cache',
  syntax: [
    [
      'ads {',
      '    blacklist URL',
      '    whitelist URL',
      '    block NAME',
      '    permit NAME',
      '    block-regex PATTERN',
      '    permit-regex PATTERN',
      '    target IPV4',
      '    target-ipv6 IPV6',
      '    nxdomain',
      '    log',
      '    auto-update-interval DURATION',
      '    disable-auto-update',
      '    list-store FILE',
      '}',
    ].join('\n'),
  ],
  examples: [
    'ads {\n  block www.example.org\n  permit-regex ^good\n}',
    'ads {\n  blacklist file:///nonexistent/list\n  block-regex ^a\\.\n  nxdomain\n  log\n}',
  ],
  parse: readOptions,
  create(options, context) {
    const lists = new Lists(options, {
      ...{ log: context.log, changed: () => context.changed(), fetchList, now: Date.now },
      wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal, ref: false }),
    });
    const block = blocker(options, context);
    const requests = context.counter('request_count_total', 'Total counter of requests made.');
    return {
      questions: all(),
      start: () => lists.start(),
      stop: () => lists.stop(),
      async handle(query, next) {
        requests.add(query);
        const asked = nameIn(query.name);
        if (lists.blocks(asked)) return block(query, asked, 'until-changed');
        const reply = await next(query);
        // A name that is not on any list may be an alias of one that is.
        const found = reply.kind === 'opaque' ? reply.records.flatMap(namesOf) : [];
        const hidden = found.find((name) => name !== asked && lists.blocks(name));
        return hidden === undefined ? reply : block(query, hidden, 'never');
      },
    };
  },
});

function blocker({ target, logs }: AdsOptions, { counter, log }: Pick<Context, 'counter' | 'log'>) {
  const blocked = counter('blocked_request_count_total', 'Total counter of requests blocked by this plugin.');
  return (query: Query, name: string, keep: 'never' | 'until-changed'): Reply => {
    blocked.add(query);
    if (logs)
      log.info(`Blocked request ${JSON.stringify(name)} from ${JSON.stringify(query.client.address)}`);
    const { type } = query;
    if (target === 'nxdomain') return { kind: 'denied', exists: false, soa: soaOf(query), keep };
    if (type !== TYPE.A && type !== TYPE.AAAA)
      return { kind: 'denied', exists: true, soa: soaOf(query), keep };
    const data = type === TYPE.A ? target.ipv4 : target.ipv6;
    return { kind: 'records', records: [{ name: query.name, type, ttl: TTL, data }], keep };
  };
}

function soaOf({ name }: Query): Rr {
  const data = `localhost. nobody.invalid. 1 14400 3600 604800 ${DENIAL_TTL}`;
  return { name: absolute(name), type: TYPE.SOA, ttl: DENIAL_TTL, data };
}

/** The names that a record leads to, or is of. */
function namesOf({ name, type, data }: Rr): readonly string[] {
  if (type === TYPE.CNAME) return [nameIn(data)];
  return type === TYPE.A || type === TYPE.AAAA ? [nameIn(name)] : [];
}

/** As lists have it. */
function nameIn(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
