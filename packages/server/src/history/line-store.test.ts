import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineStore } from './line-store.ts';

const MAX = 256 * 1024;

function readAll(store: LineStore): readonly string[] {
  return [...store.read(0, Number.POSITIVE_INFINITY)].flat();
}

it('keeps the latest lines in bounded memory, in their order', () => {
  const line = fc.record({
    length: fc.integer({ min: 1, max: 4_000 }),
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 400 }), (lines) => {
      const store = new LineStore(MAX);
      const texts: string[] = [];
      for (const [at, { length, seed }] of lines.entries()) {
        // What cannot be compressed, too.
        const text =
          `${at} ${Array.from({ length }, (_, index) => Math.imul(seed, index + 7).toString(36)).join('')}`.slice(
            0,
            length + 8,
          );
        texts.push(text);
        store.add({ from: at, to: at, text });
        expect(store.octets).toBeLessThanOrEqual(MAX);
      }
      const kept = readAll(store);
      expect(kept).toEqual(texts.slice(texts.length - kept.length));
      if (texts.length > 0) expect(kept.length).toBeGreaterThan(0);
    }),
    { numRuns: 40 },
  );
});

it('keeps ten times as much as it has memory for, of lines that are alike', () => {
  const store = new LineStore(MAX);
  const text = (at: number) =>
    JSON.stringify({ kind: 'failure', name: `n${at % 50}.shop.svc.cluster.local.`, rcode: 'NXDOMAIN', at });
  for (let at = 0; at < 60_000; at += 1) store.add({ from: at, to: at, text: text(at) });
  const characters = readAll(store).reduce((sum, line) => sum + line.length, 0);
  expect(characters).toBeGreaterThan(10 * MAX);
});

it('reads only the chunks of a time', () => {
  const store = new LineStore(2 ** 20);
  for (let at = 0; at < 10_000; at += 1)
    store.add({ from: at, to: at + 1, text: `line ${at} ${'x'.repeat(50)}` });
  expect(store.oldest).toBe(0);
  const lines = [...store.read(5_000, 5_000)].flat();
  expect(lines).toContain(`line 5000 ${'x'.repeat(50)}`);
  expect(lines.length).toBeLessThan(1_500);
});
