import { parseName } from '@portolan/dns/name.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery, record, SOA } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { expect, it } from 'vitest';
import { createMinimalHandler } from './plugin.ts';

const minimal = createMinimalHandler();
const address = record('a.example.', { kind: 'A', address: '192.0.2.1' });
const nameserver = record('example.', { kind: 'NS', target: parseName('ns.example.') });
const whole = (parts: Partial<WholeAnswer>): WholeAnswer => ({ ...EMPTY_ANSWER, ...parts });
const ask = (answer: Answer, type = 'A') => minimal.handle(makeQuery('a.example.', type), () => answer);

it('leaves the answer section of positive answers, and an OPT record to be repeated', async () => {
  const edns = { udpSize: 4096, dnssecOk: true, options: [] };
  const answer = whole({ answers: [address], authorities: [nameserver], additionals: [address], edns });
  expect(await ask(answer)).toEqual(whole({ answers: [address] }));
  expect(await ask(whole({ additionals: [address] }))).toEqual(whole({}));
});

it.each([
  ['a denial', whole({ rcode: 3, authorities: [SOA] })],
  ['no data', whole({ authorities: [SOA] })],
  ['a delegation', whole({ authorities: [nameserver], additionals: [address] })],
  ['a failure', whole({ rcode: 2, additionals: [address] })],
  ['a code', { kind: 'servfail' } as const],
])('leaves %s as it is', async (_what, answer) => expect(await ask(answer)).toBe(answer));

it('leaves transfers as they are', async () => {
  const answer = whole({ answers: [address], authorities: [nameserver] });
  expect(await ask(answer, 'AXFR')).toBe(answer);
});
