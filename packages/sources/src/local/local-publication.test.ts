import { parseName, toKey } from '@portolan/dns/name.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { query } from '@portolan/kernel/table/testing/table-answers.ts';
import { DEFAULT_VIEW, VERDICT } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it, vi } from 'vitest';
import { LocalNames } from './local-names.ts';
import { hostsOnly, type LocalNamesPlan } from './local-plan.ts';
import { LocalPublication } from './local-publication.ts';
import { makeHostNames } from './testing/make-host-names.ts';

function makePublication(reservation = 2 ** 26) {
  const table = new TableWriter({ reservation, cacheOctets: 2 ** 16, readers: 1 });
  const reader = new TableReader(table.memory, 0, undefined, composeRecords);
  const log = new RecordingLog();
  const publication = new LocalPublication(table, log);
  const view = table.viewSettings(DEFAULT_VIEW);
  table.changeView(DEFAULT_VIEW, { ...view, publications: [publication.id] });
  /** The address that a reader finds; undefined if it asks the chain. */
  const tell = (name: string): string | undefined => {
    const { packet, length } = query(name, 'A');
    const end = reader.answer(packet, 0, length, packet.length, 'udp');
    return end === VERDICT.ASK ? undefined : packet.subarray(end - 4, end).join('.');
  };
  const makeLocalNames = (hosts: Readonly<Record<string, string>>, cnames: LocalNamesPlan['cnames'] = []) =>
    new LocalNames({ ...hostsOnly(5), cnames }, makeHostNames(Object.entries(hosts), publication), 0);
  const replace = (before: LocalNames, after: LocalNames) => {
    const work = publication.replace(before.nodes, after.nodes, after.hosts);
    for (let pauses = 0; ; pauses += 1) {
      const step = work.next();
      if (step.done === true) return { changed: step.value, pauses };
    }
  };
  return { table, publication, log, tell, makeLocalNames, replace };
}

const key = (text: string) => toKey(parseName(text));
const aliases = (names: readonly string[]) =>
  names.map((name) => ({ alias: key(name), target: key('web'), ttl: 3 }));

describe('the publication of local names', () => {
  it('is the list of the names of files, which another replaces', () => {
    const { tell, makeLocalNames, replace } = makePublication();
    const before = makeLocalNames({ stays: '10.0.0.1', goes: '10.0.0.2', moves: '10.0.0.3' });
    replace(makeLocalNames({}), before);
    replace(before, makeLocalNames({ stays: '10.0.0.1', moves: '10.0.0.4', comes: '10.0.0.5' }));
    expect([tell('stays'), tell('goes'), tell('moves'), tell('comes')]).toEqual([
      '10.0.0.1',
      undefined,
      '10.0.0.4',
      '10.0.0.5',
    ]);
  });

  it('has nodes for names of options, of which it puts the difference', () => {
    const { tell, makeLocalNames, replace } = makePublication();
    const before = makeLocalNames({ web: '10.0.0.1', one: '10.0.0.2' }, aliases(['one', 'two']));
    expect(replace(makeLocalNames({}), before).changed?.first.toSorted()).toEqual(['one.', 'two.']);
    expect([tell('web'), tell('one'), tell('two')]).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1']);
    const after = makeLocalNames({ web: '10.0.0.1', one: '10.0.0.2' }, aliases(['two']));
    expect(replace(before, after).changed?.first).toEqual(['one.']);
    expect([tell('one'), tell('two')]).toEqual(['10.0.0.2', '10.0.0.1']);
  });

  it('pauses now and then, and lists no more names than its limit', () => {
    const { makeLocalNames, replace } = makePublication();
    const many = Array.from({ length: 5000 }, (_, index) => `n${index}`);
    const { changed, pauses } = replace(
      makeLocalNames({}),
      makeLocalNames({ web: '10.0.0.1' }, aliases(many)),
    );
    expect(pauses).toBeGreaterThan(40);
    expect([changed?.count, changed?.isListed, changed?.first.length]).toEqual([5000, false, 1000]);
  });

  it('says once that the table is full, and leaves standing what stands', () => {
    const { publication, log, tell, makeLocalNames, replace } = makePublication(2 ** 21);
    const first = makeLocalNames({ first: '10.0.0.1' });
    replace(makeLocalNames({}), first);
    expect(publication.isWhole).toBe(true);
    const many = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    expect(replace(first, makeLocalNames({ first: '10.0.0.2' }, aliases(many))).changed).toBeUndefined();
    expect(log.records.map(({ level }) => level)).toEqual(['error']);
    expect([tell('first'), tell('n1')]).toEqual(['10.0.0.1', undefined]);
    // Readers must not forward names that may be among the missing ones.
    expect(publication.isWhole).toBe(false);
  });

  it('counts no names of a list that the table has no room to show', () => {
    const { table, publication, makeLocalNames, replace } = makePublication();
    const after = makeLocalNames({ web: '10.0.0.1' });
    const space = table.openRecordSpace(publication.id);
    const take = space.take.bind(space);
    let blocks = 0;
    vi.spyOn(space, 'take').mockImplementation((octets) => {
      blocks += 1;
      if (blocks > 1) throw new TableFullError(octets);
      return take(octets);
    });
    expect(replace(makeLocalNames({}), after).changed).toBeUndefined();
    after.hosts.retire();
    expect([blocks, table.statistics().records, table.statistics().recordOctets]).toEqual([2, 0, 0]);
  });

  it('is no list where files have no names', () => {
    const { table, tell, makeLocalNames, replace } = makePublication();
    const before = makeLocalNames({ web: '10.0.0.1' });
    replace(makeLocalNames({}), before);
    replace(before, makeLocalNames({}));
    before.hosts.retire();
    expect([tell('web'), table.statistics().recordOctets]).toEqual([undefined, 0]);
  });
});
