import {
  PrometheusTextError,
  parsePrometheusText,
  seriesKey,
} from '@portolan/kernel/base/testing/prometheus-text.ts';
import { describe, expect, it } from 'vitest';

const HEAD = '# HELP a What it is.\n# TYPE a';

function histogram(...lines: readonly string[]): string {
  return `${HEAD} histogram\n${lines.map((line) => `a_${line}\n`).join('')}`;
}

describe('text that is right', () => {
  it('is read into families', () => {
    const text = `# a comment\n${HEAD} counter\na{x="1",y="b\\"\\\\\\n"} 3\na{x="2"} 1.5e+06\n# HELP b B.\n# TYPE b gauge\nb -Inf\n`;
    const families = parsePrometheusText(text);
    expect([...families.keys()]).toEqual(['a', 'b']);
    expect(families.get('a')).toMatchObject({ help: 'What it is.', type: 'counter' });
    expect(families.get('a')?.samples).toEqual([
      { name: 'a', labels: { x: '1', y: 'b"\\\n' }, value: 3 },
      { name: 'a', labels: { x: '2' }, value: 1_500_000 },
    ]);
    expect(families.get('b')?.samples[0]?.value).toBe(Number.NEGATIVE_INFINITY);
  });

  it('has histograms of several series', () => {
    const one = (x: string) => [
      `bucket{x="${x}",le="1"} 2`,
      `bucket{x="${x}",le="+Inf"} 2`,
      `sum{x="${x}"} 1`,
      `count{x="${x}"} 2`,
    ];
    expect(parsePrometheusText(histogram(...one('1'), ...one('2'))).get('a')?.samples).toHaveLength(8);
  });
});

describe('text that is wrong', () => {
  it.each([
    ['no end', `${HEAD} counter\na 1`],
    ['no TYPE', '# HELP a A.\na 1\n'],
    ['no HELP', '# TYPE a counter\na 1\n'],
    ['a TYPE without HELP and samples', '# TYPE a counter\n'],
    ['two of TYPE', `${HEAD} counter\n# TYPE a counter\n`],
    ['two of HELP', '# HELP a A.\n# HELP a A.\n# TYPE a counter\n'],
    ['TYPE behind samples', `${HEAD} counter\na 1\n# TYPE a counter\n`],
    ['an unknown type', `${HEAD} count\n`],
    ['a bad name', '# HELP 1a A.\n'],
    ['a bad escape', '# HELP a A\\t.\n# TYPE a counter\n'],
    ['a family in two pieces', `${HEAD} counter\na 1\n# HELP b B.\n# TYPE b gauge\n# HELP a A.\n`],
    ['a sample of another family', `${HEAD} counter\nb 1\n`],
    ['a sample twice', `${HEAD} counter\na{x="1",y="2"} 1\na{y="2",x="1"} 1\n`],
    ['a label twice', `${HEAD} counter\na{x="1",x="1"} 1\n`],
    ['a label without quotes', `${HEAD} counter\na{x=1} 1\n`],
    ['a raw quote in a label', `${HEAD} counter\na{x="a"b"} 1\n`],
    ['no value', `${HEAD} counter\na{x="1"}\n`],
    ['a value that is no number', `${HEAD} counter\na one\n`],
    ['a counter below 0', `${HEAD} counter\na -1\n`],
    ['a histogram without +Inf', histogram('bucket{le="1"} 1', 'sum 1', 'count 1')],
    ['a histogram without a sum', histogram('bucket{le="+Inf"} 1', 'count 1')],
    ['a histogram without a count', histogram('bucket{le="+Inf"} 1', 'sum 1')],
    ['a histogram with another count', histogram('bucket{le="+Inf"} 1', 'sum 1', 'count 2')],
    [
      'buckets out of order',
      histogram('bucket{le="2"} 1', 'bucket{le="1"} 1', 'bucket{le="+Inf"} 1', 'sum 1', 'count 1'),
    ],
    ['a shrinking bucket', histogram('bucket{le="1"} 2', 'bucket{le="+Inf"} 1', 'sum 1', 'count 1')],
    ['a bucket without an end', histogram('bucket 1', 'bucket{le="+Inf"} 1', 'sum 1', 'count 1')],
  ])('%s', (_, text) => {
    expect(() => parsePrometheusText(text)).toThrow(PrometheusTextError);
  });
});

it('tells series apart by their labels, in any order', () => {
  expect(seriesKey({ name: 'a', labels: { x: '1', y: '2' } })).toBe(
    seriesKey({ name: 'a', labels: { y: '2', x: '1' } }),
  );
  expect(seriesKey({ name: 'a', labels: { x: '1' } })).not.toBe(
    seriesKey({ name: 'a', labels: { x: '1"' } }),
  );
});
