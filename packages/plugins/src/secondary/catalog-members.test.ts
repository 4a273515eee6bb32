import { parseKey, parseName } from '@portolan/dns/name.ts';
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { DEFAULT_LOSS_RULE, Losses } from '@portolan/kernel/base/losses.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ZoneNames } from '../file/zone-names.ts';
import { shareVersions } from '../file/zone-versions.ts';
import { CatalogMembers } from './catalog-members.ts';
import { type FetchedZone, FollowedZone } from './followed-zone.ts';
import type { SecondaryZone } from './options.ts';

const MEMBER = parseKey('one.test.');
const RULE = { ...DEFAULT_LOSS_RULE, names: 4 };
const DAY = 24 * 3600;

function makeZoneNames(origin: NameKey, serial: number, records: readonly ResourceRecord[]): ZoneNames {
  const primary = parseName('ns.test.');
  const times = { refresh: DAY, retry: DAY, expire: DAY, minimum: DAY };
  const soa = record(origin, { kind: 'SOA', primary, mailbox: primary, serial, ...times });
  return new ZoneNames(origin, [soa, ...records]);
}

/** A catalog that lists the member zone. @param more records of it */
function makeCatalog(origin: string, ...more: readonly ResourceRecord[]): ZoneNames {
  return makeZoneNames(parseKey(origin), 1, [
    record(origin, { kind: 'NS', target: parseName('invalid.') }),
    record(`version.${origin}`, { kind: 'TXT', strings: [Buffer.from('2')] }),
    record(`id.zones.${origin}`, { kind: 'PTR', target: parseName('one.test.') }),
    ...more,
  ]);
}

const hosts = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    record(`h${index}.one.test.`, { kind: 'A', address: '192.0.2.1' }),
  );

it('removes the names that a zone lost at once in time, even if it has moved to another catalog', () => {
  const clock = new ManualClock();
  const losses = new Losses(RULE, { clock, log: silentLog });
  const makeFetched = (...versions: readonly ZoneNames[]): FetchedZone => {
    const shared = shareVersions(losses, { kind: 'transfer', subject: '' });
    for (const names of versions) shared.value.replace(names);
    return { versions: shared, checked: clock.monotonic() };
  };
  const makeZone = (plan: SecondaryZone, fetched: FetchedZone | undefined) =>
    new FollowedZone(plan, fetched, { clock, log: silentLog, random: () => 0, losses, onChange: () => {} });
  const follow = (names: ZoneNames) => {
    const catalog = { within: [parseKey('test.')] };
    members.follow(makeZone({ origin: names.origin, primaries: [], catalog }, makeFetched(names)));
  };
  const lost = makeFetched(makeZoneNames(MEMBER, 1, hosts(10)), makeZoneNames(MEMBER, 2, hosts(1)));
  const members = new CatalogMembers({
    isNamed: () => false,
    formerAt: () => lost,
    makeZone,
    log: silentLog,
  });
  onTestFinished(() => members.stop());
  const isServed = () => members.get(MEMBER)?.served?.find(parseKey('h9.one.test.'))?.hasRecords === true;

  const newOwner = record('coo.id.zones.a.test.', { kind: 'PTR', target: parseName('b.test.') });
  follow(makeCatalog('a.test.', newOwner));
  follow(makeCatalog('b.test.'));
  expect(losses.list()).toMatchObject([{ kind: 'transfer', names: 9 }]);
  expect(isServed()).toBe(true);
  clock.advance(RULE.hold);
  expect(members.get(MEMBER)?.served?.serial).toBe(2);
  expect(isServed()).toBe(false);
});
