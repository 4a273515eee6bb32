/**
 * Encrypted listeners as clients discover them (RFC 9462), and roles without any: what the answer names is what kdig and curl then use.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/kernel/chain/testing/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { LoopbackUpstream, reply } from '../forward/loopback-upstream.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, type Program, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const AUTHORITY = tlsFixturePath('authority.crt');
const IDENTITY = `${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}`;
/** A name of the certificate. */
const SERVED = 'kubernetes.default.svc';
const HOST = '127.0.0.1';

async function serve(corefile: string): Promise<Program> {
  const folder = await makeTemporaryFolder();
  const program = runPortolan(['coredns', '-conf', await folder.write('Corefile', corefile)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  return program;
}

async function kdig(port: number, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await run('kdig', [`@${HOST}`, '-p', String(port), '+timeout=5', '+retry=0', ...flags]);
  return stdout;
}

describeWithTool(['kdig', 'curl'], 'a client that discovers encrypted listeners', () => {
  it('is led to them, and they serve it under the name that it was given', async () => {
    const plain = await findFreePort();
    const tls = await findFreePort();
    const https = await findFreePort();
    const names = `hosts {\n 10.0.0.7 page.example\n ${HOST} ${SERVED}\n }`;
    await serve(`.:${plain} tls://.:${tls} https://.:${https} {
  bind ${HOST}
  tls ${IDENTITY}
  cache
  portolan {
    discovery
  }
  ${names}
}
`);
    const found = await kdig(plain, '+short', '_dns.resolver.arpa', 'SVCB');
    const [dot = '', doh = ''] = found.trim().split('\n');
    expect(dot).toBe(`1 ${SERVED}. alpn=dot port=${tls} ipv4hint=${HOST}`);
    // Earlier versions of kdig print the path as that of a key that they do not know.
    expect(doh.replace(/key7="(.*)"/, 'dohpath=$1')).toBe(
      `2 ${SERVED}. alpn=h2 port=${https} ipv4hint=${HOST} dohpath=/dns-query{?dns}`,
    );
    const port = (record: string) => Number(/ port=(\d+)/.exec(record)?.[1]);
    const verified = [`+tls-ca=${AUTHORITY}`, `+tls-hostname=${SERVED}`, '+short'];
    expect(await kdig(port(dot), '+tls', ...verified, 'page.example')).toBe('10.0.0.7\n');
    expect(await kdig(port(doh), '+https=/dns-query', ...verified, 'page.example')).toBe('10.0.0.7\n');
    const question = 'AAABAAABAAAAAAAABHBhZ2UHZXhhbXBsZQAAAQAB';
    const { stdout } = await run('curl', [
      '-s',
      '-m',
      '5',
      '--cacert',
      AUTHORITY,
      '--resolve',
      `${SERVED}:${port(doh)}:${HOST}`,
      '-w',
      '%{http_version} %{http_code}',
      '-o',
      '/dev/null',
      `https://${SERVED}:${port(doh)}/dns-query?dns=${question}`,
    ]);
    expect(stdout).toBe('2 200');
    // The same answer by the listeners themselves, from the cache.
    expect(await kdig(port(dot), '+tls', ...verified, '_dns.resolver.arpa', 'SVCB')).toBe(found);
  });

  it('learns of none that it could not use, and explain says why', async () => {
    const plain = await findFreePort();
    const tls = await findFreePort();
    const program = await serve(
      `.:${plain} tls://.:${tls} {\n bind ${HOST}\n tls ${IDENTITY}\n portolan {\n discovery dns.example.com\n }\n whoami\n}\n`,
    );
    expect(await kdig(plain, '+short', '_dns.resolver.arpa', 'SVCB')).toBe('');
    const fault = `tls://${HOST}:${tls}: its certificate is not valid for dns.example.com.`;
    expect(program.output).toContain(`discovery: clients do not learn of ${fault}`);
    const socket = `--socket=${formatSocketName(program, 'coredns')}`;
    const { text } = await runToEnd('explain', socket, '_dns.resolver.arpa.', 'SVCB');
    expect(text).toContain(`plugin discovery answers for the name, and its data lacks it: ${fault}`);
  });
});

/** Each role with an upstream server, and the words that switch discovery on. */
const ROLES: readonly (readonly [
  string,
  (port: number, upstream: number, isOn: boolean) => Promise<readonly string[]>,
  RegExp,
])[] = [
  ['serve', async (...given) => ['serve', ...writeFlags(...given)], /"message":"serving"/],
  ['kube-dns', async (...given) => ['kube-dns', ...writeFlags(...given)], /"message":"serving"/],
  ['coredns', async (...given) => ['coredns', '-conf', await writeCorefile(...given)], /linux\//],
  [
    'node-cache',
    async (...given) => [
      'node-cache',
      '-conf',
      await writeCorefile(...given),
      '-localip',
      HOST,
      '-setupinterface=false',
      '-setupiptables=false',
      '-metrics-listen-address',
      `${HOST}:0`,
    ],
    /linux\//,
  ],
];

function writeFlags(port: number, upstream: number, isOn: boolean): readonly string[] {
  const own = [`--dns-bind-address=${HOST}`, `--dns-port=${port}`, `--healthz-port=${HOST}:0`];
  const rest = ['--example', '--log-format=json', `--nameservers=${HOST}:${upstream}`];
  return [...own, ...rest, ...(isOn ? ['--discovery'] : [])];
}

async function writeCorefile(port: number, upstream: number, isOn: boolean): Promise<string> {
  const folder = await makeTemporaryFolder();
  const feature = isOn ? 'portolan {\n discovery\n }\n' : '';
  return await folder.write(
    'Corefile',
    `.:${port} {\n bind ${HOST}\n cache\n ${feature} forward . ${HOST}:${upstream}\n}\n`,
  );
}

it.each(ROLES)(
  '%s sends questions for resolvers upstream only unless discovery is on',
  async (_, write, sign) => {
    const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query, {})));
    onTestFinished(() => upstream.stop());
    const askBoth = async (isOn: boolean) => {
      const port = await findFreePort();
      const program = runPortolan(await write(port, upstream.port, isOn));
      await waitUntil('the server', () => sign.test(`${program.errors}${program.output}`));
      for (const type of ['SVCB', 'A'] as const) {
        const response = await ask({ address: HOST, port }, '_dns.resolver.arpa.', type);
        const { header, answers, authorities } = response;
        expect(header.rcode).toBe(0);
        if (!isOn) continue;
        expect(answers).toEqual([]);
        expect(authorities).toMatchObject([{ name: 'resolver.arpa.', data: { kind: 'SOA' } }]);
      }
      program.signal('SIGKILL');
      await program.exit;
      return upstream.queries
        .splice(0)
        .filter(({ query }) => query.questions[0]?.name.endsWith('resolver.arpa.'));
    };
    expect(await askBoth(true)).toHaveLength(0);
    expect(await askBoth(false)).toHaveLength(2);
  },
);
