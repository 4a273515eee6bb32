import { expect, it } from 'vitest';
import { Histogram } from './counted-families.ts';

it('counts values with equal labels together, whatever their order, and others apart', () => {
  const histogram = new Histogram('a', 'A.', [1]);
  histogram.observe({ x: '1', y: '2' }, 0.5);
  histogram.observe({ y: '2', x: '1' }, 0.5);
  histogram.observe({ x: '1' }, 0.5);
  histogram.observe({ y: '1' }, 0.5);
  const counts = [...histogram.read()].filter(([, , suffix]) => suffix === '_count');
  expect(counts.map(([labels, value]) => [labels, value])).toEqual([
    [{ x: '1', y: '2' }, 2],
    [{ x: '1' }, 1],
    [{ y: '1' }, 1],
  ]);
});
