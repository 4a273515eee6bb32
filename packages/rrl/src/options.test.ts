import { BLOCK, makeUse } from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import { readOptions } from './options.ts';

const read = (line: string, ...lines: readonly string[]) => readOptions([makeUse(line, ...lines)], BLOCK);

it('limits nothing by default', () => {
  expect(read('rrl')).toEqual({
    zones: ['example.org.'],
    window: 15_000,
    prefixLengths: { ipv4: 24, ipv6: 56 },
    responses: { response: 0, nodata: 0, nxdomain: 0, referral: 0, error: 0 },
    requests: 0,
    slipRatio: 0,
    maxTableSize: 100_000,
    reportsOnly: false,
  });
});

it('takes the rate of responses for kinds that have none', () => {
  const { zones, responses, ...others } = read(
    'rrl A.test b.test',
    'errors-per-second 0',
    'responses-per-second 10',
    'nxdomains-per-second 0.5',
    'window 1.5',
    'ipv4-prefix-length 32',
    'ipv6-prefix-length 64',
    'requests-per-second 1000',
    'slip-ratio 2',
    'max-table-size 500',
    'report-only',
  );
  expect(zones).toEqual(['a.test.', 'b.test.']);
  expect(responses).toEqual({ response: 10, nodata: 10, nxdomain: 0.5, referral: 10, error: 0 });
  expect(others).toEqual({
    window: 1_500,
    prefixLengths: { ipv4: 32, ipv6: 64 },
    requests: 1_000,
    slipRatio: 2,
    maxTableSize: 500,
    reportsOnly: true,
  });
});

it.each([
  ['window 0', 'window must be greater than zero'],
  ['window', "Wrong argument count or unexpected line ending after 'window'"],
  ['window 1 2', "Wrong argument count or unexpected line ending after 'window'"],
  ['window x', 'window invalid value. not a number: x'],
  ['ipv4-prefix-length 33', 'ipv4-prefix-length must be between 1 and 32'],
  ['ipv6-prefix-length 0', 'ipv6-prefix-length must be between 1 and 128'],
  ['slip-ratio 11', 'slip-ratio must be between 0 and 10'],
  ['slip-ratio 1.5', 'slip-ratio must be between 0 and 10'],
  ['responses-per-second -1', 'responses-per-second cannot be negative'],
  ['max-table-size -1', 'max-table-size must be between 0 and 10000000'],
  ['report-only yes', "Wrong argument count or unexpected line ending after 'report-only'"],
  ['bursts 4', "Unknown property 'bursts'"],
])('refuses %s', (line, message) => {
  expect(() => read('rrl', line)).toThrow(message);
});

it('may be used once in a block', () => {
  const twice = () => readOptions([makeUse('rrl'), makeUse('rrl')], BLOCK);
  expect(twice).toThrow('this plugin can only be used once per Server Block');
});
