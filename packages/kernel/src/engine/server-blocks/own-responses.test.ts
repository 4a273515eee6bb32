import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Edns, type Message, RCODE, TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordingLog } from '../../base/testing/recording-log.ts';
import type { Answer } from '../../chain/answer.ts';
import { type Chain, composeChain } from '../../chain/handler.ts';
import type { Client } from '../../chain/query.ts';
import {
  addresses,
  alias,
  CLIENT,
  denial,
  makeHandler,
  QUERY_HEADER,
  SOA,
} from '../../chain/testing/queries.ts';
import { answerByChain } from './testing/one-block.ts';

const edns: Edns = { version: 0, udpSize: 4096, dnssecOk: true, extendedRcode: 0, options: [] };

function packet(name: string, changes: Partial<Message> = {}): Uint8Array {
  return encodeMessage({
    header: QUERY_HEADER,
    questions: [{ name: parseName(name), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
    ...changes,
  });
}

async function respond(
  chain: Chain,
  query: Uint8Array,
  { log = new RecordingLog(), client = CLIENT }: { log?: RecordingLog; client?: Client } = {},
): Promise<Message | undefined> {
  const response = await answerByChain(chain, log)(query, client);
  return response && decodeMessage(response);
}

describe('the slow way', () => {
  it.each<[Answer, Partial<Message['header']>]>([
    [addresses('Web.', '10.0.0.1'), { rcode: RCODE.NOERROR, authoritative: true }],
    [alias('Web.', 'b.'), { rcode: RCODE.NOERROR, authoritative: true }],
    [denial('nodata'), { rcode: RCODE.NOERROR, authoritative: true }],
    [denial('nxdomain'), { rcode: RCODE.NXDOMAIN, authoritative: true }],
    [{ kind: 'refused' }, { rcode: RCODE.REFUSED, authoritative: false }],
    [{ kind: 'servfail' }, { rcode: RCODE.SERVFAIL }],
    [{ kind: 'notimp' }, { rcode: RCODE.NOTIMP }],
    [{ kind: 'formerr' }, { rcode: RCODE.FORMERR }],
  ])('makes a response of %j', async (answer, header) => {
    const response = await respond(() => answer, packet('Web.'));
    expect(response?.header).toMatchObject({
      ...header,
      id: 4711,
      recursionAvailable: true,
      recursionDesired: true,
    });
    expect(response?.questions[0]?.name).toBe('Web.');
  });

  it('carries SOA in the authority section', async () => {
    const response = await respond(() => denial('nxdomain'), packet('a.'));
    expect(response?.authorities).toEqual([SOA]);
  });

  it('sends nothing where nothing is to be sent', async () => {
    expect(await respond(() => ({ kind: 'drop' }), packet('a.'))).toBeUndefined();
    const header = { ...QUERY_HEADER, response: true };
    expect(await respond(() => denial('nodata'), packet('a.', { header }))).toBeUndefined();
  });

  it('cuts what is too large for the client, with TC, and not over TCP', async () => {
    const many = addresses('a.', ...Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`));
    const [plain, large, tcp] = [
      await respond(() => many, packet('a.')),
      await respond(() => many, packet('a.', { edns })),
      await respond(() => many, packet('a.'), { client: { ...CLIENT, transport: 'tcp' } }),
    ];
    expect(plain?.header.truncated).toBe(true);
    expect(plain?.answers.length).toBeLessThan(32);
    // We send at most 1232 octets.
    expect(large?.answers.length).toBeLessThan(77);
    expect(large?.edns).toMatchObject({ udpSize: 1232, dnssecOk: true });
    expect(tcp).toMatchObject({ header: { truncated: false } });
    expect(tcp?.answers).toHaveLength(100);
  });

  it('says SERVFAIL when something inside fails, and logs it', async () => {
    const failing: Chain[] = [
      () => {
        throw new Error('inside');
      },
      () => Promise.reject(new Error('inside')),
      // Data without a wire form.
      () => addresses('a.', 'not an address'),
    ];
    for (const chain of failing) {
      const log = new RecordingLog();
      const response = await respond(chain, packet('a.'), { log });
      expect(response?.header.rcode).toBe(RCODE.SERVFAIL);
      expect(log.records).toMatchObject([{ level: 'error', fields: { name: 'a.' } }]);
    }
  });

  it('never throws, whatever comes', async () => {
    const log = new RecordingLog();
    const handleQuery = answerByChain(() => addresses('a.', '10.0.0.1'), log, { recursionAvailable: false });
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 64 }),
        fc.uint8Array({ maxLength: 8 }),
        async (noise, tail) => {
          await handleQuery(noise, CLIENT);
          // A query with some octets changed.
          const query = packet('web.blue.svc.cluster.local.', { edns });
          noise.forEach((octet, index) => {
            if (octet > 250) query[index % query.length] = octet;
          });
          await handleQuery(Uint8Array.from([...query, ...tail]), CLIENT);
        },
      ),
    );
    expect(log.records).toEqual([]);
  });
});

describe('a chain', () => {
  it('asks handlers in order, and refuses in the end', async () => {
    const asked: string[] = [];
    const chain = composeChain([
      makeHandler((query, next) => {
        asked.push('first');
        return next(query);
      }),
      makeHandler((query, next) => {
        asked.push('second');
        return query.key === 'a.' ? denial('nodata') : next(query);
      }),
    ]);
    expect((await respond(chain, packet('a.')))?.header.rcode).toBe(RCODE.NOERROR);
    expect((await respond(chain, packet('b.')))?.header.rcode).toBe(RCODE.REFUSED);
    expect(asked).toEqual(['first', 'second', 'first', 'second']);
  });
});
