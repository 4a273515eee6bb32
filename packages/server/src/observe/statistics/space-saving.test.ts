import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLeast, mergeSummaries, SpaceSaving, type Summary } from './space-saving.ts';

/** Few keys come often, so that small summaries overflow. */
const key = fc.integer({ min: 0, max: 400 }).map((number) => `k${Math.floor(number ** 2 / 4_000)}`);
const stream = fc.array(fc.record({ key, weight: fc.constantFrom(1, 1, 1, 8) }), { maxLength: 400 });
type Stream = readonly { readonly key: string; readonly weight: number }[];

function summarize(items: Stream, room: number, rows = room): Summary {
  const summary = new SpaceSaving(room);
  for (const { key: what, weight } of items) summary.add(what, weight);
  return summary.read(rows);
}

function countExactly(items: Stream): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key: what, weight } of items) counts.set(what, (counts.get(what) ?? 0) + weight);
  return counts;
}

/** All that a summary says is true of the stream. */
function expectTrue(summary: Summary, items: Stream): void {
  const exact = countExactly(items);
  for (const row of summary.rows) {
    const truth = exact.get(row.what) ?? 0;
    expect([row.what, row.count >= truth, atLeast(row) <= truth]).toEqual([row.what, true, true]);
  }
  const listed = new Set(summary.rows.map(({ what }) => what));
  for (const [what, truth] of exact) if (!listed.has(what)) expect(summary.unlisted >= truth).toBe(true);
}

describe('Space-Saving', () => {
  it('bounds each count, holds no more keys than it has room for, and errs by its share at most', () => {
    fc.assert(
      fc.property(stream, fc.integer({ min: 1, max: 30 }), (items, room) => {
        const summary = summarize(items, room);
        expect(summary.rows.length).toBeLessThanOrEqual(room);
        expectTrue(summary, items);
        const total = items.reduce((sum, { weight }) => sum + weight, 0);
        for (const { error = 0 } of summary.rows) expect(error).toBeLessThanOrEqual(total / room);
        expect(summary.unlisted).toBeLessThanOrEqual(total / room);
      }),
    );
  });

  it('is exact where there is room for all keys', () => {
    fc.assert(
      fc.property(stream, (items) => {
        const { rows, unlisted } = summarize(items, 50);
        expect(new Map(rows.map(({ what, count }) => [what, count]))).toEqual(countExactly(items));
        expect([unlisted, rows.every(({ error }) => error === undefined)]).toEqual([0, true]);
      }),
    );
  });

  it('has the most frequent key in a long stream of rare ones', () => {
    const summary = new SpaceSaving(16);
    for (let turn = 0; turn < 10_000; turn++) {
      summary.add(`rare${turn}`);
      if (turn % 4 === 0) summary.add('often');
    }
    const [first] = summary.read().rows;
    expect(first?.what).toBe('often');
    expect(first && [first.count >= 2_500, atLeast(first) <= 2_500]).toEqual([true, true]);
  });

  it('is empty again when it is cleared', () => {
    const summary = new SpaceSaving(2);
    for (const what of ['a', 'b', 'c']) summary.add(what);
    summary.clear();
    summary.add('d');
    expect(summary.read()).toEqual({ rows: [{ what: 'd', count: 1 }], unlisted: 0 });
  });
});

describe('merged summaries', () => {
  it('are true of all streams together, whatever was cut off before', () => {
    const streams = fc.array(stream, { minLength: 1, maxLength: 4 });
    const small = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(streams, small, small, (all, room, rows) => {
        const merged = mergeSummaries(
          all.map((items) => summarize(items, room, rows)),
          rows,
        );
        expect(merged.rows.length).toBeLessThanOrEqual(rows);
        expectTrue(merged, all.flat());
      }),
    );
  });

  it('add what both have', () => {
    const one = {
      rows: [
        { what: 'a', count: 20 },
        { what: 'b', count: 7, error: 2 },
      ],
      unlisted: 4,
    };
    const other = { rows: [{ what: 'b', count: 15 }], unlisted: 0 };
    expect(mergeSummaries([one, other], 10)).toEqual({
      rows: [
        { what: 'b', count: 22, error: 2 },
        { what: 'a', count: 20 },
      ],
      unlisted: 4,
    });
  });
});
