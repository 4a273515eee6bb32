import { randomBytes } from 'node:crypto';
import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery, record } from '@portolan/kernel/chain/testing/queries.ts';
import { toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { ClientAuthentication } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { expect, it, onTestFinished } from 'vitest';
import { Discovery } from './discovery.ts';
import type { EncryptedListener } from './options.ts';

/** Valid from 2026-11-21 on for 127.0.0.1, localhost and kubernetes.default.svc. */
const CERTIFICATE = join(import.meta.dirname, '../../../../test/api-server/tls/server.crt');
const SERVED = 'kubernetes.default.svc.';
const NOW = Date.parse('2026-12-01T00:00:00Z');
const SOA = 'resolver.arpa. 60 IN SOA resolver.arpa. nobody.invalid. 1 3600 1200 604800 60';

interface Scene {
  readonly listeners?: readonly EncryptedListener[];
  readonly name?: string;
  /** Address records by name. */
  readonly known?: Readonly<Record<string, readonly string[]>>;
  readonly now?: number;
}

function listener(
  scheme: EncryptedListener['scheme'],
  port: number,
  parts: Partial<EncryptedListener> & { readonly authentication?: ClientAuthentication } = {},
): EncryptedListener {
  const { authentication: clientAuthentication = 'nocert', ...rest } = parts;
  const tls = {
    certificate: CERTIFICATE,
    key: '',
    authorities: undefined,
    clientAuthentication,
    keyLog: undefined,
  };
  return { server: `${scheme}://:${port}`, scheme, address: '', port, tls, ...rest };
}

async function startScene({ listeners = [], name, known = {}, now = NOW }: Scene) {
  const clock = new ManualClock(now);
  const log = new RecordingLog();
  const lookUp = ({ key, question: { name: owner, type } }: ReturnType<typeof makeQuery>): Answer => {
    const addresses = (known[key] ?? []).filter((address) => address.includes(':') === (type === 28));
    const records = addresses.map((address) =>
      record(owner, address.includes(':') ? { kind: 'AAAA', address } : { kind: 'A', address }),
    );
    return records.length === 0
      ? { kind: 'refused' }
      : { kind: 'records', records, additionals: [], authoritative: true };
  };
  const wanted = name === undefined ? undefined : parseName(name);
  const discovery = new Discovery({ name: wanted, listeners }, { clock, log, lookUp });
  await discovery.start();
  onTestFinished(() => discovery.stop());
  const ask = async (owner: string, type: string): Promise<readonly string[]> => {
    const query = makeQuery(owner, type);
    const answer = await discovery.handler.handle(query, () => ({ kind: 'refused' }));
    if (answer.kind === 'drop') return ['drop'];
    expect(discovery.handler.questions.includes(query.key, query.question.type)).toBe(
      answer.kind !== 'refused',
    );
    const { rcode, answers, authorities, additionals } = toWholeAnswer(answer);
    return [String(rcode), ...[...answers, ...authorities, ...additionals].map(presentRecord)];
  };
  const discover = () => ask('_dns.resolver.arpa.', 'SVCB');
  const why = () => discovery.inspect().denial?.reason;
  return { ask, discover, clock, log, why, stop: () => discovery.stop() };
}

const BOTH = [listener('https', 443), listener('tls', 853)];
const KNOWN = { [SERVED]: ['10.96.0.10', 'fd00::a'] };

it('names each encrypted listener, with what a client needs to reach it', async () => {
  const { discover, why, log } = await startScene({ listeners: BOTH, known: KNOWN });
  const owner = '_dns.resolver.arpa. 30 IN SVCB';
  const hints = 'ipv4hint=10.96.0.10 ipv6hint=fd00::a';
  expect(await discover()).toEqual([
    '0',
    `${owner} 1 ${SERVED} alpn="dot" port=853 ${hints}`,
    `${owner} 2 ${SERVED} alpn="h2" port=443 ${hints} dohpath="/dns-query{?dns}"`,
    `${SERVED} 30 IN A 10.96.0.10`,
    `${SERVED} 30 IN AAAA fd00::a`,
  ]);
  expect(why()).toBe('');
  expect(log.records).toEqual([]);
});

it('answers for no other name', async () => {
  const { ask } = await startScene({ listeners: BOTH, known: KNOWN });
  expect(await ask('resolver.arpa.example.', 'SVCB')).toEqual(['5']);
  expect(await ask('arpa.', 'NS')).toEqual(['5']);
  expect(await ask('myresolver.arpa.', 'SVCB')).toEqual(['5']);
});

it.each([
  ['_dns.resolver.arpa.', 'A'],
  ['_dns.resolver.arpa.', 'HTTPS'],
  ['_DNS.Resolver.ARPA.', 'TXT'],
  ['_853._https._dns.resolver.arpa.', 'SVCB'],
  ['x.resolver.arpa.', 'SVCB'],
  ['resolver.arpa.', 'A'],
  ['resolver.arpa.', 'SVCB'],
])('says that %s has no %s', async (name, type) => {
  const { ask } = await startScene({ listeners: BOTH, known: KNOWN });
  expect(await ask(name, type)).toEqual(['0', SOA]);
});

it('has the records of a zone at its apex (RFC 6303)', async () => {
  const { ask } = await startScene({});
  expect(await ask('resolver.arpa.', 'SOA')).toEqual(['0', SOA]);
  expect(await ask('resolver.arpa.', 'NS')).toEqual(['0', 'resolver.arpa. 60 IN NS resolver.arpa.']);
});

const noAddress = `no server block has an address for ${SERVED}`;
it.each<readonly [string, Scene, string]>([
  ['no listener is encrypted', {}, 'the server has no encrypted listener for the names of this block'],
  ['no name has an address', { listeners: BOTH }, noAddress],
  [
    'only the name that each client has of itself has one',
    { listeners: BOTH, known: { 'localhost.': ['127.0.0.1'] } },
    noAddress,
  ],
  [
    'the certificate is not valid for the given name',
    {
      listeners: [listener('tls', 853)],
      name: 'dns.example.com.',
      known: { 'dns.example.com.': ['10.0.0.1'] },
    },
    'tls://:853: its certificate is not valid for dns.example.com.',
  ],
  [
    'clients need a certificate',
    { listeners: [listener('tls', 853, { authentication: 'require' })], known: KNOWN },
    'tls://:853: it is only for clients with a certificate',
  ],
  [
    'clients need a certificate that an authority has signed',
    { listeners: [listener('tls', 853, { authentication: 'require_and_verify' })], known: KNOWN },
    'tls://:853: it is only for clients with a certificate',
  ],
  [
    'the certificate has expired',
    { listeners: [listener('tls', 853)], known: KNOWN, now: Date.parse('2127-01-01') },
    'tls://:853: its certificate has expired',
  ],
  [
    'the certificate is for later',
    { listeners: [listener('tls', 853)], known: KNOWN, now: Date.parse('2020-01-01') },
    'tls://:853: its certificate is not valid yet',
  ],
])('says that there is none, and why, where %s', async (_, scene, reason) => {
  const { discover, why } = await startScene(scene);
  expect(await discover()).toEqual(['0', SOA]);
  expect(why()).toBe(reason);
});

it('uses a given name that the certificate is valid for, in any case', async () => {
  const { discover } = await startScene({
    listeners: [listener('tls', 853)],
    name: 'Kubernetes.default.svc.',
    known: KNOWN,
  });
  expect((await discover())[1]).toContain(' SVCB 1 Kubernetes.default.svc. alpn="dot" port=853 ');
});

it('names a listener on loopback only where the name leads there', async () => {
  const listeners = [listener('tls', 853, { address: '127.0.0.1' })];
  const { discover } = await startScene({ listeners, known: KNOWN });
  expect(await discover()).toEqual(['0', SOA]);
  const local = await startScene({ listeners, known: { [SERVED]: ['127.0.0.1'] } });
  expect((await local.discover())[1]).toContain('ipv4hint=127.0.0.1');
});

it('leaves out one listener, and keeps the other', async () => {
  const listeners = [listener('tls', 853, { authentication: 'require' }), listener('https', 443)];
  const { discover, log } = await startScene({ listeners, known: KNOWN });
  const [, first = '', second = ''] = await discover();
  expect(first).toContain('alpn="h2"');
  expect(second).toContain(' IN A ');
  expect(log.records).toMatchObject([
    {
      level: 'warn',
      message:
        'plugin/portolan: discovery: clients do not learn of tls://:853: it is only for clients with a certificate',
    },
  ]);
});

/** A listener whose certificate has no host name at first, until `put` puts another one in its place. */
async function startWithFile() {
  const folder = await makeTemporaryFolder();
  const certificate = join(folder.path, 'tls.crt');
  const put = async (from: string) => {
    const path = join(folder.path, randomBytes(4).toString('hex'));
    await copyFile(from, path);
    await rename(path, certificate);
  };
  await put(join(import.meta.dirname, '../../../../test/api-server/tls/authority.crt'));
  const first = listener('tls', 853);
  const listeners = [{ ...first, tls: { ...first.tls, certificate } }];
  return { ...(await startScene({ listeners, known: KNOWN })), folder, put };
}

it('follows the file of a certificate, and keeps what it knew while that cannot be read', async () => {
  const { discover, clock, why, folder, put } = await startWithFile();
  expect(await discover()).toEqual(['0', SOA]);
  expect(why()).toBe('tls://:853: its certificate has no name that clients can look up');
  await put(CERTIFICATE);
  clock.advance(10_000);
  await waitUntil('the new names', () => why() === '' || why() === undefined);
  expect((await discover())[1]).toContain(SERVED);
  await folder.write('tls.crt', (await readFile(CERTIFICATE, 'latin1')).slice(0, 100));
  await waitUntil('the timer', () => clock.pending > 0);
  clock.advance(10_000);
  await waitUntil('the next look', () => clock.pending > 0);
  expect((await discover())[1]).toContain(SERVED);
});

it('looks at no file again once it is stopped, even in the middle of a look', async () => {
  const { clock, why, stop, put } = await startWithFile();
  await put(CERTIFICATE);
  clock.advance(10_000);
  stop();
  await waitUntil('the end of the look', () => why() === '');
  expect(clock.pending).toBe(0);
});
