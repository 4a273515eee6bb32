import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_FORWARD_PLAN, type RetryPolicy } from './forward-plan.ts';
import {
  begin,
  nextMove,
  type QueryState,
  type QueryStateContext,
  type QueryStateEffect,
  type QueryStateEvent,
} from './query-state.ts';

const BY_TIMEOUT = DEFAULT_FORWARD_PLAN.retry;
const BY_CLIENT: RetryPolicy = { ...BY_TIMEOUT, interval: 850, trigger: 'client', scope: 'all' };
const BY_FAILURE: RetryPolicy = { ...BY_TIMEOUT, trigger: 'failure', attempts: 2, refusedInterval: 0 };
const IN_ORDER: RetryPolicy = { ...BY_CLIENT, scope: 'next' };

interface Conditions {
  /** Per server: `+` well, `B` in back-off, `b` too but known to support EDNS, `-` down, `x` refused by the network for long, `e` without EDNS, `E` known to support it. */
  readonly servers: string;
  readonly dnssecOk?: boolean;
  readonly retry?: RetryPolicy;
  readonly hedging?: boolean;
  /** Milliseconds until the next server; undefined: the order is not binding. */
  readonly failover?: number;
}

function contextAt(
  now: number,
  { servers, dnssecOk = false, retry = BY_TIMEOUT, hedging = false, failover }: Conditions,
): QueryStateContext {
  const views = [...servers].map((sign) => ({
    isDown: sign === '-' || sign === 'x',
    usesEdns: () => sign !== 'e',
    knowsEdns: sign === 'E' || sign === 'b',
    refusalPatience: () => (sign === 'x' ? 0 : 400),
    roundTrip: {
      timeout: (queries: number) =>
        sign === 'b' || sign === 'B' ? 800 : 100 * 2 ** Math.max(0, queries - 1),
      usualTimeout: () => 100,
      failoverDelay: (min: number) => min,
    },
    paceDelay: () => 0,
  }));
  return { now, servers: views, dnssecOk, retry, hedging, failFast: true, failover, negativeWait: 1000 };
}

/** An effect as text: `ask 0`, `plain 0` (without EDNS), `retry? 1`, `hedge? 1`, `wait 450`, `keep`, `reply`. */
function show(effect: QueryStateEffect): string {
  switch (effect.kind) {
    case 'ask':
      return `${effect.withEdns ? 'ask' : 'plain'} ${effect.server}`;
    case 'request':
      return `${effect.purpose}? ${effect.server}`;
    case 'wait':
      return `wait ${effect.milliseconds}`;
    case 'keep':
      return 'keep';
    case 'finish':
      return effect.outcome;
  }
}

const start: QueryStateEvent = { kind: 'start', atOnce: 1 };
const overdue = (server: number): QueryStateEvent => ({ kind: 'overdue', server, hadEdns: true });
const plainOverdue = (server: number): QueryStateEvent => ({ kind: 'overdue', server, hadEdns: false });
const waited: QueryStateEvent = { kind: 'waited' };
const expired: QueryStateEvent = { kind: 'expired' };
const repeated: QueryStateEvent = { kind: 'repeated' };
const denied: QueryStateEvent = { kind: 'denied', purpose: 'retry' };
const granted = (server: number): QueryStateEvent => ({ kind: 'granted', server });
const replied = (
  server: number,
  verdict: Extract<QueryStateEvent, { kind: 'replied' }>['verdict'],
  isOverdue = false,
): QueryStateEvent => ({ kind: 'replied', server, verdict, isOverdue });
const failed = (
  server: number,
  failure: Extract<QueryStateEvent, { kind: 'failed' }>['failure'],
): Extract<QueryStateEvent, { kind: 'failed' }> => ({ kind: 'failed', server, failure, isOverdue: false });

type Row = readonly [string, Conditions, ...(readonly [at: number, QueryStateEvent, effects: string])[]];

const one: Conditions = { servers: '+' };
const two: Conditions = { servers: '++' };
const known: Conditions = { servers: 'EE' };

const ROWS: readonly Row[] = [
  ['a good answer ends it', one, [0, start, 'ask 0'], [9, replied(0, 'answer'), 'reply']],
  ['a negative answer ends it too', one, [0, start, 'ask 0'], [9, replied(0, 'negative'), 'reply']],
  [
    'the same server is asked again when it is overdue: once for nothing, then if the budget allows it',
    { servers: 'E' },
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 0'],
    [200, overdue(0), 'retry? 0'],
    [200, denied, 'wait 100'],
    [300, waited, 'retry? 0'],
    [300, granted(0), 'ask 0'],
    [500, overdue(0), 'retry? 0'],
    [4500, expired, 'timeout'],
  ],
  [
    'after a query without a reply EDNS is left out',
    one,
    [0, start, 'ask 0'],
    [100, overdue(0), 'plain 0'],
    [200, plainOverdue(0), 'retry? 0'],
    [200, granted(0), 'plain 0'],
  ],
  [
    'after two if the question has DO',
    { ...one, dnssecOk: true },
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 0'],
    [200, overdue(0), 'retry? 0'],
    [200, granted(0), 'plain 0'],
  ],
  [
    'at once too where another server is asked',
    two,
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 1 plain 0'],
    [110, replied(0, 'answer'), 'reply'],
  ],
  [
    'once for each server',
    two,
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 1 plain 0'],
    [200, plainOverdue(0), 'retry? 1'],
    [200, denied, 'wait 100'],
    [200, overdue(1), 'retry? 1'],
    [200, granted(1), 'plain 1'],
  ],
  [
    'and where only the client repeats the question',
    { ...one, retry: BY_CLIENT },
    [0, start, 'ask 0'],
    [100, overdue(0), 'plain 0'],
    [200, plainOverdue(0), ''],
  ],
  [
    'in its strict order too',
    { ...two, retry: IN_ORDER },
    [0, start, 'ask 0'],
    [100, overdue(0), 'plain 0'],
    [200, plainOverdue(0), ''],
  ],
  [
    'and where a query without a reply has failed',
    { ...one, retry: BY_FAILURE },
    [0, start, 'ask 0'],
    [100, { ...failed(0, 'lost'), hadEdns: true }, 'plain 0'],
  ],
  [
    'after four where the server is known to answer with EDNS',
    { servers: 'E' },
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 0'],
    [200, overdue(0), 'retry? 0'],
    [200, granted(0), 'ask 0'],
    [400, overdue(0), 'retry? 0'],
    [400, granted(0), 'ask 0'],
    [800, overdue(0), 'retry? 0'],
    [800, granted(0), 'plain 0'],
  ],
  [
    'a server that does not know EDNS is asked without at once',
    one,
    [0, start, 'ask 0'],
    [5, replied(0, 'no-edns'), 'plain 0'],
    [9, replied(0, 'answer'), 'reply'],
  ],
  ['nor is it asked with it later', { servers: 'e' }, [0, start, 'plain 0']],
  [
    'the next server is asked when one is overdue, for nothing',
    known,
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 1'],
    [110, replied(1, 'answer'), 'reply'],
  ],
  [
    'in a strict order the same server is asked first, and the next one after the failover time',
    { servers: 'E+', failover: 400 },
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 0'],
    [200, overdue(0), 'retry? 0'],
    [200, denied, 'wait 100'],
    [300, waited, 'retry? 0'],
    [300, granted(0), 'ask 0 wait 100'],
    [400, waited, 'ask 1'],
    [410, replied(1, 'answer'), 'reply'],
  ],
  [
    'the next server does not wait for the back-off of the first',
    { servers: 'b+' },
    [0, start, 'ask 0 wait 100'],
    [100, waited, 'ask 1'],
    [110, replied(1, 'answer'), 'reply'],
  ],
  [
    'nor in a strict order',
    { servers: 'b+', failover: 400 },
    [0, start, 'ask 0 wait 400'],
    [400, waited, 'ask 1'],
    [410, replied(1, 'answer'), 'reply'],
  ],
  [
    'nor if another thread has asked the first',
    { servers: 'b+', failover: 400 },
    [50, { kind: 'taken-over', server: 0, askedAt: 0 }, 'wait 350'],
    [400, waited, 'ask 1'],
  ],
  [
    'nor does the third wait for that of the second, for which the budget is asked',
    { servers: 'bb+' },
    [0, start, 'ask 0 wait 100'],
    [100, waited, 'ask 1 wait 100'],
    [200, waited, 'retry? 2'],
  ],
  ['a single server has its back-off', { servers: 'b' }, [0, start, 'ask 0']],
  [
    'but for a query without EDNS, if EDNS may be the reason',
    { servers: 'B' },
    [0, start, 'ask 0'],
    [100, overdue(0), 'plain 0'],
  ],
  [
    'it is asked for nothing where the first is down',
    two,
    [0, start, 'ask 0'],
    [5, failed(0, 'refused'), 'ask 1'],
    [9, replied(1, 'answer'), 'reply'],
  ],
  [
    'an error makes the next be asked; with none left the first error is handed on',
    two,
    [0, start, 'ask 0'],
    [5, replied(0, 'error'), 'keep ask 1'],
    [9, replied(1, 'error'), 'kept'],
  ],
  [
    'a truncated reply is better than an error',
    two,
    [0, start, 'ask 0'],
    [5, replied(0, 'error'), 'keep ask 1'],
    [9, replied(1, 'truncated'), 'keep kept'],
  ],
  [
    'a negative answer waits for the server that was asked before',
    known,
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 1'],
    [110, replied(1, 'negative'), 'keep wait 890'],
    [700, replied(0, 'answer', true), 'reply'],
  ],
  [
    'for a second',
    known,
    [0, start, 'ask 0'],
    [100, overdue(0), 'ask 1'],
    [110, replied(1, 'negative'), 'keep wait 890'],
    [1000, waited, 'kept'],
  ],
  [
    'but not for one that is known to be down',
    { servers: '-+' },
    [0, { kind: 'start', atOnce: 2 }, 'ask 0 ask 1'],
    [9, replied(1, 'negative'), 'reply'],
  ],
  [
    'a hedge asks a second server that was not asked',
    { ...two, hedging: true },
    [0, start, 'ask 0'],
    [100, { kind: 'slow', server: 0 }, 'hedge? 1'],
    [100, granted(1), 'ask 1'],
  ],
  ['without hedging nothing happens', two, [0, start, 'ask 0'], [100, { kind: 'slow', server: 0 }, '']],
  [
    'a refused port is tried again, for nothing',
    one,
    [0, start, 'ask 0'],
    [1, failed(0, 'refused'), 'wait 200'],
    [201, waited, 'ask 0'],
    [202, failed(0, 'refused'), 'wait 200'],
    [4500, expired, 'network'],
  ],
  [
    'until it has been refused for longer than a restart takes, by all servers',
    { servers: 'xx' },
    [0, start, 'ask 0'],
    [1, failed(0, 'refused'), 'ask 1'],
    [2, failed(1, 'refused'), 'network'],
  ],
  [
    'but not while another server has not replied',
    { servers: 'x+' },
    [0, { kind: 'start', atOnce: 2 }, 'ask 0 ask 1'],
    [1, failed(0, 'refused'), 'wait 99'],
    [50, replied(1, 'answer'), 'reply'],
  ],
  ['what can never work is not', one, [0, start, 'ask 0'], [0, failed(0, 'final'), 'network']],
  [
    'a lost connection is tried again after the time for a reply',
    one,
    [0, start, 'ask 0'],
    [9, failed(0, 'lost'), 'wait 91'],
    [100, waited, 'ask 0'],
  ],
  [
    'and the next server is asked at once, in a strict order too',
    { servers: 'E+', failover: 400 },
    [0, start, 'ask 0'],
    [9, failed(0, 'lost'), 'ask 1'],
    [20, replied(1, 'answer'), 'reply'],
  ],
  [
    'with dnsmasq it is the client that asks again: all servers then; others are asked before it does',
    { ...known, retry: BY_CLIENT },
    [0, start, 'ask 0'],
    [90, repeated, ''],
    [100, overdue(0), 'ask 1'],
    [200, overdue(1), ''],
    [5000, repeated, 'ask 0 ask 1'],
    [5100, repeated, ''],
  ],
  [
    'they are so although the first is in back-off',
    { servers: 'b++', retry: BY_CLIENT },
    [0, start, 'ask 0 wait 100'],
    [100, waited, 'ask 1 ask 2'],
  ],
  [
    'in a strict order the next one, and the last again and again',
    { ...two, retry: IN_ORDER },
    [0, start, 'ask 0'],
    [5000, repeated, 'ask 1'],
    [9000, repeated, 'ask 1'],
  ],
  [
    'otherwise a client that asks again after the usual time is a retry, without a budget, before its turn',
    { servers: 'E' },
    [0, start, 'ask 0'],
    [50, repeated, ''],
    [100, overdue(0), 'ask 0'],
    [200, overdue(0), 'retry? 0'],
    [200, granted(0), 'ask 0'],
    [299, repeated, ''],
    [300, repeated, 'ask 0'],
    [350, repeated, ''],
  ],
];

describe('the moves of a resolution', () => {
  it.each(ROWS.map(([name, conditions, ...steps]) => ({ name, conditions, steps })))('$name', (row) => {
    const { conditions, steps } = row;
    let state: QueryState = begin(conditions.servers.length);
    for (const [at, event, expected] of steps) {
      const move = nextMove(state, event, contextAt(at, conditions));
      state = move.state;
      expect(move.effects.map(show).join(' '), `at ${at}`).toBe(expected);
    }
  });

  it('ends once, and within the bound of queries, whatever happens', () => {
    const server = fc.nat(2);
    const verdict = fc.constantFrom('answer', 'negative', 'truncated', 'error', 'no-edns' as const);
    const failure = fc.constantFrom('refused', 'lost', 'final' as const);
    const event: fc.Arbitrary<QueryStateEvent> = fc.oneof(
      server.map(overdue),
      fc.tuple(server, verdict).map(([at, which]) => replied(at, which)),
      fc.tuple(server, failure).map(([at, which]) => failed(at, which)),
      server.map((at): QueryStateEvent => ({ kind: 'slow', server: at })),
      fc.constantFrom(waited, repeated),
    );
    const servers = fc.stringMatching(/^[+e-]{3}$/);
    fc.assert(
      fc.property(servers, fc.boolean(), fc.array(fc.tuple(fc.nat(900), event)), (signs, hedging, events) => {
        let state = begin(3);
        let now = 0;
        let queries = 0;
        let ends = 0;
        const pending = [0, 0, 0];
        const handle = (next: QueryStateEvent) => {
          const move = nextMove(state, next, contextAt(now, { servers: signs, hedging }));
          state = move.state;
          for (const effect of move.effects) {
            if (effect.kind === 'ask') {
              queries += 1;
              pending[effect.server] = (pending[effect.server] ?? 0) + 1;
            } else if (effect.kind === 'finish') ends += 1;
            else if (effect.kind === 'request') handle(granted(effect.server));
          }
        };
        handle(start);
        let refused = 0;
        for (const [milliseconds, next] of events) {
          now += milliseconds;
          const isOfQuery = next.kind === 'replied' || next.kind === 'failed' || next.kind === 'overdue';
          if (isOfQuery && (pending[next.server] ?? 0) === 0) continue;
          if (next.kind === 'replied' || next.kind === 'failed')
            pending[next.server] = (pending[next.server] ?? 0) - 1;
          if (next.kind === 'failed' || (next.kind === 'replied' && next.verdict === 'no-edns')) refused += 1;
          handle(next);
        }
        handle(expired);
        handle(replied(0, 'answer'));
        expect(ends).toBe(1);
        expect(queries - refused).toBeLessThanOrEqual(10);
      }),
    );
  });
});
