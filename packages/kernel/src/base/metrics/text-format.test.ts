import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePrometheusText } from '../testing/prometheus-text.ts';
import { distributionSamples, type Labels, singleFamily } from './family.ts';
import { writeFamilies, writeSortedFamilies } from './text-format.ts';

const families = [
  singleFamily('counter', 'b', 'B.', 2),
  singleFamily('gauge', 'c', 'C.', undefined),
  singleFamily('gauge', 'a', 'A.', Number.NEGATIVE_INFINITY),
];

it('keeps the order of families, and shows those without samples', () => {
  expect(writeFamilies(families)).toBe(
    '# HELP b B.\n# TYPE b counter\nb 2\n\n# HELP c C.\n# TYPE c gauge\n\n# HELP a A.\n# TYPE a gauge\na -Inf\n',
  );
});

it('orders families by name, and leaves out those without samples', () => {
  expect(writeSortedFamilies(families)).toBe(
    '# HELP a A.\n# TYPE a gauge\na -Inf\n# HELP b B.\n# TYPE b counter\nb 2\n',
  );
});

it('writes histograms with their last bucket', () => {
  const samples = distributionSamples({ x: '1' }, { buckets: [[0.5, 1]], sum: 7.5, count: 3 });
  expect(writeFamilies([{ name: 'a', help: 'A.', type: 'histogram', read: () => samples }])).toBe(
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="0.5",x="1"} 1\na_bucket{le="+Inf",x="1"} 3\na_sum{x="1"} 7.5\na_count{x="1"} 3\n',
  );
});

it('writes every help text, and every value of a label, so that it is read as it was', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n') }));
  fc.assert(
    fc.property(text, text, fc.double({ noNaN: true }), (help, value, number) => {
      const written = writeFamilies([
        { name: 'a', help: `A${help}`, type: 'gauge', read: () => [[{ x: value }, number]] },
      ]);
      const family = parsePrometheusText(written).get('a');
      expect(family?.help).toBe(`A${help}`.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'));
      expect(family?.samples[0]?.labels).toEqual({ x: value });
      // `+ 0` turns -0 into 0.
      expect(family?.samples[0]?.value).toBe(number + 0);
    }),
  );
});

it('writes labels of plugins that are no strings as text, so that no scrape is lost', () => {
  const labels = { code: 200, zone: undefined } as unknown as Labels;
  expect(writeFamilies([{ name: 'a', help: 'A.', type: 'counter', read: () => [[labels, 1]] }])).toBe(
    '# HELP a A.\n# TYPE a counter\na{code="200",zone=""} 1\n',
  );
});
