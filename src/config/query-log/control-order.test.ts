import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import { readControlOrder } from './control-order.ts';

const read = (text: string) => readControlOrder(text.split(' '), 'json');

describe('an order', () => {
  const settings = { format: 'json', sample: 1, zones: [], rcodes: [], clients: [] };

  it.each([
    ['status', { kind: 'status' }],
    ['log-level debug', { kind: 'log-level', level: 'debug' }],
    ['query-log off', { kind: 'query-log', plan: undefined }],
    ['query-log on', { kind: 'query-log', plan: { file: undefined, settings } }],
    [
      'query-log on file=/q=1 format=text sample=10 zone=a.test zone=b.test. rcode=nxdomain client=10.0.0.0/8',
      {
        kind: 'query-log',
        plan: {
          file: '/q=1',
          settings: {
            format: 'text',
            sample: 10,
            zones: ['a.test.', 'b.test.'],
            rcodes: [3],
            clients: [{ address: '10.0.0.0', prefix: 8 }],
          },
        },
      },
    ],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual({ kind: 'good', value });
  });

  it.each([
    ['', 'order: unknown: "". Give status, log-level or query-log.'],
    ['log-level loud', 'log-level: unknown: "loud". Give error, warn, info or debug.'],
    ['log-level info now', 'order: unexpected word: "now". Leave it out.'],
    ['query-log maybe', 'query-log: unknown: "maybe". Give on or off.'],
    ['query-log on sample', 'sample: its value is missing. Give one, as in sample=VALUE.'],
    ['query-log on sample=0', 'sample: out of range: "0". Give a number of queries from 1 to 1000000.'],
    [
      'query-log on colour=red',
      'query-log: unknown: "colour". Give file, format, sample, zone, rcode or client.',
    ],
  ])('that is wrong says how: %s', (text, problem) => {
    const checked = read(text);
    expect(checked.kind === 'bad' && checked.problems.map(describeProblem)).toEqual([problem]);
  });
});
