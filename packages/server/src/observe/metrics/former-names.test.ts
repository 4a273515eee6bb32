import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import { expect, it } from 'vitest';
import { FORMER_NAMES } from '../../plan/former-names.ts';
import { formerFamilies } from './former-names.ts';

async function write(version: (typeof FORMER_NAMES)[number]): Promise<readonly string[]> {
  const metrics = new MetricRegistry();
  const requests = metrics.counter('coredns_dns_requests_total', 'Requests.', [
    'server',
    'zone',
    'view',
    'proto',
    'family',
    'type',
  ]);
  const site = { server: 'dns://:53', zone: '.', view: '', proto: 'udp', family: '1' };
  requests.inc({ ...site, type: 'A' }, 3);
  requests.inc({ ...site, type: 'AAAA' }, 2);
  metrics.gauge('coredns_cache_entries', 'Entries.', ['server', 'type', 'zones', 'view']);
  metrics
    .gauge('coredns_cache_entries', 'Entries.')
    .set({ server: 'dns://:53', type: 'success', zones: '.', view: '' }, 7);
  const durations = metrics.histogram('coredns_proxy_request_duration_seconds', 'Time.', [0.1, 1]);
  const of = { proxy_name: 'forward', to: '192.0.2.1:53' };
  durations.observe({ ...of, rcode: 'NOERROR' }, 0.05, 4);
  durations.observe({ ...of, rcode: 'SERVFAIL' }, 0.5);
  return writeSortedFamilies(formerFamilies(version, metrics.families())).split('\n');
}

it('shows what older versions counted, with the labels that they had', async () => {
  expect(await write('1.6')).toEqual(
    expect.arrayContaining([
      '# TYPE coredns_dns_request_count_total counter',
      'coredns_dns_request_count_total{server="dns://:53",zone=".",proto="udp",family="1"} 5',
      'coredns_dns_request_type_count_total{server="dns://:53",zone=".",type="AAAA"} 2',
      '# TYPE coredns_cache_size gauge',
      'coredns_cache_size{server="dns://:53",type="success"} 7',
      'coredns_forward_request_count_total{to="192.0.2.1:53"} 5',
      'coredns_forward_request_duration_seconds_bucket{to="192.0.2.1:53",le="0.1"} 4',
      'coredns_forward_request_duration_seconds_count{to="192.0.2.1:53"} 5',
    ]),
  );
  expect(await write('1.10')).toEqual(
    expect.arrayContaining([
      'coredns_forward_requests_total{to="192.0.2.1:53"} 5',
      'coredns_forward_responses_total{to="192.0.2.1:53",rcode="SERVFAIL"} 1',
      'coredns_forward_request_duration_seconds_bucket{to="192.0.2.1:53",rcode="NOERROR",le="+Inf"} 4',
    ]),
  );
});

it('leaves out what nothing is known of', async () => {
  for (const version of FORMER_NAMES) {
    const lines = await write(version);
    expect(lines.filter((line) => line.includes('panic_count_total'))).toEqual([]);
  }
});
