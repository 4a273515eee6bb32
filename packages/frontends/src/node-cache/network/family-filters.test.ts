import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { expect, it } from 'vitest';
import { FamilyFilters } from './family-filters.ts';

function makeFilter(name: string, fails = false) {
  const filter = {
    name,
    isSet: false,
    set: async () => {
      if (fails) throw new ProgramError('no such table');
      filter.isSet = true;
      return name === 'iptables';
    },
    remove: async () => {
      filter.isSet = false;
    },
    leave: () => {},
  };
  return filter;
}

it('are set and removed together', async () => {
  const parts = [makeFilter('iptables'), makeFilter('ip6tables')];
  const both = new FamilyFilters(parts);
  expect(both.name).toBe('iptables and ip6tables');
  expect(await both.set()).toBe(true);
  expect(both.isSet).toBe(true);
  await both.remove();
  expect(parts.map(({ isSet }) => isSet)).toEqual([false, false]);
});

it('leave no rules of one family where those of the other cannot be set', async () => {
  const parts = [makeFilter('iptables'), makeFilter('ip6tables', true)];
  const both = new FamilyFilters(parts);
  await expect(both.set()).rejects.toThrow('no such table');
  expect(both.isSet).toBe(false);
  expect(parts.map(({ isSet }) => isSet)).toEqual([false, false]);
});
