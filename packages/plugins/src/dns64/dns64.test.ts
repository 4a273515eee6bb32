import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { type Client, Query } from '@portolan/kernel/chain/query.ts';
import {
  addresses,
  alias,
  CLIENT,
  makeQuery,
  QUERY_HEADER,
  record,
  SOA,
} from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it } from 'vitest';
import { createDns64Handler, embedAddress } from './dns64.ts';
import type { Dns64Options } from './options.ts';

const OPTIONS: Dns64Options = {
  prefix: { address: '64:ff9b::', prefix: 96 },
  translatesAll: false,
  servesIpv4: false,
};
const OVER_IPV6: Client = { ...CLIENT, address: '2001:db8::53' };
const NODATA: Answer = { ...EMPTY_ANSWER, authorities: [{ ...SOA, ttl: 20 }] };
const NXDOMAIN: Answer = { ...EMPTY_ANSWER, rcode: RCODE.NXDOMAIN, authorities: [SOA] };
const OWN: Answer = { ...EMPTY_ANSWER, answers: [record('a.', { kind: 'AAAA', address: '2001:db8::1' })] };

interface Asked {
  readonly options?: Partial<Dns64Options>;
  readonly client?: Client;
  readonly type?: string;
  /** The answer for AAAA, and that for A. */
  readonly first: Answer;
  readonly second?: Answer;
}

async function ask({ options, client = OVER_IPV6, type = 'AAAA', first, second }: Asked) {
  const metrics = new MetricRegistry();
  const looked: number[] = [];
  const handler = createDns64Handler(
    { ...OPTIONS, ...options },
    ({ question }) => {
      looked.push(question.type);
      return second ?? addresses('a.', '192.0.2.1');
    },
    metrics,
  );
  const { question } = makeQuery('a.', type);
  const query = new Query(question, { header: QUERY_HEADER, question, edns: undefined }, client);
  const answer = await handler.handle(query, () => first);
  if (answer.kind === 'drop') throw new Error('no answer');
  const shown = toWholeAnswer(answer).answers.map(presentRecord);
  return { answer, shown, looked, query, metrics };
}

describe('a question for AAAA', () => {
  it('without records is answered by those of A, and counted', async () => {
    const { shown, looked, metrics } = await ask({ first: NODATA });
    expect(shown).toEqual(['a. 20 IN AAAA 64:ff9b::c000:201']);
    expect(looked).toEqual([1]);
    expect(await metrics.render()).toContain('coredns_dns64_requests_translated_total{server=""} 1');
  });

  it('has a TTL of 600 seconds at most where the denial has no SOA record', async () => {
    const second: Answer = {
      ...EMPTY_ANSWER,
      answers: [record('a.', { kind: 'A', address: '192.0.2.1' }, 900)],
    };
    expect((await ask({ first: EMPTY_ANSWER, second })).shown).toEqual(['a. 600 IN AAAA 64:ff9b::c000:201']);
  });

  it('keeps aliases, and the sections behind', async () => {
    const second: Answer = {
      ...EMPTY_ANSWER,
      authoritative: true,
      answers: [
        ...toWholeAnswer(alias('a.', 'b.') as never).answers,
        record('b.', { kind: 'A', address: '192.0.2.2' }),
      ],
      authorities: [SOA],
      additionals: [record('c.', { kind: 'A', address: '192.0.2.3' })],
    };
    const { shown, answer } = await ask({ first: NODATA, second });
    expect(shown).toEqual(['a. 30 IN CNAME b.', 'b. 20 IN AAAA 64:ff9b::c000:202']);
    expect(answer).toMatchObject({ authoritative: false, rcode: 0, authorities: [SOA] });
    expect(toWholeAnswer(answer as never).additionals.map(presentRecord)).toEqual(['c. 30 IN A 192.0.2.3']);
  });

  it.each([
    ['of a name that does not exist', { first: NXDOMAIN }],
    ['with records', { first: OWN }],
    ['that failed without a response', { first: { kind: 'servfail' } as const }],
    ['over IPv4', { first: NODATA, client: CLIENT }],
    ['over IPv4 to a socket of IPv6', { first: NODATA, client: { ...CLIENT, address: '::ffff:192.0.2.1' } }],
    ['of another type', { first: NODATA, type: 'TXT' }],
  ] satisfies readonly (readonly [string, Asked])[])('%s is left alone', async (_, asked) => {
    const { answer, looked } = await ask(asked);
    expect(answer).toBe(asked.first);
    expect(looked).toEqual([]);
  });

  it('over IPv4 is translated if allowed, for all clients alike', async () => {
    const { shown, query } = await ask({ first: NODATA, client: CLIENT, options: { servesIpv4: true } });
    expect(shown).toHaveLength(1);
    expect(query.clientWasRead).toBe(false);
  });

  it('with records is translated if all are', async () => {
    const { shown } = await ask({ first: OWN, options: { translatesAll: true } });
    expect(shown).toEqual(['a. 30 IN AAAA 64:ff9b::c000:201']);
  });
});

it.each([
  ['2001:db8::', 32, '2001:db8:c000:221::'],
  ['2001:db8:100::', 40, '2001:db8:1c0:2:21::'],
  ['2001:db8:122::', 48, '2001:db8:122:c000:2:2100::'],
  ['2001:db8:122:300::', 56, '2001:db8:122:3c0:0:221::'],
  ['2001:db8:122:344::', 64, '2001:db8:122:344:c0:2:2100:0'],
  ['2001:db8:122:344::', 96, '2001:db8:122:344::c000:221'],
  // RFC 6052 section 2.4.
])('an address behind %s/%i', (address, prefix, expected) =>
  expect(embedAddress('192.0.2.33', { address, prefix })).toBe(expected),
);
