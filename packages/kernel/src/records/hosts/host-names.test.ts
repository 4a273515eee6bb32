import { formatAddress, parseAddress, reverseName } from '@portolan/dns/address.ts';
import { encodeName, parseName, toKey } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostNames } from './host-names.ts';
import { makeUnseenNames } from './testing/make-unseen-names.ts';

const wire = (text: string) => encodeName(toKey(parseName(text)));
const NAMES = ['a', 'b', 'c.example', '1.0.0.10.in-addr.arpa', 'x.1.0.0.10.in-addr.arpa'];
const ADDRESSES = ['10.0.0.1', '10.0.0.2', 'fd00::1', 'fd00::2', '0.0.0.0'];

const line = fc.record({
  name: fc.constantFrom(...NAMES),
  address: fc.constantFrom(...ADDRESSES),
  ttl: fc.constantFrom(5, 9),
});
type Line = typeof line extends fc.Arbitrary<infer T> ? T : never;

/** The names known after some lines, as plain values. */
function expected(lines: readonly Line[]) {
  const names = new Map<string, { address: string; ttl: number }[]>();
  const pointers = new Map<string, { target: string; ttl: number }>();
  for (const { name, address, ttl } of lines) {
    const known = names.get(`${name}.`) ?? [];
    if (!known.some((each) => each.address === address)) known.push({ address, ttl });
    names.set(`${name}.`, known);
    const reverse = reverseName(address);
    if (!pointers.has(reverse)) pointers.set(reverse, { target: `${name}.`, ttl });
  }
  return { names, pointers };
}

function makeHosts(lines: readonly Line[]): HostNames {
  const hosts = makeUnseenNames();
  for (const { name, address, ttl } of lines)
    hosts.add(
      wire(name),
      parseAddress(address) ?? new Uint8Array(),
      hosts.addOrigin({ ttl, file: '/hosts' }),
    );
  return hosts;
}

describe('the names of hosts files', () => {
  it('are what their lines say, whatever addresses they share', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        const hosts = makeHosts(lines);
        const { names, pointers } = expected(lines);
        expect(Array.from(hosts.names(), keyOfWire)).toEqual([...names.keys()]);
        for (const [name, addresses] of names) {
          const told = hosts.findAddresses(wire(name));
          expect(told.map(({ octets, ttl }) => ({ address: formatAddress(octets), ttl }))).toEqual(addresses);
          const ipv4 = addresses.filter(({ address }) => !address.includes(':'));
          expect(hosts.countIpv4(wire(name))).toBe(ipv4.length);
        }
        for (const [reverse, { target, ttl }] of pointers) {
          const pointer = hosts.pointer(wire(reverse));
          expect([pointer && keyOfWire(pointer.target), pointer?.ttl]).toEqual([target, ttl]);
        }
        const onlyReverse = [...pointers.keys()].filter((name) => !names.has(name));
        expect(Array.from(hosts.reverseNames(), keyOfWire).toSorted()).toEqual(onlyReverse.toSorted());
      }),
    );
  });

  it('are the same in two readings of the same lines, and only then', () => {
    const lines = fc.array(line, { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, fc.constantFrom(...NAMES), (some, others, name) => {
        const one = expected(some).names.get(`${name}.`);
        const other = expected(others).names.get(`${name}.`);
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(makeHosts(some).hasSameAddresses(wire(name), makeHosts(others))).toBe(isSame);
      }),
    );
  });

  it('grow beyond what was expected, and beyond one chunk of memory', () => {
    const hosts = makeUnseenNames(10);
    const origin = hosts.addOrigin({ ttl: 5, file: undefined });
    const count = 60_000;
    for (let index = 0; index < count; index += 1)
      hosts.add(wire(`name-${index}.example`), Uint8Array.of(10, index >> 16, index >> 8, index), origin);
    expect(hosts.size).toBe(count);
    let listed = 0;
    for (const name of hosts.names()) listed += hosts.findAddresses(name).length;
    for (const name of hosts.reverseNames()) listed += hosts.pointer(name) === undefined ? 0 : 1;
    expect(listed).toBe(2 * count);
    expect(keyOfWire(hosts.pointer(wire('95.234.0.10.in-addr.arpa'))?.target ?? wire('none'))).toBe(
      'name-59999.example.',
    );
  });
});
