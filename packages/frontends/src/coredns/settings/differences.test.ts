import type { DeviationId } from '@portolan/kernel/deviations/table.ts';
import { describe, expect, it } from 'vitest';
import { parseCompat } from './compat.ts';
import { findDifferences, findMetDeviations } from './differences.ts';
import type { ServerBlock } from './read-corefile.ts';

type Use = ServerBlock['plugins'][number];

function makeBlock(...plugins: readonly Use[]): ServerBlock {
  return { plugins } as Partial<ServerBlock> as ServerBlock;
}

const CACHE = { name: 'cache', options: {} } as Use;

describe('the state of a deviation', () => {
  it.each([
    ['cluster-in-cache', 'own-query', 'kept'],
    ['cluster-in-cache', 'negative-ttl', 'restored'],
    ['cluster-in-cache', 'further-questions', 'restored'],
    ['cluster-in-cache', '1.14,-negative-ttl', 'restored'],
    ['cluster-in-cache', 'cluster-in-cache', 'restored'],
    ['negative-ttl', 'cluster-in-cache', 'kept'],
    ['negative-ttl', '1.14,-negative-ttl', 'kept'],
    ['class-of-its-own', '1.14', 'stays'],
  ] as const)('%s with -compat=%s: %s', (id, compat, state) => {
    const reading = parseCompat(compat);
    if (reading.kind !== 'good') throw new Error(reading.fault);
    const met = findMetDeviations([makeBlock(CACHE)], reading.value.restored);
    expect(met.find((each) => each.id === id)?.state).toBe(state);
  });
});

describe('a survey', () => {
  it('names a value of -compat that the flag takes', () => {
    const values = findDifferences([CACHE]).flatMap(({ compat }) => compat ?? []);
    expect(values.length).toBeGreaterThan(1);
    expect(values.filter((value) => parseCompat(value).kind !== 'good')).toEqual([]);
  });

  it.each([
    ['template', { templates: [{ answer: ['{{ .Name }} CNAME a.'] }] }, true],
    ['template', { templates: [{ answer: [] }] }, false],
    ['rewrite', { rules: [{ field: 'cname' }] }, true],
    ['rewrite', { rules: [{ field: 'name' }] }, false],
  ])('names loops of aliases for %s %j: %s', (name, options, isNamed) => {
    const ids = findDifferences([{ name, options } as Use]).map(({ id }): DeviationId => id);
    expect(ids.includes('alias-loops')).toBe(isNamed);
  });
});
