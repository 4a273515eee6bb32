import { encodeMessage } from '@portolan/dns/message.ts';
import { CLASS, type NameKey, RCODE, TYPE } from '@portolan/dns/types.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import { CounterSums } from '../../table/counter-sums.ts';
import { TableWriter } from '../../table/writer.ts';
import { countAnswers } from './answer-counts.ts';

const client = { address: '127.0.0.1', port: 1, transport: 'udp' } as const;

/** The counts after the chain has given these responses, each after `milliseconds`. */
async function count(responses: readonly (Uint8Array | undefined)[], domain?: string, milliseconds = 0) {
  const { memory } = new TableWriter({ readers: 2, reservation: 2 ** 26 });
  const clock = new ManualClock();
  const options = {
    memory,
    reader: 1,
    clock,
    ...(domain === undefined ? {} : { domain: domain as NameKey }),
  };
  for (const response of responses) {
    const counted = countAnswers(async () => {
      clock.advance(milliseconds);
      return response;
    }, options);
    expect(await counted(new Uint8Array(), client)).toBe(response);
  }
  return new CounterSums(memory, 2).read();
}

function response(
  name: string,
  type: keyof typeof TYPE,
  rcode: number,
  dnsClass: number = CLASS.IN,
): Uint8Array {
  const query = makeQuery(name, type);
  const questions = query.questions.map((question) => ({ ...question, class: dnsClass }));
  return encodeMessage({ ...query, questions, header: { ...query.header, response: true, rcode } });
}

it('counts by the type of the question and the response code', async () => {
  const responses = [response('a.b.example', 'SRV', RCODE.NXDOMAIN), response('.', 'NS', RCODE.REFUSED)];
  const { byTypeAndRcode, byOutcome } = await count([...responses, ...responses]);
  expect(byTypeAndRcode).toEqual([
    { type: TYPE.SRV, rcode: RCODE.NXDOMAIN, count: 2 },
    { type: TYPE.NS, rcode: RCODE.REFUSED, count: 2 },
  ]);
  expect([...byOutcome]).toEqual([[0, 4]]);
});

it('counts a response without a question as of another type', async () => {
  const header = Uint8Array.from([0, 1, 0x80, RCODE.FORMERR, 0, 0, 0, 0, 0, 0, 0, 0]);
  const { byTypeAndRcode } = await count([header], 'cluster.local.');
  expect(byTypeAndRcode).toEqual([{ type: undefined, rcode: RCODE.FORMERR, count: 1 }]);
});

it('counts nothing where nothing is sent', async () => {
  expect((await count([undefined])).groups).toEqual([]);
});

it('tells names of the domain from all others', async () => {
  const ours = ['cluster.local', 'A.b.Cluster.LOCAL'];
  const others = ['.', 'local', 'xcluster.local', 'cluster.local.example', '1.0.0.10.in-addr.arpa'];
  const responses = [...ours, ...others].map((name) => response(name, 'A', RCODE.NOERROR));
  const aboutUs = response('version.bind', 'TXT', RCODE.NOERROR, CLASS.CH);
  const { byOutcome } = await count([...responses, aboutUs], 'cluster.local.');
  expect([...byOutcome]).toEqual([
    [CHAIN_OUTCOME.ours, ours.length + 1],
    [CHAIN_OUTCOME.others, others.length],
  ]);
});

it('counts how long an answer took, and how large it was', async () => {
  const { groups } = await count([response('a.example', 'PTR', RCODE.NOERROR)], undefined, 40);
  expect(groups).toMatchObject([{ pointers: true, octets: 27, milliseconds: 40 }]);
  expect(groups[0]?.durations.indexOf(1)).toBe(5);
});
