/**
 * Deviations in how `forward` asks upstream servers.
 */
import type { DeviationRow } from './deviation.ts';
import { type DifferingReplies, hasAll, hasFlag, type ReplyText } from './differing-replies.ts';

const FORWARD = ['forward'] as const;

/** The options of `forward`, as far as rows look at them. */
interface CheckedRoutes {
  readonly routes: readonly CheckedRoute[];
}

interface CheckedRoute {
  readonly sources?:
    | {
        readonly coreDns: {
          readonly health: { readonly maxFails: number; readonly check: { readonly interval: number } };
        };
      }
    | undefined;
}

export const FORWARD_ROWS = [
  {
    id: 'forward-equal-questions',
    plugins: FORWARD,
    original: 'forwards each query',
    portolan: 'sends one query for equal questions of a reader thread, or of the main thread',
    why: 'forgers have fewer queries to guess',
    text: 'Equal questions in flight are asked once.',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
    appliesTo: () => true,
  },
  {
    id: 'sends-again',
    plugins: FORWARD,
    original: 'waits `read_timeout` for a reply, then asks the next server, for 5 s in all',
    portolan:
      'sends again after max(50 ms, srtt + 4 var), 0.4 s before the first reply, up to ten times and 4.5 s. A server that misses two questions in a row, which another answers, is asked last until it answers a probe',
    why: 'a lost packet must not cost a client its own time-out',
    text: 'A lost query is sent again at once.',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
    appliesTo: () => true,
  },
  {
    id: 'second-server',
    plugins: FORWARD,
    original: 'asks one server at a time',
    portolan: 'with `random` and `round_robin`, asks a second one when the first is later than usual',
    why: 'clients wait less',
    inCompat: 'restored',
    with: 'sends-again',
  },
  {
    id: 'judged-by-queries',
    plugins: FORWARD,
    original: '`health_check` probes after a failure; more than `max_fails` failed ones take a server out',
    portolan:
      "judges a server by the real queries, a silent one by a question for the root's name servers. `health_check` and `max_fails` have no effect",
    why: 'a probe does not show how names are answered',
    text: 'health_check and max_fails take no server out: the replies to real questions judge it.',
    inCompat: 'restored',
    with: 'sends-again',
    appliesTo: ({ routes }: CheckedRoutes) => routes.some(setsHealthChecks),
  },
  {
    id: 'refused-port',
    plugins: FORWARD,
    original: 'answers SERVFAIL when all servers refuse the port',
    portolan: 'asks again every 0.2 s for 4.5 s, with `failfast_all_unhealthy_upstreams` for 1.5 s',
    why: 'a server that restarts refuses for a moment',
    inCompat: 'restored',
    with: 'sends-again',
  },
  {
    id: 'own-query',
    plugins: FORWARD,
    original: "sends the query with the client's capitals, OPT record and protocol",
    portolan:
      "sends the name in lower case, an OPT record of its own (1232 octets) and AD, over UDP first (`prefer_udp`); DO, CD, RD and the [EDNS options](../reference/corefile.md#how-forward-asks) that a server may act on are the client's",
    why: 'one reply serves all clients',
    text: 'Portolan asks upstream servers with an OPT record of its own and AD set, so that one reply serves all clients.',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
    shownBy: ({ one, other, parts }: DifferingReplies) =>
      isForwarded(one, other) &&
      parts.every(isOfOwnQuery) &&
      one.flags.filter((flag) => flag !== 'ad').join() === other.flags.filter((flag) => flag !== 'ad').join(),
  },
  {
    id: 'options-of-one-hop',
    plugins: FORWARD,
    original: 'forwards COOKIE, TCP keepalive and padding',
    portolan: 'keeps them on their hop (RFC 7873, 7828, 7830)',
    why: 'readers forward such questions',
    inCompat: 'restored',
    with: 'own-query',
  },
  {
    id: 'whole-reply',
    plugins: FORWARD,
    original: 'returns a truncated reply',
    portolan: 'fetches the whole reply over TCP',
    why: 'the client needs no second query',
    text: 'A truncated reply of an upstream server is fetched as a whole over TCP.',
    inCompat: 'restored',
    with: 'own-query',
    shownBy: ({ one, other }: DifferingReplies) =>
      isForwarded(one, other) && hasFlag(one, 'tc') && !hasFlag(other, 'tc'),
  },
  {
    id: 'foreign-records',
    plugins: FORWARD,
    original: 'returns a reply unchanged',
    portolan: 'drops records that do not belong to the question',
    why: 'they may be forged (RFC 5452 section 6)',
    text: 'Records that do not belong to the question are dropped from replies of upstream servers (RFC 5452 section 6).',
    inCompat: 'restored',
    with: 'own-query',
    appliesTo: () => true,
    shownBy: ({ one, other, parts }: DifferingReplies) =>
      isForwarded(one, other) &&
      parts.every((part) => part === 'authority' || part === 'additional' || isOfOwnQuery(part)) &&
      hasAll(one.authority, other.authority) &&
      hasAll(one.additional, other.additional) &&
      parts.some((part) => !isOfOwnQuery(part)),
  },
  {
    id: 'extended-rcodes',
    plugins: FORWARD,
    original: 'passes on a response code above 15, such as BADVERS',
    portolan: 'asks again without EDNS, then the next server; in the end SERVFAIL',
    why: "the code is about Portolan's query",
    inCompat: 'restored',
    with: 'own-query',
  },
  {
    id: 'empty-truncated-reply',
    plugins: FORWARD,
    original: 'returns a truncated reply without records, over TCP too',
    portolan: 'over TCP, SERVFAIL',
    why: 'it looks like a name without records',
    inCompat: 'restored',
    with: 'own-query',
  },
  {
    id: 'alias-loops-of-upstream',
    plugins: FORWARD,
    original: 'returns aliases that form a loop',
    portolan: 'SERVFAIL',
    why: 'the same',
    inCompat: 'restored',
    with: 'own-query',
  },
  {
    id: 'shares-of-clients',
    plugins: FORWARD,
    original: 'REFUSED beyond `max_concurrent` queries; without it, any number',
    portolan:
      'equal questions count once, and the last quarter is for clients with fewer than 100; without it, 1,500 in flight, and 1,500 that wait for a second at most',
    why: 'one client must not take all places',
    inCompat: 'restored',
    leavesToChain: ['forwarding'],
  },
] as const satisfies readonly DeviationRow[];

const isOfOwnQuery = (part: string) => part === 'flags' || part === 'edns';
const isForwarded = (one: ReplyText, other: ReplyText) => !hasFlag(one, 'aa') && !hasFlag(other, 'aa');

/** Other than by default. */
function setsHealthChecks({ sources }: CheckedRoute): boolean {
  if (sources === undefined) return false;
  const { maxFails, check } = sources.coreDns.health;
  return maxFails !== 2 || check.interval !== 500;
}
