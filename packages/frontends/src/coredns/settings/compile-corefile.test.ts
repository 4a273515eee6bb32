import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { compilePlan, compileText } from './testing/compile-plan.ts';

it('takes what belongs to the sockets from the first block of an address and port', () => {
  const serverBlocks = compilePlan(
    '. {\n timeouts {\n read 2s\n write 4s\n }\n multisocket 1000\n whoami\n}\n' +
      'a.test {\n timeouts {\n idle 9s\n }\n multisocket 1\n whoami\n}\n.:54 {\n whoami\n}\n',
  );
  expect(serverBlocks.groups).toMatchObject([
    { port: 53, readers: availableParallelism(), tcp: { read: 2000, write: 4000, idle: undefined } },
    { port: 54, readers: 1, tcp: { read: undefined, write: undefined, idle: undefined } },
  ]);
});

it('knows the certificate of metrics that are meant for TLS', () => {
  const { endpoints } = compileText(
    '. {\n prometheus :9153 {\n tls web.yaml\n }\n whoami\n}\na.test {\n prometheus :9154\n whoami\n}\n',
  );
  expect(endpoints).toMatchObject([
    { kind: 'metrics', address: ':9153', webConfiguration: 'web.yaml' },
    { kind: 'metrics', address: ':9154' },
  ]);
});

it('takes proxies from the last block of an address and port, and counts drops if one block does', () => {
  const { groups } = compilePlan(
    'a.test {\n proxyproto {\n allow 192.0.2.0/24\n udp_session_tracking 28s\n }\n whoami\n}\n' +
      'b.test {\n proxyproto {\n default reject\n }\n shed\n whoami\n}\nc.test {\n whoami\n}\n.:54 {\n whoami\n}\n',
  );
  expect(groups[0]).toMatchObject({
    proxies: { trusted: [], others: 'reject', sessions: { milliseconds: 28_000, max: 10_240 } },
    countsDrops: true,
  });
  expect(groups[1]).toMatchObject({ port: 54, proxies: undefined });
  expect(groups[1]).not.toHaveProperty('countsDrops');
});
