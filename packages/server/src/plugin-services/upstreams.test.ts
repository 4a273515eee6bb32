import { systemClock } from '@portolan/kernel/base/clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { DryRun } from '@portolan/kernel/chain/dry-run.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, makeQuery, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { PluginUpstreams } from './upstreams.ts';

it('takes addresses, and refuses names and files that cannot be read', () => {
  const upstreams = new PluginUpstreams({ clock: systemClock, log: new RecordingLog() });
  expect(upstreams.open('192.0.2.1').name).toBe('192.0.2.1:53');
  expect(upstreams.open('tls://[2001:db8::1]').name).toBe('[2001:db8::1]:853');
  expect(() => upstreams.open('dns.example')).toThrow('a server must be an address: dns.example');
  expect(upstreams.open('https://192.0.2.1').name).toBe('192.0.2.1:443');
  expect(() => upstreams.open('quic://192.0.2.1')).toThrow('not an upstream server');
  const tls = { authorities: '/nonexistent/ca.pem' };
  expect(() => upstreams.open('tls://192.0.2.1', { tls })).toThrow('ENOENT');
  upstreams.stop();
  expect(() => upstreams.open('192.0.2.1')).toThrow('the plugin has stopped, and opens no server: 192.0.2.1');
});

it('sends nothing for an explanation, and notes the server', async () => {
  const upstreams = new PluginUpstreams({ clock: systemClock, log: new RecordingLog() });
  const look = new DryRun();
  const { question } = makeQuery('a.example');
  const query = new Query(question, { question, header: QUERY_HEADER, edns: undefined }, { ...CLIENT, look });
  await expect(upstreams.open('192.0.2.1').ask(query)).rejects.toThrow('not asked');
  expect(look.open).toEqual({ name: 'a.example.', servers: ['192.0.2.1:53'], problem: undefined });
  upstreams.stop();
});

it('asks only with queries that the host has made', async () => {
  const upstreams = new PluginUpstreams({ clock: systemClock, log: new RecordingLog() });
  const query = makeQuery('a.example');
  const forged = { ...query, forbidStoring() {} } as unknown as Query;
  await expect(upstreams.open('192.0.2.1').ask(forged)).rejects.toThrow('a query that the host did not make');
  upstreams.stop();
});
