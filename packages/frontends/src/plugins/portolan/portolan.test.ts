import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { describe, expect, it } from 'vitest';
import { readCorefile } from '../../coredns/settings/read-corefile.ts';
import type { CorefilePluginName, CorefileUse } from '../registry.ts';

const files: CorefileFiles = { read: () => '', findKind: () => undefined, list: () => [] };

function read(text: string, restored: RestoredDeviations = NOTHING_RESTORED) {
  return readCorefile(text, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files,
    restored,
    interfaces: new Map(),
  });
}

const BLOCK = 'kubernetes cluster.local\n cache\n forward . 192.0.2.1\n';

function readUses(lines: string, others = BLOCK): readonly CorefileUse[] {
  const reading = read(`. {\n portolan {\n${lines}\n }\n ${others}}\n`);
  if (reading.kind === 'bad') throw new Error(reading.problems.map(({ message }) => message).join('\n'));
  return reading.blocks.flatMap(({ plugins }) => plugins);
}

function readOptions(name: CorefilePluginName, lines: string): unknown {
  return readUses(lines).find((use) => use.name === name)?.options;
}

function readProblems(text: string, restored = NOTHING_RESTORED): readonly string[] {
  const reading = read(text, restored);
  return reading.kind === 'good'
    ? []
    : reading.problems.map(({ message, position }) => `${position.line}: ${message}`);
}

describe('a feature of portolan', () => {
  it.each([
    ['snapshot /a 2h', 'kubernetes', { snapshot: { file: '/a', maxAge: 7_200_000 } }],
    ['snapshot /a', 'kubernetes', { snapshot: { file: '/a', maxAge: 86_400_000 } }],
    [
      'endpoint_ranges 10.244.0.0/16 192.0.2.1\n endpoint_ranges fd00:244::/32',
      'kubernetes',
      {
        endpointRanges: [
          { address: '10.244.0.0', prefix: 16 },
          { address: '192.0.2.1', prefix: 32 },
          { address: 'fd00:244::', prefix: 32 },
        ],
      },
    ],
    [
      'endpoint_ranges nodes 192.0.2.1',
      'kubernetes',
      {
        endpointRanges: [{ address: '192.0.2.1', prefix: 32 }],
        nodes: { prefersZone: false, ownNode: undefined, boundsEndpoints: true },
      },
    ],
    [
      'prefer_zone',
      'kubernetes',
      { nodes: { prefersZone: true, ownNode: undefined, boundsEndpoints: false } },
    ],
    [
      'prefer_zone node-1\n endpoint_ranges nodes',
      'kubernetes',
      { nodes: { prefersZone: true, ownNode: 'node-1', boundsEndpoints: true } },
    ],
    ['prefetch', 'cache', { refreshesUsed: true, prefetch: undefined, serveStale: undefined }],
    [
      'stale',
      'cache',
      { serveStale: { duration: 86_400_000, refresh: 'verify', verifyTimeout: 1800, ttl: 30 } },
    ],
    ['stale 1h 200ms', 'cache', { serveStale: { duration: 3_600_000, verifyTimeout: 200 } }],
    [
      'admission client 5\n admission total 50\n admission queued 0',
      'forward',
      {
        routes: [
          {
            plan: { limits: { perClient: 5, inFlight: 50, queued: 0 } },
            sources: { coreDns: { limits: { perClient: 5, inFlight: 50, queued: 0 } } },
          },
        ],
      },
    ],
    [
      'hedge on',
      'forward',
      { routes: [{ plan: { hedging: true, hedgesAlways: true, timing: { failover: 0 } } }] },
    ],
    ['stats', 'portolan', { stats: true }],
    ['query_log zone=a.test', 'portolan', { queryLog: ['zone=a.test'] }],
    ['history names=none', 'portolan', { history: ['names=none'] }],
    ['https_records', 'kubernetes', { hasHttpsRecords: true }],
    ['tenants by-namespace-label team', 'kubernetes', { tenants: { label: 'team', seenBy: [] } }],
    [
      'tenants by-namespace-label example.com/team seen-by 10.0.0.7 fd00::/64',
      'kubernetes',
      {
        tenants: {
          label: 'example.com/team',
          seenBy: [
            { address: '10.0.0.7', prefix: 32 },
            { address: 'fd00::', prefix: 64 },
          ],
        },
      },
    ],
    ['discovery', 'portolan', { discovery: { name: undefined } }],
    ['discovery dns.example.com', 'portolan', { discovery: { name: 'dns.example.com.' } }],
    [
      'nftset "/example.com/inet#filter#allowed"\n nftset closed "/a/b/6#t#s"',
      'portolan',
      {
        nftset: [
          { domains: ['example.com.'], sets: [{ family: 'inet', name: 'allowed' }], isClosed: false },
          { domains: ['a.', 'b.'], sets: [{ family: 'ip', table: 't', only: 'ipv6' }], isClosed: true },
        ],
      },
    ],
    ['prefetch', 'portolan', { stats: false }],
    ['hedge off', 'forward', { routes: [{ plan: { hedging: false, hedgesAlways: false } }] }],
    [
      'clients allow 10.0.0.0/8 fd00::1\n clients drop 0.0.0.0/0\n rate queries 9\n rate slip 0\n rate prefix 24 56',
      'portolan',
      {
        clients: {
          access: [
            { clients: { address: '10.0.0.0', prefix: 8 }, action: 'allow' },
            { clients: { address: 'fd00::1', prefix: 128 }, action: 'allow' },
            { clients: { address: '0.0.0.0', prefix: 0 }, action: 'drop' },
          ],
          queryRate: 9,
          responseRate: undefined,
          slip: 0,
          prefixLengths: { ipv4: 24, ipv6: 56 },
        },
      },
    ],
  ] as const)('%j reaches %s', (lines, name, options) => {
    expect(readOptions(name, lines)).toMatchObject(options);
  });

  it.each([
    ['hedge on', new Set(['sends-again'] as const), [[2, expect.stringContaining('hedge has no effect')]]],
    ['hedge on', new Set(['own-query'] as const), []],
    ['prefetch', new Set(['sends-again'] as const), []],
  ])('%s beside %o has the warnings %j', (lines, restored, warnings) => {
    const found = read(`. {\n portolan {\n${lines}\n }\n ${BLOCK}}\n`, restored).warnings;
    const concerned = found.filter(({ text }) => text.includes('hedge'));
    expect(concerned.map(({ position, text }) => [position.line, text])).toEqual(warnings);
  });

  it('leaves the options of other plugins as they are', () => {
    const { length } = readUses('hedge on');
    const without = readUses('rate queries 5').filter(({ name }) => name !== 'portolan');
    expect(without).toHaveLength(length - 1);
    const reading = read(`. {\n ${BLOCK}}\n`);
    if (reading.kind === 'bad') throw new Error('a good Corefile');
    const plain = reading.blocks.flatMap(({ plugins }) => plugins);
    expect(without.map(({ options }) => options)).toEqual(plain.map(({ options }) => options));
  });

  it.each([
    ['portolan', 'Corefile:2 - Error during parsing: no feature'],
    [
      'portolan x',
      "Corefile:2 - Error during parsing: Wrong argument count or unexpected line ending after 'x'",
    ],
    ['portolan {\n stail\n }', "Corefile:3 - Error during parsing: unknown property 'stail'"],
    [
      'portolan {\n snapshot\n }',
      "Corefile:3 - Error during parsing: Wrong argument count or unexpected line ending after 'snapshot'",
    ],
    [
      'portolan {\n clients block 10.0.0.0/8\n }',
      "Corefile:3 - Error during parsing: unknown action 'block'",
    ],
    [
      'portolan {\n clients drop example.org\n }',
      "Corefile:3 - Error during parsing: not a prefix: 'example.org'",
    ],
    [
      'portolan {\n discovery 192.0.2.1\n }',
      "Corefile:3 - Error during parsing: not a host name: '192.0.2.1'",
    ],
    [
      'portolan {\n tenants by-name a\n }',
      "Corefile:3 - Error during parsing: tenants: unknown rule: 'by-name'",
    ],
    [
      'portolan {\n tenants by-namespace-label -a\n }',
      "Corefile:3 - Error during parsing: tenants: not a label: '-a'",
    ],
    [
      'portolan {\n tenants by-namespace-label a all\n }',
      "Corefile:3 - Error during parsing: tenants: unknown word: 'all'",
    ],
    ['portolan {\n discovery .\n }', "Corefile:3 - Error during parsing: not a host name: '.'"],
    [
      'portolan {\n rate queries 0\n }',
      "Corefile:3 - Error during parsing: not a number from 1 to 1000000: '0'",
    ],
    ['portolan {\n rate answers 3\n }', "Corefile:3 - Error during parsing: unknown rate 'answers'"],
    ['portolan {\n admission toString 3\n }', "Corefile:3 - Error during parsing: unknown bound 'toString'"],
    ['portolan {\n endpoint_ranges pods\n }', "Corefile:3 - Error during parsing: not a prefix: 'pods'"],
    ['portolan {\n hedge maybe\n }', "Corefile:3 - Error during parsing: not on or off: 'maybe'"],
    ['portolan {\n stale -1s\n }', "Corefile:3 - Error during parsing: negative duration '-1s'"],
  ])('is refused with its line: %j', (directive, message) => {
    expect(readProblems(`. {\n ${directive}\n cache\n forward . 192.0.2.1\n}\n`)[0]).toBe(
      `${/Corefile:(\d+)/.exec(message)?.[1]}: plugin/portolan: ${message}`,
    );
  });

  it.each([
    ['query_log sample=0', 'cache', "query_log: sample: out of range: '0'"],
    ['history size=1M', 'cache', "history: size: out of range: '1M'"],
    ['history', 'cache', 'history: no setting'],
    ['query_log colour=red', 'cache', "query_log: query-log: unknown: 'colour'"],
    ['snapshot /a', 'cache', 'snapshot: no kubernetes in this server block'],
    ['endpoint_ranges 10.0.0.0/8', 'cache', 'endpoint_ranges: no kubernetes in this server block'],
    ['endpoint_ranges nodes', 'cache', 'endpoint_ranges: no kubernetes in this server block'],
    ['prefer_zone', 'cache', 'prefer_zone: no kubernetes in this server block'],
    ['prefer_zone', 'kubernetes {\n noendpoints\n }', 'prefer_zone: kubernetes has noendpoints'],
    ['https_records', 'cache', 'https_records: no kubernetes in this server block'],
    ['tenants by-namespace-label team', 'cache', 'tenants: no kubernetes in this server block'],
    [
      'tenants by-namespace-label team',
      'kubernetes cluster.local\n k8s_external example.org',
      'tenants: k8s_external shows the services of all tenants',
    ],
    ['prefetch', 'whoami', 'prefetch: no cache in this server block'],
    ['stale', 'whoami', 'stale: no cache in this server block'],
    ['admission client 1', 'whoami', 'admission: no forward in this server block'],
    [
      'nftset "/a/t#s"',
      'kubernetes cluster.local {\n pods verified\n }\n autopath @kubernetes',
      'nftset: autopath is in this server block',
    ],
    ['hedge on', 'whoami', 'hedge: no forward in this server block'],
    ['prefetch', 'cache {\n prefetch 2\n }', 'prefetch: cache has prefetch already'],
    ['stale', 'cache {\n serve_stale\n }', 'stale: cache has serve_stale already'],
    [
      'admission total 5',
      'forward . 192.0.2.1 {\n max_concurrent 9\n }',
      'admission: forward has max_concurrent already',
    ],
  ])('needs its plugin: %j beside %j', (lines, others, message) => {
    expect(readProblems(`. {\n portolan {\n ${lines}\n }\n ${others}\n}\n`)).toEqual([
      `2: plugin/portolan: ${message}`,
    ]);
  });

  it('has a file of its own for each server block', () => {
    const block = 'portolan {\n snapshot /a\n }\n kubernetes';
    expect(readProblems(`a.test {\n ${block}\n}\nb.test {\n ${block}\n}\n`)).toEqual([
      '8: plugin/portolan: snapshot: another server block has the file: /a',
    ]);
  });

  it('has one query log, that of the server', () => {
    const block = 'portolan {\n query_log\n }';
    expect(readProblems(`a.test {\n ${block}\n}\nb.test {\n ${block}\n}\n`)).toEqual([
      '7: plugin/portolan: query_log: another server block has it',
    ]);
  });

  it('is unknown to CoreDNS, so that -compat refuses it with its line', () => {
    const text = `. {\n cache\n portolan {\n stale\n }\n}\n`;
    expect(readProblems(text)).toEqual([]);
    expect(readProblems(text, new Set(['own-directives']))).toEqual([
      "3: Corefile:3 - Error during parsing: Unknown directive 'portolan'",
    ]);
  });
});
