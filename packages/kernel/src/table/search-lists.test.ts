import { parseAddress } from '@portolan/dns/address.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSocketAddress } from '../socket/addresses.ts';
import { HASH_KEYS } from './hash.ts';
import { HEADER, PUBLICATION, UNIT_SHIFT } from './layout.ts';
import { viewTable } from './memory.ts';
import { SearchListFinder, SearchLists } from './search-lists.ts';
import { wire } from './testing/table-answers.ts';
import { TableWriter } from './writer.ts';

const toAddressOctets = (address: string) => parseAddress(address) ?? new Uint8Array();

function makeLists(reservation = 2 ** 20) {
  const table = new TableWriter({ reservation, cacheOctets: 2 ** 16, readers: 0, seed: 1 });
  const lists = new SearchLists(table);
  const views = viewTable(table.memory);
  const keys = views.atoms.slice(HEADER.KEYS, HEADER.KEYS + HASH_KEYS);
  const finder = new SearchListFinder(views, keys);
  const directory = (views.atoms[HEADER.PUBLICATIONS] ?? 0) << (UNIT_SHIFT - 2);
  const record = (views.atoms[directory + lists.publication] ?? 0) << (UNIT_SHIFT - 2);
  expect(views.atoms[record + (PUBLICATION.ID >> 2)]).toBe(lists.publication);
  const packet = new Uint8Array(64);
  const find = (address: string) => {
    packet.set(encodeSocketAddress({ address, port: 53 }), 16);
    return finder.find(record, packet, 16);
  };
  const set = (address: string, ...domains: readonly string[]) =>
    lists.set(toAddressOctets(address), domains.length === 0 ? undefined : domains.map(wire));
  return { table, lists, find, set };
}

describe('the list of an address', () => {
  it('is that of the client, over IPv4 on a socket of IPv6 too', () => {
    const { find, set } = makeLists();
    set('192.0.2.1', 'a.svc.test', 'svc.test');
    set('2001:db8::1', 'b.svc.test');
    expect(find('192.0.2.1')).not.toBe(0);
    expect(find('::ffff:192.0.2.1')).toBe(find('192.0.2.1'));
    expect(find('2001:db8::1')).not.toBe(0);
    expect(find('2001:db8::1')).not.toBe(find('192.0.2.1'));
    for (const stranger of ['192.0.2.2', '2001:db8::2', '::192.0.2.1', '::ffff:192.0.2.2'])
      expect(find(stranger)).toBe(0);
  });

  it('is shared, replaced, and given back with its last address', () => {
    const { table, find, set } = makeLists();
    const before = table.statistics().recordOctets;
    set('192.0.2.1', 'a.svc.test');
    set('192.0.2.2', 'a.svc.test');
    expect(find('192.0.2.1')).toBe(find('192.0.2.2'));
    set('192.0.2.1', 'b.svc.test');
    expect(find('192.0.2.1')).not.toBe(find('192.0.2.2'));
    set('192.0.2.1', 'b.svc.test');
    set('192.0.2.1');
    set('192.0.2.2');
    expect([find('192.0.2.1'), find('192.0.2.2')]).toEqual([0, 0]);
    expect(table.statistics().recordOctets).toBe(before);
  });

  it('is not known where the table has no room, and known again once it has', () => {
    const { table, lists, find, set } = makeLists(2 ** 18);
    const toAddress = (number: number) => `10.0.${number >> 8}.${number & 255}`;
    let known = 0;
    while (set(toAddress(known), `ns-${known}.svc.test`)) known += 1;
    expect(known).toBeGreaterThan(100);
    expect(find(toAddress(known))).toBe(0);
    expect(lists.count).toBe(known);
    // Not the former list.
    expect(set(toAddress(0), 'another.svc.test')).toBe(false);
    expect(find(toAddress(0))).toBe(0);
    for (let number = 1; number < known; number += 1) set(toAddress(number));
    table.collect();
    expect(set(toAddress(0), 'another.svc.test')).toBe(true);
    expect(find(toAddress(0))).not.toBe(0);
  });

  it('goes with all others', () => {
    const { table, lists, set } = makeLists();
    const before = table.statistics().records;
    for (let number = 0; number < 600; number += 1) set(`10.0.${number >> 8}.${number & 255}`, 'a.svc.test');
    const steps = [...lists.drop()].length;
    expect(steps).toBeGreaterThan(1);
    expect([lists.count, table.statistics().records]).toEqual([0, before]);
  });

  it('is the last one that was set, for any order of changes', () => {
    const change = fc.record({
      address: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::1'),
      domain: fc.constantFrom(undefined, 'a.svc.test', 'b.svc.test'),
    });
    fc.assert(
      fc.property(fc.array(change), (changes) => {
        const { find, set } = makeLists();
        const known = new Map<string, string | undefined>();
        for (const { address, domain } of changes) {
          set(address, ...(domain === undefined ? [] : [domain]));
          known.set(address, domain);
        }
        const byList = new Map<number, string>();
        for (const [address, domain] of known) {
          const found = find(address);
          expect(found !== 0).toBe(domain !== undefined);
          if (domain === undefined) continue;
          expect(byList.get(found) ?? domain).toBe(domain);
          byList.set(found, domain);
        }
      }),
      { numRuns: 50 },
    );
  });
});
