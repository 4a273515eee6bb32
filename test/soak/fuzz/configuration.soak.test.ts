/**
 * Fuzzes files of operators: any content is accepted or refused, and each refusal has a place.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeCorefileProblem, describeCorefileWarning } from '@portolan/corefile/syntax/findings.ts';
import { parseName } from '@portolan/dns/name.ts';
import { convertKubeDnsConfig } from '@portolan/frontends/coredns/settings/from-kube-dns.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { DNSMASQ_HOSTS } from '@portolan/frontends/dnsmasq/settings/hosts-manner.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { readServersFile } from '@portolan/frontends/dnsmasq/settings/servers-file.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { parseResolvConf } from '@portolan/kernel/forward/resolv-conf.ts';
import { readKubeconfigs } from '@portolan/kubernetes/api/connection/kubeconfig-file.ts';
import { ManifestError, parseManifest } from '@portolan/kubernetes/manifests/parse-manifest.ts';
import { readControlOrder } from '@portolan/ops/control/settings/control-order.ts';
import { COREDNS_HOSTS } from '@portolan/plugins/hosts/hosts-manner.ts';
import { KeyFileError, readKeyFile } from '@portolan/plugins/tsig/key-file.ts';
import { CONFIG_KEYS, readKubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { HostsReader } from '@portolan/sources/hosts/hosts-reader.ts';
import { describeZoneFileProblem, readZoneFile } from '@portolan/sources/zone-files/zone-file.ts';
import { expect, it } from 'vitest';
import { COMMAND_LINES, ZONES } from '../../dnsmasq/known-world.ts';
import { encodeText, type FuzzTarget, fuzz } from './fuzz.ts';

const decodeText = (input: Uint8Array) => Buffer.from(input).toString('utf8');
const encodeWords = (text: string) => text.split(/\s+/).filter(Boolean).map(encodeText);
const readAll = (folder: string, names: readonly string[]) =>
  names.map((name) => readFileSync(join(folder, name)));
const inFolder = (folder: string, ends: string) =>
  readAll(
    folder,
    readdirSync(folder).filter((name) => name.endsWith(ends)),
  );

const MARKS = [
  '{',
  '}',
  '(',
  ')',
  '"',
  "'",
  '\\',
  '#',
  ';',
  '\n',
  '\r\n',
  ' ',
  '\t',
  '=',
  '/',
  ',',
  ':',
  '.',
  '\u0000',
  '$',
  '%',
]
  .concat([
    '{$X}',
    '{%X%}',
    '99999999999',
    '-1',
    '0',
    '2001:db8::1',
    '192.0.2.1',
    '::',
    'a..b',
    'x'.repeat(300),
    'ä',
    '*',
  ])
  .map(encodeText);

const COREFILES = inFolder('test/corefile/corefiles', '.Corefile');

it('Corefiles', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const reading = readCorefile(decodeText(input), {
      file: '/etc/Corefile',
      profile: '1.14',
      defaultPort: 53,
      environment: { X: 'a.example' },
      files: {
        read: (path) => (path === '/etc/resolv.conf' ? 'nameserver 192.0.2.53\n' : ''),
        findKind: (path) => (path === '/etc/resolv.conf' ? 'file' : undefined),
        list: () => [],
      },
      interfaces: new Map([['lo', ['127.0.0.1']]]),
    });
    const place = /^\/etc\/[\w.]+:\d+: \S/;
    for (const warning of reading.warnings) expect(describeCorefileWarning(warning)).toMatch(place);
    if (reading.kind === 'good') return;
    expect(reading.problems.length).toBeGreaterThan(0);
    for (const problem of reading.problems)
      expect(describeCorefileProblem(problem)).toMatch(/\n {2}\/etc\/[\w.]+:\d+: \S/);
  };
  const words = [...MARKS, ...COREFILES.flatMap((file) => encodeWords(decodeText(file)))];
  await fuzz('Corefile', { seeds: COREFILES, words, run });
}, 300_000);

const OPTIONS = COMMAND_LINES.map((words) =>
  encodeText(words.map((word) => word.replace(/^--/, '')).join('\n')),
);

it('files of options of dnsmasq, and of its servers', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const sources = memorySources({ files: { '/etc/dnsmasq.conf': input } });
    const reading = readDnsmasqOptions(['--conf-file=/etc/dnsmasq.conf'], sources);
    if (reading.kind === 'bad') {
      expect(reading.problems.length).toBeGreaterThan(0);
      for (const { where, remedy } of reading.problems) expect([where, remedy]).not.toContain('');
    }
    for (const { where } of readServersFile(input, '/etc/servers').problems)
      expect(where).toMatch(/^\/etc\/servers:\d+/);
  };
  const words = [
    ...MARKS,
    ...OPTIONS.flatMap((option) => encodeWords(decodeText(option).replaceAll('=', '= '))),
  ];
  await fuzz('dnsmasq', { seeds: OPTIONS, words, run });
}, 300_000);

it('hosts files and resolv.conf', async () => {
  const run: FuzzTarget['run'] = (input) => {
    for (const manner of [DNSMASQ_HOSTS, COREDNS_HOSTS]) {
      const reader = new HostsReader(manner, {
        host: (_address, name) => expect(name.at(-1)).toBe(0),
        warning: ({ line }) => expect(line).toBeGreaterThan(0),
        line: (_line, read) => read(),
      });
      reader.push(input);
      reader.end();
    }
    for (const { line } of parseResolvConf(decodeText(input)).problems) expect(line).toBeGreaterThan(0);
  };
  const seeds = [
    '127.0.0.1 localhost\n10.0.0.1 a.example a # comment\n::1 ip6-localhost\n',
    'search x.example\nnameserver 192.0.2.53\nnameserver fe80::1%eth0\noptions ndots:5\n',
  ].map(encodeText);
  await fuzz('hosts', { seeds, words: MARKS, run });
}, 300_000);

it('zone files', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const origin = parseName('example.test.');
    // An include of itself is a problem with a place too.
    const { problems } = readZoneFile(decodeText(input), {
      file: 'db',
      origin,
      readInclude: () => '$INCLUDE db\n',
    });
    for (const problem of problems) expect(describeZoneFileProblem(problem)).toMatch(/^\S*db:\d+: \S/);
  };
  const seeds = Object.values(ZONES).map(encodeText);
  const own = [
    '$GENERATE 1-20 a$ A 192.0.2.$',
    '$INCLUDE db',
    '$ORIGIN',
    '$TTL',
    'IN',
    'SOA',
    'TXT',
    '\\# 4 c0000201',
    '{0,3,x}',
  ];
  await fuzz('zone file', { seeds, words: [...MARKS, ...own.map(encodeText)], run });
}, 300_000);

it('the ConfigMap of kube-dns', async () => {
  const run: FuzzTarget['run'] = (input) => {
    for (const key of CONFIG_KEYS) {
      const checked = readKubeDnsConfig({
        get: (name: string) => (name === key ? decodeText(input) : undefined),
      } as never);
      if (checked.kind === 'bad') expect(checked.problems.map(({ where }) => where).join()).toContain(key);
      convertKubeDnsConfig(new Map([[key, decodeText(input)]]));
    }
  };
  const seeds = [
    '{"acme.local": ["10.0.0.1", "10.0.0.2:5353"]}',
    '["8.8.8.8", "8.8.4.4:53"]',
    'fed=example.com,b=c.d',
  ].map(encodeText);
  await fuzz('ConfigMap', { seeds, words: MARKS, run });
}, 300_000);

const YAML_WORDS = [
  '&a ',
  '*a',
  '<<: *a',
  '- ',
  '? ',
  '|\n',
  '>-\n',
  '---\n',
  '!!binary ',
  '!!js ',
  'null',
  '~',
  '0x1',
  '{a: 1}',
  '[1]',
].map(encodeText);

it('manifests', async () => {
  const run: FuzzTarget['run'] = (input) => {
    try {
      parseManifest('a.yaml', decodeText(input));
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      expect(error.line).toBeGreaterThan(0);
    }
  };
  const seeds = inFolder('examples/cluster', '.yaml');
  await fuzz('manifest', {
    seeds,
    words: [...MARKS, ...YAML_WORDS, ...seeds.flatMap((file) => encodeWords(decodeText(file)))],
    run,
  });
}, 300_000);

it('kubeconfigs', async () => {
  const folder = await makeTemporaryFolder();
  const path = join(folder.path, 'kubeconfig');
  const run: FuzzTarget['run'] = async (input) => {
    await writeFile(path, input);
    try {
      const { contexts, clusters, users } = await readKubeconfigs([path], false);
      for (const entry of [...contexts.values(), ...clusters.values(), ...users.values()])
        entry.text('server');
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ClusterConfigurationError') throw error;
      expect(error.message).toContain(path);
    }
  };
  const seed = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: t, exec: {command: x, args: [a]}}}]
`;
  await fuzz('kubeconfig', {
    seeds: [seed, `${seed}x: *nothing\n`, `x: ${'['.repeat(5000)}`, '? '.repeat(5000)].map(encodeText),
    words: [...MARKS, ...YAML_WORDS, ...encodeWords(seed)],
    run,
  });
}, 300_000);

it('orders of the control socket', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const checked = readControlOrder(decodeText(input).split(' '), 'text');
    if (checked.kind === 'bad') expect(checked.problems.length).toBeGreaterThan(0);
  };
  const seeds = [
    'status',
    'log-level debug',
    'query-log on zone=a.example rcode=NXDOMAIN sample=10 client=10.0.0.0/8',
  ].map(encodeText);
  await fuzz('control', {
    seeds,
    words: [...MARKS, ...seeds.flatMap((seed) => encodeWords(decodeText(seed)))],
    run,
  });
}, 300_000);

it('files of keys', async () => {
  const run: FuzzTarget['run'] = (input) => {
    try {
      for (const { name, secret } of readKeyFile(decodeText(input)))
        expect(name !== '' && secret !== '').toBe(true);
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
    }
  };
  const text =
    '# key\nkey "a.example." {\n algorithm hmac-sha256; // long\n secret "c2Vj//cmV0";\n};\n/* b */ key b { secret x; }\n';
  await fuzz('key-file', { seeds: [encodeText(text)], words: [...encodeWords(text), ...MARKS], run });
}, 300_000);
