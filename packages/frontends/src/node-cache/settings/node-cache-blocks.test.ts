import { expect, it } from 'vitest';
import { readCorefile } from '../../coredns/settings/read-corefile.ts';
import { findOptions } from '../../plugins/registry.ts';
import { adaptBlocks } from './node-cache-blocks.ts';

function read(text: string) {
  const reading = readCorefile(text, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    interfaces: new Map(),
    files: { read: () => '', findKind: () => 'file', list: () => [] },
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  const [block] = adaptBlocks(reading.blocks);
  if (block === undefined) throw new Error('no block');
  return {
    cache: findOptions(block, 'cache'),
    plan: findOptions(block, 'forward')?.routes[0]?.plan,
  };
}

it('serves expired answers while servers are away, unless the Corefile says how', () => {
  const { cache } = read('. {\n cache 30\n forward . 192.0.2.1\n}');
  expect(cache?.serveStale).toMatchObject({ duration: 3_600_000, refresh: 'verify' });
  const own = read('. {\n cache 30 {\n serve_stale 0s\n }\n forward . 192.0.2.1\n}');
  expect(own.cache?.serveStale).toMatchObject({ duration: 0, refresh: 'immediate' });
  const local = read('. {\n cache 30\n whoami\n}');
  expect(local.cache?.serveStale).toBeUndefined();
});

it('spreads forced TCP over connections that are renewed, and falls back to UDP', () => {
  const { plan } = read('. {\n forward . 192.0.2.1 {\n force_tcp\n }\n}');
  expect(plan).toMatchObject({
    fallsBackToUdp: true,
    streams: { idle: 10_000, maxAge: 60_000, minConnections: 2 },
  });
  const own = read('. {\n forward . 192.0.2.1 {\n force_tcp\n max_age 5m\n }\n}');
  expect(own.plan?.streams?.maxAge).toBe(300_000);
  const late = read('. {\n forward . 192.0.2.1 {\n force_tcp\n expire 5m\n }\n}');
  expect(late.plan?.streams?.maxAge).toBe(300_000);
  const plain = read('. {\n forward . 192.0.2.1\n}');
  expect(plain.plan).toMatchObject({ fallsBackToUdp: false, streams: { maxAge: 0, minConnections: 1 } });
});
