/**
 * Fuzzes single items of sources: keys and values of etcd by both versions, manifests, snapshots, saved settings, block lists. The program
 * survives any item, and accepts the other items.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { parseEndpoint } from '@portolan/etcd/source/client/endpoints.ts';
import { EtcdError } from '@portolan/etcd/source/client/etcd-error.ts';
import { EtcdSource } from '@portolan/etcd/source/etcd-source.ts';
import { makeSkyDnsRules } from '@portolan/etcd/source/rules/rules.ts';
import { readNodes, readWatchReply } from '@portolan/etcd/v2/messages.ts';
import { readKeptLines } from '@portolan/frontends/serve/run/stored-config.ts';
import { applyConfig } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { countRejectedItems, ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { PROPERTY_NAMES } from '@portolan/kernel/base/testing/property-names.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { ManifestError, parseManifest } from '@portolan/kubernetes/manifests/parse-manifest.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { readSnapshot } from '@portolan/kubernetes/snapshot/snapshot-file.ts';
import { expect, it } from 'vitest';
import { readListLine } from '../../../packages/ads/src/list-line.ts';
import { encodeText, fuzz } from './fuzz.ts';

const decodeText = (input: Uint8Array) => Buffer.from(input).toString('utf8');

const WORDS = [
  ...PROPERTY_NAMES.flatMap((word) => [word, `"${word}"`, `"${word}":1`, `${word}: `]),
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '/',
  '//',
  '.',
  '*',
  '\n',
  '\u0000',
  '\\',
  '\\u0000',
  'null',
  'true',
  '-1',
  '1e999',
  '-0',
  '99999999999999999999',
  '0.5',
  '"host"',
  '"10.0.0.1"',
  '"2001:db8::1"',
  '"x."',
].map(encodeText);

/** Items may be rejected; that the program itself fails at one is a defect. */
function expectNoDefects(): void {
  expect(countDefects()).toEqual(DEFECTS_BEFORE);
}

const countDefects = () =>
  new Map(
    countRejectedItems().flatMap(({ source, reason, count }) =>
      reason === 'failed' && count > 0 ? [[source, count] as const] : [],
    ),
  );
/** Other tests may have counted in this process. */
const DEFECTS_BEFORE = countDefects();

function makeEtcdSource() {
  const table = new TableWriter({ readers: 0, reservation: 2 ** 26 });
  const apex = toKey(parseName('test.'));
  const numbers = { serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1 };
  const soa = { kind: 'SOA', primary: apex, mailbox: apex, ...numbers } as const;
  const zone = { apex, soa, negativeTtl: 30, authoritativeNxdomain: true };
  const endpoint = parseEndpoint('http://127.0.0.1:9');
  const source = new EtcdSource(
    {
      etcd: { endpoints: endpoint === undefined ? [] : [endpoint] },
      version: 3,
      prefix: 'skydns',
      outcome: 0,
      rules: makeSkyDnsRules({ ttl: 60, priority: 10 }),
      zones: [{ zone, missing: 'deny', any: 'refused' }],
    },
    { table, clock: new ManualClock(), log: silentLog },
  );
  const ask = (name: string) => source.answer(apex, { name: parseName(name), type: TYPE.A }).answer.kind;
  return { source, ask };
}

const VALUES = [
  '{"host":"10.0.0.1","port":80,"priority":5,"weight":7,"text":"t","mail":true,"ttl":9,"targetstrip":1,"group":"g"}',
  '{"host":"a.example","constructor":1,"__proto__":{"host":"b"},"toString":null}',
  'null',
];

it('keys and values of etcd', async () => {
  const key = Buffer.from('/skydns/test/good');
  const good = Buffer.from('{"host":"10.0.0.1"}');
  await fuzz('etcd', {
    seeds: [...VALUES, ...PROPERTY_NAMES.map((word) => `/test/${word}/a`)].map(encodeText),
    words: WORDS,
    run: async (input) => {
      const { source, ask } = makeEtcdSource();
      const odd = Buffer.concat([Buffer.from('/skydns/test/'), input.subarray(0, 100)]);
      source.beginRead();
      source.put(odd, good, undefined);
      source.put(Buffer.from('/skydns/test/odd'), Buffer.from(input), undefined);
      source.put(key, good, undefined);
      await source.completeRead();
      expect(ask('good.test.')).toBe('records');
      ask('odd.test.');
      source.put(Buffer.from('/skydns/test/later'), good, undefined);
      expect(ask('later.test.')).toBe('records');
      source.remove(odd);
      source.removeFolder(Buffer.from('/skydns/test/odd'));
      expectNoDefects();
      await source.stop();
    },
  });
}, 300_000);

it('replies of version 2 of etcd', async () => {
  const node = '{"key":"/skydns/test/a","value":"{}","ttl":5,"modifiedIndex":7,"createdIndex":7}';
  await fuzz('etcd version 2', {
    seeds: [
      `{"action":"get","node":{"key":"/skydns","dir":true,"nodes":[${node},{"key":"/b","dir":true,"nodes":[]}]}}`,
      `{"action":"set","node":${node},"prevNode":${node}}`,
      `{"action":"delete","node":${node}}`,
    ].map(encodeText),
    words: WORDS,
    run: (input) => {
      for (const read of [readNodes, readWatchReply])
        try {
          read(decodeText(input));
        } catch (error) {
          if (!(error instanceof EtcdError)) throw error;
        }
    },
  });
}, 300_000);

it('the configuration of SkyDNS', async () => {
  const fields = ['dns_addr', 'domain', 'nameservers', 'read_timeout', 'ttl', 'dnssec', 'round_robin'];
  const seed = `{${fields.map((field) => `"${field}":"127.0.0.1:53"`).join()}}`;
  await fuzz('SkyDNS', {
    seeds: [seed, '{"nameservers":["127.0.0.1:53"],"ttl":60,"no_rec":true}'].map(encodeText),
    words: [...WORDS, ...fields.map(encodeText)],
    run: (input) => {
      const problems: string[] = [];
      applyConfig({} as never, decodeText(input), {
        addProblem: (where: string) => void problems.push(where),
      });
    },
  });
}, 300_000);

it('manifests with words of JavaScript', async () => {
  const folder = 'examples/cluster';
  const seeds = readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(folder, name)));
  const odd = PROPERTY_NAMES.map((word) =>
    encodeText(`apiVersion: v1\nkind: ${word}\nmetadata: {name: ${word}, ${word}: {${word}: 1}}\n`),
  );
  await fuzz('manifest words', {
    seeds: [...seeds, ...odd],
    words: WORDS,
    run: (input) => {
      try {
        for (const { object } of parseManifest('a.yaml', decodeText(input)).objects) JSON.stringify(object);
      } catch (error) {
        if (!(error instanceof ManifestError)) throw error;
        expect(error.line).toBeGreaterThan(0);
      }
    },
  });
}, 300_000);

/** With a foot that is right for it, so that what stands in it is looked at. */
function seal(body: string): string {
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ lines: body.split('\n').length - 2, sha256 })}\n`;
}

/** Whether a cluster has a service of this name. */
const hasGood = (cluster: Cluster): boolean =>
  [...cluster.contents.services()].some(({ name }) => name === 'good');

it('snapshots of the former format', async () => {
  const folder = await makeTemporaryFolder();
  const file = join(folder.path, 'state');
  const owner = { domain: 'cluster.local.', source: 'x' };
  const written = '2026-01-01T00:00:00.000Z';
  const head = JSON.stringify({ format: 'portolan snapshot', version: 1, ...owner, written });
  const good = '["S","n","good",["10.96.0.1"],[]]';
  const lines = [
    '["S","n","a",["10.96.0.2"],[["http","TCP",80]]]',
    '["E","n","a-1","a",[[["10.0.0.1",["10.0.0.2","h"]],[["http","TCP",80]]]]]',
    '["N","n"]',
    '["P","n","p",["10.0.0.3"]]',
  ];
  await fuzz('snapshot', {
    seeds: [...lines, lines.join('\n'), `${head}\n`].map(encodeText),
    words: [...WORDS, ...['["S"', '["E"', '["N"', '["P"', '[]', '0'].map(encodeText)],
    run: async (input) => {
      await writeFile(file, seal(`${head}\n${decodeText(input)}\n${good}\n`));
      const reading = await readSnapshot(file, owner);
      if (reading.kind !== 'good') throw new Error(`not taken: ${JSON.stringify(reading)}`);
      if (reading.content.kind !== 'lines') throw new Error('not lines');
      const { cluster } = new AskableCluster('coredns');
      cluster.restoreLines(reading.content.lines);
      cluster.settle();
      expect(hasGood(cluster)).toBe(true);
      expectNoDefects();
      cluster.stop();
      // Anything at all in the place of the file.
      await writeFile(file, input);
      await readSnapshot(file, owner);
    },
  });
}, 300_000);

it('segments of snapshots', async () => {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80 }] as const;
  const addresses = ['10.0.0.1', 'fd00::1'].map((address, index) => ({ address, hostname: ['h'][index] }));
  const made = new AskableCluster('coredns', { pods: 'verified' });
  made.list([
    { kind: 'Namespace', name: 'n' },
    { kind: 'Service', namespace: 'n', name: 'a', address: { kind: 'headless' }, ports },
    {
      kind: 'Service',
      namespace: 'n',
      name: 'x',
      address: { kind: 'externalName', name: 'a.example' },
      ports,
    },
    { kind: 'Endpoints', namespace: 'n', name: 'a-1', service: 'a', groups: [{ addresses, ports }] },
    { kind: 'Pod', namespace: 'n', name: 'p', addresses: ['10.0.0.3'] },
  ]);
  await fuzz('segment', {
    seeds: [Buffer.concat(made.cluster.snapshot().parts)],
    words: WORDS,
    run: (input) => {
      const after = new AskableCluster('coredns', { pods: 'verified' });
      const { octets, generation } = after.cluster;
      if (!after.cluster.restore(input)) {
        expect([after.cluster.octets, after.cluster.generation]).toEqual([octets, generation]);
        return;
      }
      after.cluster.settle();
      for (const name of ['a.n.svc', 'h.a.n.svc', 'x.n.svc', '_http._tcp.a.n.svc'])
        for (const type of [TYPE.A, TYPE.SRV]) after.askTable(question(`${name}.cluster.local.`, type));
      // What was taken in can be removed.
      after.list([]);
      expect(after.cluster.octets).toBe(octets);
      expectNoDefects();
      after.cluster.stop();
    },
  });
}, 300_000);

it('saved settings', async () => {
  await fuzz('saved settings', {
    seeds: ['["stubDomains","{\\"a\\":[\\"10.0.0.1\\"]}"]', '["federations","a=b.c"]', '["x","y"]\n[]'].map(
      encodeText,
    ),
    words: WORDS,
    run: (input) => {
      const lines = decodeText(input).split('\n');
      const guard = new ItemGuard({ source: 'saved-config', clock: new ManualClock(), log: silentLog });
      const texts = readKeptLines(lines, guard);
      for (const [key, text] of texts ?? []) expect([typeof key, text.kind]).toEqual(['string', 'text']);
      expectNoDefects();
    },
  });
}, 300_000);

it('names of block lists', async () => {
  const lines = [
    '0.0.0.0 ads.example www.ads.example # both',
    '::1 localhost',
    '||ads.example^$important',
    '@@||a.example^',
    '*.ads.example',
    'bücher.example',
    'ads.example##.banner',
    '! [Adblock Plus 2.0]',
  ];
  await fuzz('block list', {
    seeds: [...lines, lines.join('\n')].map(encodeText),
    words: [
      ...WORDS,
      ...['||', '@@', '^', '$', '*.', '#', '!', '0.0.0.0 ', '::1 ', 'ü', 'xn--'].map(encodeText),
    ],
    run: (input) => {
      for (const line of decodeText(input).split('\n'))
        for (const { name } of readListLine(line))
          expect(name).toMatch(/^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/);
    },
  });
}, 300_000);
