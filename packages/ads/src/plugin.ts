/**
 * `ads`: answers names of block lists with an address of your own.
 *
 * Source: c-mueller/ads 0.2.5.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  ALL_QUESTIONS,
  type Answer,
  CLASS,
  COUNTERS,
  type Context,
  definePlugin,
  type Query,
  type ResourceRecord,
  STORED_ANSWERS,
  TYPE,
  toName,
  toWhole,
} from '@portolan/plugin';
import { fetchList } from './fetch-list.ts';
import { Lists } from './lists.ts';
import { type AdsOptions, readOptions } from './options.ts';

/** Seconds, as in the original. */
const TTL = 3_600;
const DENIAL_TTL = 60;

export default definePlugin({
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
  read: (cursor, block): AdsOptions => cursor.whole((uses) => readOptions(uses, block)),
  create(options, context) {
    const stored = context.use(STORED_ANSWERS);
    const lists = new Lists(options, {
      log: context.log,
      changed: () => stored.drop(),
      fetchList,
      now: Date.now,
      wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal, ref: false }),
    });
    const block = blocker(options, context);
    const requests = context
      .use(COUNTERS)
      .family('coredns_ads_request_count_total', 'Total counter of requests made.')
      .with();
    return {
      handler: {
        name: 'ads',
        role: 'other',
        questions: ALL_QUESTIONS,
        answers: 'unchanged',
        async handle(query, next) {
          query.count(requests);
          const asked = nameIn(query.question.name);
          if (lists.blocks(asked)) return block(query, asked);
          const answer = await next(query);
          if (answer.kind === 'drop') return answer;
          // A name that is not on any list may be an alias of one that is.
          const found = toWhole(answer).answers.flatMap(listRecordNames);
          const hidden = found.find((name) => name !== asked && lists.blocks(name));
          if (hidden === undefined) return answer;
          query.forbidStoring();
          return block(query, hidden);
        },
      },
      start: () => lists.start(),
      stop: () => lists.stop(),
    };
  },
});

function blocker({ target, logs }: AdsOptions, { use, log }: Pick<Context, 'use' | 'log'>) {
  const blocked = use(COUNTERS)
    .family('coredns_ads_blocked_request_count_total', 'Total counter of requests blocked by this plugin.')
    .with();
  return (query: Query, name: string): Answer => {
    query.count(blocked);
    if (logs) {
      const client = JSON.stringify(query.sender.address);
      log.info(`plugin/ads: Blocked request ${JSON.stringify(name)} from ${client}`);
    }
    const { type } = query.question;
    if (target === 'nxdomain') return deny('nxdomain', query);
    if (type === TYPE.A) return answerWith(query, { kind: 'A', address: target.ipv4 });
    if (type === TYPE.AAAA) return answerWith(query, { kind: 'AAAA', address: target.ipv6 });
    return deny('nodata', query);
  };
}

function answerWith({ question }: Query, data: ResourceRecord['data']): Answer {
  const record = { name: question.name, class: CLASS.IN, ttl: TTL, data };
  return { kind: 'records', records: [record], additionals: [], authoritative: true };
}

function deny(kind: 'nodata' | 'nxdomain', { key }: Query): Answer {
  const soa: ResourceRecord = {
    name: key,
    class: CLASS.IN,
    ttl: DENIAL_TTL,
    data: {
      kind: 'SOA',
      primary: toName('localhost.'),
      mailbox: toName('nobody.invalid.'),
      serial: 1,
      refresh: 14_400,
      retry: 3_600,
      expire: 604_800,
      minimum: DENIAL_TTL,
    },
  };
  return { kind, aliases: [], soa, authoritative: true };
}

/** The names that a record leads to, or is of. */
function listRecordNames({ name, data }: ResourceRecord): readonly string[] {
  if (data.kind === 'CNAME') return [nameIn(data.target)];
  return data.kind === 'A' || data.kind === 'AAAA' ? [nameIn(name)] : [];
}

/** As lists have it. */
function nameIn(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
