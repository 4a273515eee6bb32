import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LOSS_RULE } from '@portolan/kernel/base/losses.ts';
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

it('bounds listeners of gRPC and HTTPS by their plugins, as the first block says', () => {
  const { groups } = compilePlan(
    'grpc://a.test {\n whoami\n}\n' +
      'grpc://b.test:444 {\n grpc_server {\n max_streams 5\n max_connections 7\n }\n whoami\n}\n' +
      'grpc://c.test:444 {\n grpc_server {\n max_streams 6\n }\n whoami\n}\n' +
      'grpc://d.test:445 {\n grpc_server {\n max_streams 0\n max_connections 0\n }\n whoami\n}\n' +
      'https://a.test:446 {\n whoami\n}\n',
  );
  expect(groups).toMatchObject([
    { scheme: 'grpc', port: 443, tcp: { owed: 256, connections: 200 } },
    { scheme: 'grpc', port: 444, tcp: { owed: 5, connections: 7 } },
    { scheme: 'grpc', port: 445, tcp: { owed: 1000 } },
    { scheme: 'https', port: 446, tcp: { connections: 200 } },
  ]);
  expect(groups[2]).not.toHaveProperty('tcp.connections');
  expect(groups[3]).not.toHaveProperty('tcp.owed');
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

it.each([
  ['', DEFAULT_LOSS_RULE],
  ['sudden_loss on', DEFAULT_LOSS_RULE],
  ['sudden_loss off', undefined],
  ['sudden_loss share=80 hold=1m', { ...DEFAULT_LOSS_RULE, share: 80, hold: 60_000 }],
])('judges sudden losses as it says: %j', (feature, rule) => {
  const block = feature === '' ? '' : `portolan {\n ${feature}\n }\n`;
  const corefile = `. {\n ${block} whoami\n}\na.test {\n whoami\n}\n`;
  expect(compilePlan(corefile).losses).toEqual(rule);
  const restored = new Set(['sudden-loss'] as const);
  expect(compileText(corefile, (blocks) => blocks, restored).engine.losses).toBeUndefined();
});

it.each([
  ['sudden_loss share=0', /share: out of range/],
  ['sudden_loss hold=soon', /hold: not a duration/],
  ['sudden_loss keep=5m', /unknown: 'keep'/],
  ['sudden_loss', /empty/],
])('refuses %j', (feature, problem) => {
  expect(() => compilePlan(`. {\n portolan {\n ${feature}\n }\n whoami\n}\n`)).toThrow(problem);
});

it('has one rule for sudden losses', () => {
  const block = (zone: string) => `${zone} {\n portolan {\n sudden_loss off\n }\n whoami\n}\n`;
  expect(() => compilePlan(block('a.test') + block('b.test'))).toThrow(/another server block has it/);
});

const TLS = join(import.meta.dirname, '../../../../../test/api-server/tls');
const IDENTITY = `tls ${TLS}/server.crt ${TLS}/server.key`;

it('puts sets of nftables before all that answers or changes something, and behind logs', () => {
  const { blocks } = compilePlan(
    '. {\n errors\n log\n portolan {\n nftset "/example.com/t#s"\n nftset closed "/example.org/t#s"\n }\n rewrite name a b\n cache\n whoami\n}\n',
  );
  const names = blocks[0]?.plugins.map(({ name }) => name);
  expect(names).toEqual(['portolan', 'errors', 'log', 'nftset', 'rewrite', 'cache', 'whoami']);
  expect(blocks[0]?.plugins.find(({ name }) => name === 'nftset')?.options).toMatchObject({
    rules: [{ isClosed: false }, { isClosed: true }],
  });
});

it('tells discovery of the encrypted listeners that serve all zones of its block, behind rules and caches', () => {
  const { blocks } = compilePlan(
    `.:53 tls://.:853 {\n ${IDENTITY}\n acl\n portolan {\n discovery dns.example.com\n }\n hosts\n cache\n}\n` +
      `https://. {\n ${IDENTITY}\n whoami\n}\nhttps://a.test:444 {\n ${IDENTITY}\n whoami\n}\ntls://.:854 {\n whoami\n}\n`,
  );
  const [block, ...others] = blocks;
  const names = block?.plugins.map(({ name }) => name);
  expect(names).toEqual(['portolan', 'acl', 'cache', 'tls', 'discovery', 'hosts']);
  const { options } = block?.plugins.find(({ name }) => name === 'discovery') ?? {};
  expect(options).toMatchObject({
    name: 'dns.example.com.',
    listeners: [
      { server: 'tls://:853', scheme: 'tls', port: 853, address: '' },
      { server: 'https://:443', scheme: 'https', port: 443, address: '' },
    ],
  });
  const further = others.flatMap(({ plugins }) => plugins.map(({ name }) => name));
  expect(further).not.toContain('discovery');
});
