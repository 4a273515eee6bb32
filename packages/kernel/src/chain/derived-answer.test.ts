import { parseName } from '@portolan/dns/name.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import type { Answer } from './answer.ts';
import { isCacheable, toCachedAnswer } from './derived-answer.ts';
import { Query } from './query.ts';
import { addresses, alias, CLIENT, denial, makeQuery, QUERY_HEADER } from './testing/queries.ts';

/** The answer with a lifetime of one minute. */
function lasting(answer: Answer): Exclude<Answer, { kind: 'drop' }> {
  if (answer.kind === 'records' || answer.kind === 'nxdomain') return { ...answer, lifetime: 60 };
  throw new Error(`an answer without a lifetime: ${answer.kind}`);
}

const ANSWER = lasting(addresses('web.', '10.0.0.1'));

describe('what is remembered', () => {
  it('is the answer as the table has it', () => {
    const edns = { version: 0, udpSize: 4096, dnssecOk: true, extendedRcode: 0, options: [] };
    const question = { name: parseName('Web.'), type: TYPE.A, class: CLASS.IN };
    const query = new Query(question, { header: QUERY_HEADER, question, edns }, CLIENT);
    const answer = lasting(addresses('Web.', '10.0.0.1', '10.0.0.2', '10.0.0.3'));
    const kept = toCachedAnswer(query, answer, true, 9);
    expect(kept).toMatchObject({ type: TYPE.A, class: CLASS.IN, dnssecOk: true, lifetime: 60, outcome: 9 });
    expect(kept?.body).toMatchObject({ answerCount: 3, rotation: { start: 0, stride: 16, count: 3 } });
    expect(kept?.ttlOffsets).toEqual([6, 22, 38]);
    expect(Buffer.from(kept?.name ?? []).toString('latin1')).toBe('\u0003web\u0000');
  });

  it('has aliases before the addresses that rotate, and knows denials', () => {
    const records = [alias('a.', 'b.'), addresses('b.', '10.0.0.1', '10.0.0.2')].flatMap((part) =>
      'records' in part ? part.records : [],
    );
    const chain = lasting({ kind: 'records', records, additionals: [], authoritative: false });
    expect(toCachedAnswer(makeQuery('a.'), chain, true, 9)?.body.rotation).toEqual({
      start: 15,
      stride: 16,
      count: 2,
    });
    expect(toCachedAnswer(makeQuery('a.'), lasting(denial('nxdomain')), true, 9)?.body).toMatchObject({
      rcode: RCODE.NXDOMAIN,
      authorityCount: 1,
      rotation: undefined,
    });
  });
});

describe('the memo rule', () => {
  it('asks for a lifetime', () => {
    expect(isCacheable(makeQuery('web.'), ANSWER, 1, 1)).toBe(true);
    expect(isCacheable(makeQuery('web.'), addresses('web.', '10.0.0.1'), 1, 1)).toBe(false);
    expect(isCacheable(makeQuery('web.'), { kind: 'servfail' }, 1, 1)).toBe(false);
    expect(isCacheable(makeQuery('web.'), { kind: 'servfail', lifetime: 5 }, 1, 1)).toBe(true);
  });

  it('forbids what depends on the client, for this question or one that it led to', () => {
    const own = makeQuery('web.');
    const led = makeQuery('web.');
    const work = makeQuery('web.');
    expect(own.dependOnClient().port).toBe(CLIENT.port);
    expect(isCacheable(own, ANSWER, 1, 1)).toBe(false);
    expect(led.about({ ...led.question, name: parseName('b.') }).dependOnClient().port).toBe(CLIENT.port);
    expect(isCacheable(led, ANSWER, 1, 1)).toBe(false);
    expect(work.account).toBe(CLIENT.address);
    expect(isCacheable(work, ANSWER, 1, 1)).toBe(true);
  });

  it('forbids what began under other terms than now', () => {
    expect(isCacheable(makeQuery('web.'), ANSWER, 1, 2)).toBe(false);
  });

  it('forbids what was asked without recursion', () => {
    const question = { name: parseName('web.'), type: TYPE.A, class: CLASS.IN };
    const header = { ...QUERY_HEADER, recursionDesired: false };
    const query = new Query(question, { header, question, edns: undefined }, CLIENT);
    expect(isCacheable(query, ANSWER, 1, 1)).toBe(false);
  });
});
