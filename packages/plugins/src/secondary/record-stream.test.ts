import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { ResourceRecord } from '@portolan/dns/types.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KnownRecords, RecordStream, type TransferResult } from './record-stream.ts';

const NAME = parseName('ns.example.');
const soa = (serial: number) =>
  record('example.', {
    kind: 'SOA',
    primary: NAME,
    mailbox: NAME,
    serial,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
  });
const host = (number: number) => record(`h${number}.example.`, { kind: 'A', address: `192.0.2.${number}` });
const hosts = (...numbers: readonly number[]) => numbers.map(host);
const known = (serial: number, records: readonly ResourceRecord[]): KnownRecords => ({
  serial,
  records: () => records,
});

function take(messages: readonly (readonly ResourceRecord[])[], zone?: KnownRecords): TransferResult {
  const stream = new RecordStream(zone);
  for (const [index, message] of messages.entries()) {
    stream.push(message);
    expect(stream.isComplete).toBe(index === messages.length - 1);
  }
  return stream.result();
}

const show = (result: TransferResult) =>
  result.kind === 'zone' ? result.records.map(presentRecord).toSorted() : result.kind;
const shown = (...records: readonly ResourceRecord[]) => records.map(presentRecord).toSorted();

describe('a whole zone', () => {
  it('ends with its SOA record, in one message or many', () => {
    const all = [soa(5), host(1), host(2), soa(5)];
    expect(show(take([all]))).toEqual(shown(soa(5), host(1), host(2)));
    expect(show(take(all.map((each) => [each])))).toEqual(shown(soa(5), host(1), host(2)));
    expect(show(take([[soa(5), soa(5)]]))).toEqual(shown(soa(5)));
  });

  it('may come where changes were asked for', () =>
    expect(show(take([[soa(5), host(1), soa(5)]], known(4, hosts(9))))).toEqual(shown(soa(5), host(1))));
});

describe('changes', () => {
  // RFC 1995 section 7, with three versions.
  const before = known(1, hosts(1, 2));
  const changes = [
    soa(3),
    soa(1),
    host(1),
    soa(2),
    host(3),
    host(4),
    soa(2),
    host(3),
    soa(3),
    host(5),
    soa(3),
  ];

  it('apply one after the other, in one message or many', () => {
    expect(show(take([changes], before))).toEqual(shown(soa(3), host(2), host(4), host(5)));
    expect(
      show(
        take(
          changes.map((each) => [each]),
          before,
        ),
      ),
    ).toEqual(shown(soa(3), host(2), host(4), host(5)));
  });

  it('are empty where the serial is the same', () =>
    expect(take([[soa(1)]], before)).toEqual({ kind: 'current' }));

  it('lead from any zone to any other', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { maxLength: 30 });
    fc.assert(
      fc.property(numbers, numbers, fc.integer({ min: 1, max: 7 }), (from, to, size) => {
        const deleted = from.filter((number) => !to.includes(number));
        const added = to.filter((number) => !from.includes(number));
        const all = [soa(8), soa(7), ...hosts(...deleted), soa(8), ...hosts(...added), soa(8)];
        const messages = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
          all.slice(index * size, (index + 1) * size),
        );
        expect(show(take(messages, known(7, hosts(...from))))).toEqual(shown(soa(8), ...hosts(...to)));
      }),
    );
  });
});

describe('a transfer is refused', () => {
  it.each<[string, readonly ResourceRecord[], string]>([
    ['that does not begin with an SOA record', [host(1)], 'dns: no SOA'],
    ['with records behind its end', [soa(5), host(1), soa(5), host(2)], 'behind the last SOA'],
    ['with changes of another version', [soa(5), soa(3), host(1)], 'another version'],
    ['that deletes what is not there', [soa(5), soa(1), host(9)], 'does not have'],
  ])('%s', (_, records, fault) =>
    expect(() => new RecordStream(known(1, hosts(1))).push(records)).toThrow(fault),
  );
});
