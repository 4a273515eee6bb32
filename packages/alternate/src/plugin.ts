/**
 * `alternate`: asks other servers after replies with some response codes.
 *
 * Source: coredns/alternate.
 */
import {
  all,
  type Context,
  definePlugin,
  isWithin,
  type Query,
  type Reply,
  type Upstream,
} from '@portolan/plugin';
import { type AlternateRule, readRules } from './options.ts';

const SERVFAIL = 2;
const NXDOMAIN = 3;

interface OpenRule extends Omit<AlternateRule, 'servers'> {
  readonly servers: readonly Upstream[];
}

export default definePlugin<readonly AlternateRule[]>({
  api: 1,
  name: 'alternate',
  before: 'forward',
  syntax: ['alternate [original] RCODE[,RCODE…] FROM TO…'],
  examples: [
    'alternate NXDOMAIN . 192.0.2.1',
    'alternate original SERVFAIL,REFUSED . 192.0.2.1 192.0.2.2:5353\nalternate nxdomain example.org 192.0.2.3',
  ],
  parse: readRules,
  create(rules, context) {
    let opened: readonly OpenRule[] = [];
    return {
      questions: all(),
      start() {
        opened = rules.map((rule) => ({ ...rule, servers: openServers(rule, context) }));
      },
      async handle(query, next) {
        const reply = await next(query);
        const rcode = rcodeOf(reply);
        const rule = opened.find(({ rcodes, from }) => rcodes.includes(rcode) && isWithin(query.name, from));
        return rule === undefined ? reply : await askOne(query, rule.servers);
      },
    };
  },
});

function openServers({ servers }: AlternateRule, context: Context): readonly Upstream[] {
  return servers.map((address) => context.upstream(address));
}

/** What the plugins behind give is `opaque`. */
function rcodeOf(reply: Reply): number {
  if (reply.kind === 'opaque' || reply.kind === 'rcode') return reply.rcode;
  return reply.kind === 'denied' && !reply.exists ? NXDOMAIN : 0;
}

/** One server after the other, from a random one on, until one replies. */
async function askOne(query: Query, servers: readonly Upstream[]): Promise<Reply> {
  const first = Math.floor(Math.random() * servers.length);
  let reason = 'no servers';
  for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
    if (query.signal.aborted) break;
    try {
      return await server.ask(query);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  return { kind: 'rcode', rcode: SERVFAIL, reason: `plugin/alternate: ${reason}` };
}
