/**
 * `alternate`: asks other servers after replies with some response codes.
 *
 * Source: coredns/alternate.
 */
import {
  ALL_QUESTIONS,
  type Answer,
  type Context,
  definePlugin,
  isWithin,
  type Query,
  toWhole,
  UPSTREAMS,
  type Upstream,
} from '@portolan/plugin';
import { type AlternateRule, readRules } from './options.ts';

/** Milliseconds: the host waits no longer for an answer. */
const MAX_TIME = 4_900;

interface OpenRule extends Omit<AlternateRule, 'servers'> {
  readonly servers: readonly Upstream[];
}

export default definePlugin({
  name: 'alternate',
  before: 'forward',
  syntax: ['alternate [original] RCODE[,RCODE…] FROM TO…'],
  examples: [
    'alternate NXDOMAIN . 192.0.2.1',
    'alternate original SERVFAIL,REFUSED . 192.0.2.1 192.0.2.2:5353\nalternate nxdomain example.org 192.0.2.3',
  ],
  read: (cursor): readonly AlternateRule[] => cursor.whole(readRules),
  create(rules, context) {
    let opened: readonly OpenRule[] = [];
    return {
      handler: {
        name: 'alternate',
        role: 'other',
        questions: ALL_QUESTIONS,
        answers: 'unchanged',
        async handle(query, next) {
          const answer = await next(query);
          if (answer.kind === 'drop') return answer;
          const { rcode } = toWhole(answer);
          const rule = opened.find(({ rcodes, from }) => rcodes.includes(rcode) && isWithin(query.key, from));
          return rule === undefined ? answer : await askOne(query, rule.servers, context);
        },
      },
      start() {
        opened = rules.map((rule) => ({ ...rule, servers: openServers(rule, context) }));
      },
    };
  },
});

function openServers({ servers }: AlternateRule, { use }: Context): readonly Upstream[] {
  return servers.map((address) => use(UPSTREAMS).open(address));
}

/** One server after the other, from a random one on, until one replies. */
async function askOne(query: Query, servers: readonly Upstream[], { clock }: Context): Promise<Answer> {
  const end = clock.monotonic() + MAX_TIME;
  const first = Math.floor(Math.random() * servers.length);
  let reason = 'no servers';
  for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
    if (clock.monotonic() >= end) break;
    try {
      return await server.ask(query);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  return { kind: 'servfail', reason: `plugin/alternate: ${reason}` };
}
