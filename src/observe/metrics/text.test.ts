import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePrometheusText } from '../testing/prometheus-text.ts';
import { histogramSamples, writeLabels, writeMetrics } from './text.ts';

it('orders families by name, and leaves out those without samples', () => {
  const text = writeMetrics([
    { name: 'b', help: 'B.', type: 'counter', samples: [['', 2]] },
    { name: 'c', help: 'C.', type: 'gauge', samples: [] },
    { name: 'a', help: 'A.', type: 'gauge', samples: [[writeLabels({ x: '1' }), Number.NEGATIVE_INFINITY]] },
  ]);
  expect(text).toBe('# HELP a A.\n# TYPE a gauge\na{x="1"} -Inf\n# HELP b B.\n# TYPE b counter\nb 2\n');
});

it('writes histograms with their last bucket', () => {
  const samples = histogramSamples({ x: '1' }, { buckets: [[0.5, 1]], sum: 7.5, count: 3 });
  expect(writeMetrics([{ name: 'a', help: 'A.', type: 'histogram', samples }])).toBe(
    '# HELP a A.\n# TYPE a histogram\na_bucket{x="1",le="0.5"} 1\na_bucket{x="1",le="+Inf"} 3\na_sum{x="1"} 7.5\na_count{x="1"} 3\n',
  );
});

it('writes every value of a label so that it is read as it was', () => {
  fc.assert(
    fc.property(fc.string(), fc.double({ noNaN: true }), (value, number) => {
      const text = writeMetrics([
        { name: 'a', help: 'A.', type: 'gauge', samples: [[writeLabels({ x: value }), number]] },
      ]);
      const [sample] = parsePrometheusText(text).get('a')?.samples ?? [];
      expect(sample?.labels).toEqual({ x: value });
      // `+ 0` turns -0 into 0.
      expect(sample?.value).toBe(number + 0);
    }),
  );
});
