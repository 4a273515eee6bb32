import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeSteps } from '../../base/steps.ts';
import { reverseName } from '../../wire/address.ts';
import { parentOf, parseName, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { NO_NAMES, ReverseIndex, type ReverseName, type ReverseOwner } from './reverse-index.ts';

const key = (name: string): NameKey => toKey(parseName(name));
const reverse = (address: string, target: string, isService = false): ReverseName => ({
  address,
  target: key(target),
  isService,
});

const END = key('service.');
const owner = (): ReverseOwner => ({ reverse: NO_NAMES });

const replace = (index: ReverseIndex, ...all: Parameters<ReverseIndex['replace']>) =>
  completeSteps(index.replace(...all));

function targetsOf(index: ReverseIndex, address: string): readonly string[] {
  const data = index.node(address)?.sets[0]?.data ?? [];
  return data.map((one) => (one.kind === 'PTR' ? one.target : 'not a PTR'));
}

describe('the index of addresses', () => {
  it('gives an address all its names, in order', () => {
    const index = new ReverseIndex(30);
    replace(index, owner(), END, [reverse('10.0.0.1', 'b.'), reverse('10.0.0.1', 'a.')], () => {});
    replace(index, owner(), END, [reverse('10.0.0.1', 'c.')], () => {});
    expect(targetsOf(index, '10.0.0.1')).toEqual(['a.', 'b.', 'c.']);
    expect(index.find(key('1.0.0.10.in-addr.arpa.'))?.name).toBe('1.0.0.10.in-addr.arpa.');
  });

  it('gives an address of a service the name of the service alone', () => {
    const index = new ReverseIndex(30);
    replace(
      index,
      owner(),
      END,
      [reverse('10.0.0.1', 'a.'), reverse('10.0.0.1', 'service.', true)],
      () => {},
    );
    expect(targetsOf(index, '10.0.0.1')).toEqual(['service.']);
  });

  it('takes equal names for the ones it has', () => {
    const index = new ReverseIndex(30);
    const changed: string[] = [];
    const service = owner();
    replace(index, service, END, [reverse('10.0.0.1', 'a.')], () => {});
    replace(index, service, END, [reverse('10.0.0.1', 'a.')], (address) => changed.push(address));
    expect(changed).toEqual([]);
    replace(index, service, END, [], (address) => changed.push(address));
    expect(changed).toEqual(['10.0.0.1']);
    expect(index.size).toBe(0);
  });

  it.each([
    ['as one text', false],
    ['as they are', true],
  ])('gives what its services say, whatever they said before: %s', (_way, areKept) => {
    const address = fc.constantFrom(
      '10.0.0.1',
      '10.0.0.11',
      '200.0.0.1',
      '2001:db8::1',
      '2001:db8::11',
      '::',
    );
    const target = fc.constantFrom(
      'service.',
      'a.service.',
      'service.service.',
      'a.b.service.',
      'other.',
      'aservice.',
    );
    const name = fc.record({ address, target: target.map(key), isService: fc.boolean() });
    const step = fc.record({ service: fc.nat({ max: 2 }), names: fc.array(name, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const index = new ReverseIndex(30);
        const owners = [owner(), owner(), owner()];
        const said: (readonly ReverseName[])[] = [[], [], []];
        const seen = new Map<string, string>();
        const changed = new Set<string>();
        // A repeated name is one record.
        const print = (names: readonly ReverseName[], of: string) =>
          [...new Set(names.flatMap((one) => (one.address === of ? [`${one.target} ${one.isService}`] : [])))]
            .sort()
            .join();
        for (const { service, names } of steps) {
          said[service] = names;
          const unit = owners[service] ?? owner();
          const isNew = replace(index, unit, END, names, (one) => changed.add(one), areKept);
          if (isNew) for (const { address: one } of names) changed.add(one);
          for (const node of index.nodesOf(unit)) expect(node).toEqual(index.find(node.name));
          for (const one of ['10.0.0.1', '10.0.0.11', '200.0.0.1', '2001:db8::1', '2001:db8::11', '::']) {
            const now = print(said.flat(), one);
            expect(print(index.namesOf(one), one)).toBe(now);
            if (now !== (seen.get(one) ?? '')) expect([...changed]).toContain(one);
            seen.set(one, now);
          }
          changed.clear();
          expect(index.size).toBe(new Set(said.flat().map((one) => one.address)).size);
        }
      }),
    );
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
        const owners = new Map<string, ReverseOwner>();
        for (const { address, isThere, isAsked } of steps) {
          const names = isThere ? [reverse(address, 'a.')] : [];
          const service = owners.get(address) ?? owner();
          owners.set(address, service);
          there.set(address, names);
          replace(index, service, END, names, () => {});
          if (isAsked) expect(asSet(index, steps)).toEqual(expected(there));
        }
        expect(asSet(index, steps)).toEqual(expected(there));
      }),
    );
  });

  it('knows them too when many addresses have changed since the last question', () => {
    const index = new ReverseIndex(30);
    const names = Array.from({ length: 600 }, (_, number) =>
      reverse(`10.0.${number % 3}.${number % 200}`, 'a.'),
    );
    const has = () => [0, 1, 2, 3].map((octet) => index.hasBelow(key(`${octet}.0.10.in-addr.arpa.`)));
    const service = owner();
    replace(index, service, END, names.slice(0, 1), () => {});
    expect(has()).toEqual([true, false, false, false]);
    replace(index, service, END, names, () => {});
    expect(has()).toEqual([true, true, true, false]);
    const left = names.filter(({ address }) => address.startsWith('10.0.2.'));
    replace(index, service, END, left, () => {});
    expect(has()).toEqual([false, false, true, false]);
  });
});

const canonical = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);

/** All names above these addresses, except the top of the reverse tree. */
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
