import { expect, it } from 'vitest';
import { OctetStore } from './octet-store.ts';

it('gives back runs of every length, over chunks and before and behind each other', () => {
  const store = new OctetStore();
  const lengths = [0, 1, 254, 255, 256, 4_000_000, 300_000, 65_536, 1];
  const runs = lengths.map((length, index) => Buffer.alloc(length, index + 1));
  const offsets = runs.map((run) => store.add(run));
  for (const [index, run] of runs.entries()) {
    const offset = offsets[index] ?? -1;
    expect(store.get(offset).equals(run)).toBe(true);
    expect(store.text(offset)).toHaveLength(run.length);
    expect(store.equals(offset, run)).toBe(true);
    expect(store.equals(offset, Buffer.concat([run, Buffer.from('x')]))).toBe(false);
  }
});
