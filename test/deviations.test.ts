/**
 * The table of deviations: its ids are words that users can write, and each row says what it must.
 */
import { expect, it } from 'vitest';
import { DEVIATION_SECTIONS, DEVIATIONS, findSwitch, isRestorable } from '../src/deviations/table.ts';

it('has ids that differ, in words of lower case', () => {
  const ids = DEVIATIONS.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(60);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id))).toEqual([]);
});

it('has each row in one section of the page', () => {
  const shown = Object.values(DEVIATION_SECTIONS).flat();
  expect(shown.map(({ id }) => id).toSorted()).toEqual(DEVIATIONS.map(({ id }) => id).toSorted());
});

it('restores a row with another one only if that has a switch', () => {
  const restorable = new Set<string>(DEVIATIONS.filter(isRestorable).map(({ id }) => id));
  const leaders = DEVIATIONS.flatMap((row) => {
    const id = findSwitch(row);
    return id === undefined || id === row.id ? [] : [id];
  });
  expect(leaders.length).toBeGreaterThan(5);
  expect(leaders.filter((id) => !restorable.has(id))).toEqual([]);
});
