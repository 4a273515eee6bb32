import { ALL_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';
import { DEFAULT_COMPAT } from '../../coredns/settings/compat.ts';
import { readNodeCacheFlags } from './node-cache-flags.ts';

it.each([
  [[], { compat: DEFAULT_COMPAT, metricsCompat: undefined }],
  [['-compat=1.13'], { compat: { profile: '1.13', restored: ALL_RESTORED } }],
  [['--metrics-compat', '1.10', '-compat', '1.14'], { compat: { profile: '1.14' }, metricsCompat: '1.10' }],
])('keeps to the version of CoreDNS that is given: %j', (words, plan) => {
  expect(readNodeCacheFlags(['-localip', '169.254.20.10', ...words])).toMatchObject({ kind: 'good', plan });
});

it('refuses a version that it does not know', () => {
  const reading = readNodeCacheFlags(['-localip', '169.254.20.10', '-compat=1.12']);
  expect(reading).toMatchObject({ kind: 'bad', problems: [{ where: '-compat', value: '1.12' }] });
});

it.each([
  [[], ':9253'],
  [['-prometheus-listen-address', '127.0.0.1:9353'], '127.0.0.1:9353'],
  [['--prometheus-listen-address='], ''],
])('takes the address of the metrics of DNS as it is: %j', (words, prometheusAddress) => {
  const reading = readNodeCacheFlags(['-localip', '169.254.20.10', ...words]);
  expect(reading).toMatchObject({ kind: 'good', plan: { prometheusAddress } });
});
