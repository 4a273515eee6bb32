import { describe, expect, it } from 'vitest';
import { RecordingLog } from '../../base/testing/recording-log.ts';
import { TableReader } from '../../table/reader.ts';
import { query } from '../../table/testing/table-answers.ts';
import { DEFAULT_VIEW, VERDICT } from '../../table/types.ts';
import { TableWriter } from '../../table/writer.ts';
import { LocalNames } from './local-names.ts';
import { hostsOnly } from './local-plan.ts';
import { LocalPublication } from './local-publication.ts';
import { makeHostNames } from './testing/make-host-names.ts';

function namesOf(hosts: Readonly<Record<string, string>>): LocalNames {
  return new LocalNames(hostsOnly(5), makeHostNames(Object.entries(hosts)), 0);
}

const NOTHING = namesOf({});

function makePublication(reservation = 2 ** 26) {
  const table = new TableWriter({ reservation, cacheOctets: 2 ** 16, readers: 1 });
  const reader = new TableReader(table.memory, 0);
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
  const replace = (before: LocalNames, after: LocalNames) => {
    const work = publication.replace(before, after);
    for (let pauses = 0; ; pauses += 1) {
      const step = work.next();
      if (step.done === true) return { changed: step.value, pauses };
    }
  };
  return { table, publication, log, tell, replace };
}

describe('the publication of local names', () => {
  it('is the difference between what stands and what is known', () => {
    const { tell, replace } = makePublication();
    const before = namesOf({ stays: '10.0.0.1', goes: '10.0.0.2', moves: '10.0.0.3' });
    expect(replace(NOTHING, before).changed.count).toBe(6);
    const after = namesOf({ stays: '10.0.0.1', moves: '10.0.0.4', comes: '10.0.0.5' });
    const { changed } = replace(before, after);
    expect([tell('stays'), tell('goes'), tell('moves'), tell('comes')]).toEqual([
      ...['10.0.0.1', undefined, '10.0.0.4', '10.0.0.5'],
    ]);
    expect(changed.first.filter((name) => !name.endsWith('arpa.')).toSorted()).toEqual([
      ...['comes.', 'goes.', 'moves.'],
    ]);
    expect(
      replace(after, namesOf({ moves: '10.0.0.4', stays: '10.0.0.1', comes: '10.0.0.5' })).changed.count,
    ).toBe(0);
  });

  it('pauses now and then, and lists no more names than its limit', () => {
    const { replace } = makePublication();
    const many = Array.from({ length: 5000 }, (_, index) => [`n${index}`, '0.0.0.0'] as const);
    const { changed, pauses } = replace(NOTHING, namesOf(Object.fromEntries(many)));
    expect(pauses).toBeGreaterThan(40);
    expect([changed.count, changed.isListed, changed.first.length]).toEqual([5001, false, 1000]);
  });

  it('says once that the table is full, and leaves standing what stands', () => {
    const { publication, log, tell, replace } = makePublication(2 ** 21);
    const first = namesOf({ first: '10.0.0.1' });
    replace(NOTHING, first);
    expect(publication.isWhole).toBe(true);
    const many = Array.from({ length: 20_000 }, (_, index) => [`n${index}`, '0.0.0.0'] as const);
    replace(first, namesOf({ first: '10.0.0.1', ...Object.fromEntries(many) }));
    expect(log.records.map(({ level }) => level)).toEqual(['error']);
    expect(tell('first')).toBe('10.0.0.1');
    // Readers must not forward names that may be among the missing ones.
    expect(publication.isWhole).toBe(false);
  });
});
