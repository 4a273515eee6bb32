import { parseName, toKey } from '@portolan/dns/name.ts';
import type { ResourceRecord } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { DEFAULT_LOSS_RULE, Losses } from '@portolan/kernel/base/losses.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZoneNames } from './zone-names.ts';
import { ZoneVersions } from './zone-versions.ts';

const ORIGIN = toKey(parseName('example.'));
const RULE = { ...DEFAULT_LOSS_RULE, names: 4 };

const soa = (serial: number): ResourceRecord => {
  const primary = parseName('ns.example.');
  const times = { refresh: 1, retry: 1, expire: 1, minimum: 1 };
  return record('example.', { kind: 'SOA', primary, mailbox: primary, serial, ...times });
};
const host = (number: number) => record(`h${number}.example.`, { kind: 'A', address: `192.0.2.${number}` });
const name = (number: number) => toKey(parseName(`h${number}.example.`));
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

function makeVersions() {
  const clock = new ManualClock();
  const losses = new Losses(RULE, { clock, log: silentLog });
  const versions = new ZoneVersions(losses, { kind: 'zone file', subject: 'db.example' });
  let serial = 0;
  const replace = (numbers: readonly number[]) => {
    serial += 1;
    versions.replace(new ZoneNames(ORIGIN, [soa(serial), ...numbers.map(host)]));
  };
  const find = (number: number) => ({
    exists: versions.served?.find(name(number))?.hasRecords === true,
    isStale: versions.isStale(name(number)),
  });
  return { clock, losses, versions, replace, find };
}

describe('a zone that loses its names at once', () => {
  it('answers them as stale, under the new serial, beside the new ones', () => {
    const { versions, replace, find, clock } = makeVersions();
    let changes = 0;
    versions.changed = () => {
      changes += 1;
    };
    replace(range(10));
    replace([0, 77]);
    expect(versions.served?.serial).toBe(2);
    expect(versions.current?.find(name(5))).toBeUndefined();
    expect([0, 77].map(find)).toEqual([0, 77].map(() => ({ exists: true, isStale: false })));
    expect(range(9).map((index) => find(index + 1))).toEqual(
      range(9).map(() => ({ exists: true, isStale: true })),
    );
    clock.advance(RULE.hold);
    expect(find(5)).toEqual({ exists: false, isStale: false });
    expect(versions.served).toBe(versions.current);
    expect(changes).toBe(1);
  });

  it('lets a single one go at once, then and later', () => {
    const { replace, find } = makeVersions();
    replace(range(10));
    replace(range(9));
    expect(find(9).exists).toBe(false);
    replace([0, 1]);
    replace([0]);
    expect([find(1).exists, find(5).exists]).toEqual([false, true]);
  });

  it('keeps nothing of a version once the zone has its names again', () => {
    const { versions, replace, losses, clock } = makeVersions();
    replace(range(10));
    replace([]);
    replace(range(10));
    expect(versions.served).toBe(versions.current);
    expect([losses.list(), clock.pending]).toEqual([[], 0]);
  });
});

it('answers each name that a source ever loses wrongly, for any history', () => {
  /** A version without some names: the source goes wrong if they are many. */
  const arbitraryVersion = fc.uniqueArray(fc.nat(11), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(arbitraryVersion, { maxLength: 12 }), (history) => {
      const { clock, replace, find, versions } = makeVersions();
      let current = new Set(range(12));
      const lost = new Set<number>();
      replace([...current]);
      for (const numbers of history) {
        // Losses in a row would add up.
        clock.advance(RULE.within);
        const next = new Set(numbers);
        const gone = [...current].filter((number) => !next.has(number));
        if (gone.length >= RULE.names && gone.length * 2 >= current.size)
          for (const number of gone) lost.add(number);
        for (const number of next) lost.delete(number);
        replace(numbers);
        current = next;
        for (const number of range(12))
          expect(find(number)).toEqual({
            exists: current.has(number) || lost.has(number),
            isStale: lost.has(number),
          });
      }
      clock.advance(RULE.hold);
      expect(versions.served).toBe(versions.current);
    }),
  );
});
