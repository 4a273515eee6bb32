import { expect, it } from 'vitest';
import { makeQuery } from '../../test/support/ask.ts';
import { CounterSums } from '../table/counters.ts';
import { TableWriter } from '../table/writer.ts';
import { encodeMessage } from '../wire/message.ts';
import { RCODE, TYPE } from '../wire/types.ts';
import { countAnswers } from './answer-counts.ts';

const client = { address: '127.0.0.1', port: 1, transport: 'udp' } as const;

/** What is counted when the chain gives these responses. */
async function count(...responses: readonly (Uint8Array | undefined)[]) {
  const { memory } = new TableWriter({ readers: 2, reservation: 2 ** 26 });
  for (const response of responses) {
    const counted = countAnswers(async () => response, new Uint32Array(memory), 1);
    expect(await counted(new Uint8Array(), client)).toBe(response);
  }
  return new CounterSums(memory, 2).read().byTypeAndRcode;
}

function response(name: string, type: keyof typeof TYPE, rcode: number): Uint8Array {
  const query = makeQuery(name, type);
  return encodeMessage({ ...query, header: { ...query.header, response: true, rcode } });
}

it('counts by the type of the question and the response code', async () => {
  const responses = [response('a.b.example', 'SRV', RCODE.NXDOMAIN), response('.', 'NS', RCODE.REFUSED)];
  expect(await count(...responses, ...responses)).toEqual([
    { type: TYPE.SRV, rcode: RCODE.NXDOMAIN, count: 2 },
    { type: TYPE.NS, rcode: RCODE.REFUSED, count: 2 },
  ]);
});

it('counts a response without a question as of another type', async () => {
  const header = Uint8Array.from([0, 1, 0x80, RCODE.FORMERR, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await count(header)).toEqual([{ type: undefined, rcode: RCODE.FORMERR, count: 1 }]);
});

it('counts nothing where nothing is sent', async () => {
  expect(await count(undefined)).toEqual([]);
});
