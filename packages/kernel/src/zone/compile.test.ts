import { formatAddress } from '@portolan/dns/address.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { respond } from '@portolan/dns/query.ts';
import {
  CLASS,
  type Message,
  type NameKey,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerBody, ZoneId } from '../table/types.ts';
import { compileNode } from './compile.ts';
import { COMPLETE, type ZoneNode } from './node.ts';
import { type NamedSet, type RecordSet, recordSet, toRecords } from './record-set.ts';

// Any zone id works: the compiler only passes it on.
const ZONE = 1 as ZoneId;
const owner = toKey(parseName('web.blue.svc.cluster.local.'));

function nodeWith(sets: readonly RecordSet[], changes: Partial<ZoneNode> = {}): ZoneNode {
  return { name: owner, sets, alias: undefined, below: COMPLETE, outcome: 0, ...changes };
}

function compileBody(set: RecordSet): AnswerBody {
  const body = compileNode(nodeWith([set]), ZONE).answers.get(set.type);
  if (body === undefined) throw new Error('no body');
  return body;
}

/** The response that a reader makes from a body. */
function messageWith(name: NameKey, type: number, body: AnswerBody): Message {
  const header = decodeMessage(new Uint8Array(12)).header;
  const bare = encodeMessage(
    respond({ header, question: { name, type, class: CLASS.IN }, edns: undefined }, { authoritative: true }),
  );
  const message = new Uint8Array(bare.length + body.bytes.length);
  message.set(bare);
  message.set(body.bytes, bare.length);
  const counts = new DataView(message.buffer);
  counts.setUint16(6, body.answerCount);
  counts.setUint16(8, body.authorityCount);
  counts.setUint16(10, body.additionalCount);
  return decodeMessage(message);
}

function recordsIn(set: RecordSet): {
  answers: readonly ResourceRecord[];
  additionals: readonly ResourceRecord[];
} {
  const { answers, additionals } = messageWith(owner, set.type, compileBody(set));
  return { answers, additionals };
}

const name = fc
  .array(fc.constantFrom('a', 'b', 'db-0', 'web', 'blue', 'x'.repeat(63)), { minLength: 1, maxLength: 3 })
  .chain((labels) => fc.constantFrom(`${labels.join('.')}.`, `${labels.join('.')}.${owner}`, owner))
  .filter((text) => text.length < 255)
  .map((text) => toKey(parseName(text)));
const octets = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(formatAddress);
const ipv4: fc.Arbitrary<RecordData> = fc.record({ kind: fc.constant('A'), address: octets(4) });
const ipv6: fc.Arbitrary<RecordData> = fc.record({ kind: fc.constant('AAAA'), address: octets(16) });
const number = fc.nat({ max: 65_535 });
const service: fc.Arbitrary<RecordData> = fc.record({
  kind: fc.constant('SRV'),
  priority: number,
  weight: number,
  port: number,
  target: name,
});
const target = (kind: 'PTR' | 'NS' | 'CNAME'): fc.Arbitrary<RecordData> =>
  fc.record({ kind: fc.constant(kind), target: name });
const ttl = fc.nat({ max: 2 ** 31 - 1 });
const list = (data: fc.Arbitrary<RecordData>) => fc.array(data, { minLength: 1, maxLength: 6 });

const addressSet: fc.Arbitrary<RecordSet> = fc.oneof(
  fc.tuple(ttl, list(ipv4)).map(([seconds, data]) => recordSet(TYPE.A, seconds, data)),
  fc.tuple(ttl, list(ipv6)).map(([seconds, data]) => recordSet(TYPE.AAAA, seconds, data)),
);
const targetSet: fc.Arbitrary<RecordSet> = fc.oneof(
  fc.tuple(ttl, list(target('PTR'))).map(([seconds, data]) => recordSet(TYPE.PTR, seconds, data)),
  fc.tuple(ttl, list(target('NS'))).map(([seconds, data]) => recordSet(TYPE.NS, seconds, data)),
  fc.tuple(ttl, list(target('CNAME'))).map(([seconds, data]) => recordSet(TYPE.CNAME, seconds, data)),
);

/** SRV records with addresses for some of their targets, and perhaps for other names. */
const serviceSet: fc.Arbitrary<RecordSet> = fc
  .tuple(ttl, list(service), fc.array(fc.tuple(fc.nat({ max: 8 }), addressSet), { maxLength: 3 }), name)
  .map(([seconds, data, addresses, other]): RecordSet => {
    const additional = addresses.map(([index, set]): NamedSet => {
      const chosen = data[index];
      return { name: chosen?.kind === 'SRV' ? chosen.target : other, set };
    });
    return { type: TYPE.SRV, ttl: seconds, data, additional };
  });

describe('compiled answers', () => {
  it('say what the record sets say, whatever they hold', () => {
    fc.assert(
      fc.property(fc.oneof(addressSet, targetSet, serviceSet), (set) => {
        const along = set.additional === 'elsewhere' ? [] : set.additional;
        expect(recordsIn(set)).toEqual({
          answers: toRecords(owner, set),
          additionals: along.flatMap((named) => toRecords(named.name, named.set)),
        });
      }),
    );
  });

  it('let addresses rotate as soon as there are two', () => {
    const addresses = (count: number) =>
      Array.from({ length: count }, (_, index): RecordData => ({ kind: 'A', address: `10.0.0.${index}` }));
    expect(compileBody(recordSet(TYPE.A, 30, addresses(1))).rotation).toBeUndefined();
    expect(compileBody(recordSet(TYPE.A, 30, addresses(3))).rotation).toEqual({
      start: 0,
      stride: 16,
      count: 3,
    });
  });

  it('hold what fits into a message, whole records only', () => {
    const data = Array.from(
      { length: 5000 },
      (_, index): RecordData => ({
        kind: 'A',
        address: `10.0.${index >> 8}.${index & 255}`,
      }),
    );
    const { answers } = recordsIn(recordSet(TYPE.A, 30, data));
    expect(answers.length).toBeGreaterThan(4000);
    expect(answers).toEqual(toRecords(owner, recordSet(TYPE.A, 30, data.slice(0, answers.length))));
  });

  it('leave the additional records away first', () => {
    const targets = Array.from({ length: 1500 }, (_, index) => toKey(parseName(`pod-${index}.${owner}`)));
    const data = targets.map(
      (one): RecordData => ({ kind: 'SRV', priority: 0, weight: 1, port: 80, target: one }),
    );
    const address = recordSet(TYPE.A, 30, [{ kind: 'A', address: '10.0.0.1' }]);
    const additional = targets.map((one) => ({ name: one, set: address }));
    const { answers, additionals } = recordsIn({ type: TYPE.SRV, ttl: 30, data, additional });
    expect(answers.length).toBeGreaterThan(500);
    expect(answers.length).toBeLessThan(1500);
    expect(additionals).toEqual([]);
  });

  it('are asked of the chain where records stand elsewhere, or an alias is to be followed', () => {
    const set: RecordSet = { ...recordSet(TYPE.SRV, 30, []), additional: 'elsewhere' };
    const compiled = compileNode(nodeWith([set]), ZONE);
    expect(compiled).toMatchObject({ otherTypes: 'ask' });
    expect(compiled.answers.size).toBe(0);
    const alias = { target: owner, ttl: 30, types: [TYPE.A], unanswered: 'alias' } as const;
    expect(compileNode(nodeWith([], { alias }), ZONE).otherTypes).toBe('ask');
    expect(compileNode(nodeWith([]), ZONE).otherTypes).toBe('nodata');
  });
});
