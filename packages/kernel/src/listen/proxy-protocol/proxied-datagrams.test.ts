import { parseAddressRange } from '@portolan/dns/address-range.ts';
import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { ProxiedDatagrams } from './proxied-datagrams.ts';
import { writeHeader } from './testing/write-header.ts';

it('trusts a proxy with a link-local address, whether its interface is known or has just gone', () => {
  const trusted = [parseAddressRange('fe80::/64')].filter((range) => range !== undefined);
  const plan = { trusted, others: 'reject', sessions: undefined } as const;
  const datagrams = new ProxiedDatagrams(plan, new ManualClock());
  const client = { address: '2001:db8::1', port: 4000 };
  const query = Buffer.alloc(12);
  const datagram = Buffer.concat([writeHeader({ source: client }), query]);
  for (const zone of ['', '%2', '%lo', '%gone0']) {
    const sender = { address: `fe80::1${zone}`, port: 53_000 };
    expect(datagrams.take(datagram, sender)).toEqual({ kind: 'query', query, client });
  }
});
