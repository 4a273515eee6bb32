import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reverseName } from '../../wire/address.ts';
import { parentOf, parseName, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { ReverseName } from './reverse-index.ts';
import { ReverseIndex } from './reverse-index.ts';

const key = (name: string): NameKey => toKey(parseName(name));
const reverse = (address: string, target: string, isService = false): ReverseName => ({
  address,
  target: key(target),
  isService,
});

function targetsOf(index: ReverseIndex, address: string): readonly string[] {
  const data = index.node(address)?.sets[0]?.data ?? [];
  return data.map((one) => (one.kind === 'PTR' ? one.target : 'not a PTR'));
}

describe('the index of addresses', () => {
  it('gives an address all its names, in order', () => {
    const index = new ReverseIndex(30);
    index.replace([], [reverse('10.0.0.1', 'b.'), reverse('10.0.0.1', 'a.')], () => {});
    index.replace([], [reverse('10.0.0.1', 'c.')], () => {});
    expect(targetsOf(index, '10.0.0.1')).toEqual(['a.', 'b.', 'c.']);
    expect(index.find(key('1.0.0.10.in-addr.arpa.'))?.name).toBe('1.0.0.10.in-addr.arpa.');
  });

  it('gives an address of a service the name of the service alone', () => {
    const index = new ReverseIndex(30);
    index.replace([], [reverse('10.0.0.1', 'a.'), reverse('10.0.0.1', 'service.', true)], () => {});
    expect(targetsOf(index, '10.0.0.1')).toEqual(['service.']);
  });

  it('takes equal names for the ones it has', () => {
    const index = new ReverseIndex(30);
    const changed: string[] = [];
    const first = index.replace([], [reverse('10.0.0.1', 'a.')], () => {});
    const second = index.replace(first, [reverse('10.0.0.1', 'a.')], (address) => changed.push(address));
    expect(changed).toEqual([]);
    index.replace(second, [], (address) => changed.push(address));
    expect(changed).toEqual(['10.0.0.1']);
    expect(index.size).toBe(0);
  });

  it('knows the names above addresses, and forgets them', () => {
    const octet = fc.constantFrom(0, 1, 10, 101, 255);
    const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
    const group = fc.constantFrom('0', '1', 'fd00', '10');
    const ipv6 = fc.tuple(group, group).map(([first, last]) => `2001:${first}::${last}`);
    const step = fc.record({
      address: fc.oneof(ipv4, ipv6.map(canonical)),
      isThere: fc.boolean(),
      isAsked: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const index = new ReverseIndex(30);
        const there = new Map<string, readonly ReverseName[]>();
        for (const { address, isThere, isAsked } of steps) {
          const names = isThere ? [reverse(address, 'a.')] : [];
          there.set(
            address,
            index.replace(there.get(address) ?? [], names, () => {}),
          );
          if (isAsked) expect(asSet(index, steps)).toEqual(expected(there));
        }
        expect(asSet(index, steps)).toEqual(expected(there));
      }),
    );
  });
});

const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** All names above these addresses, the top of the reverse tree excepted. */
function namesAbove(addresses: Iterable<string>): Set<string> {
  const names = new Set<string>();
  for (const address of addresses) {
    let name: NameKey | undefined = parentOf(reverseName(address));
    for (; name !== undefined && name.split('.').length > 3; name = parentOf(name)) names.add(name);
  }
  return names;
}

function asSet(index: ReverseIndex, steps: readonly { readonly address: string }[]): Set<string> {
  const all = namesAbove(steps.map(({ address }) => address));
  return new Set([...all].filter((name) => index.hasBelow(key(name))));
}

function expected(there: ReadonlyMap<string, readonly ReverseName[]>): Set<string> {
  return namesAbove([...there].flatMap(([address, names]) => (names.length > 0 ? [address] : [])));
}
