import { expect, it } from 'vitest';
import { compareResults } from './compare.ts';

const ask = { name: 'www.example.com.', type: 'A' };

function compareTtls(recorded: number, got: number, late: number): number {
  const step = (ttl: number) => ({ ask, result: { answer: [`www.example.com. ${ttl} IN A 192.0.2.1`] } });
  const start = { ok: true } as const;
  return compareResults(
    { name: 'x', start, steps: [step(recorded)] },
    { name: 'x', start, steps: [{ ...step(got), late }] },
  ).length;
}

it.each([
  [60, 60, 0, 0],
  [60, 57, 0, 1],
  [60, 57, 2.4, 0],
  [60, 56, 2.4, 1],
  // A TTL that does not count down is a fault, however busy the machine is.
  [60, 62, 5, 1],
])('a TTL of %d in place of %d, %d s late: %d differences', (recorded, got, late, differences) => {
  expect(compareTtls(recorded, got, late)).toBe(differences);
});
