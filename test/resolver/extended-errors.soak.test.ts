/**
 * Extended DNS errors (RFC 8914) of all front ends, by reader threads and by the main thread.
 */
import { join } from 'node:path';
import { extendedError } from '@portolan/dns/extended-error.ts';
import { decodeMessage } from '@portolan/dns/message.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { type Edns, RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion, makeAddressRecord, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { serveCorefile } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const EDNS: Edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };
const CLUSTER_NAME = 'cart.shop.svc.cluster.local';

/** As `SERVFAIL 15.0.22`, with a text in parentheses; without a code, the response code alone. */
async function askErrorCode(
  server: DnsServer,
  name: string,
  {
    transport = 'udp',
    hasOpt = true,
    options = [],
  }: { transport?: 'udp' | 'tcp'; hasOpt?: boolean; options?: Edns['options'] } = {},
): Promise<string> {
  const edns = hasOpt ? { ...EDNS, options } : undefined;
  const answer = decodeMessage(await exchange(server, { ...makeQuery(name, 'A'), edns }, { transport }));
  expect(answer.edns === undefined).toBe(edns === undefined);
  const codes = (answer.edns?.options ?? []).map(({ code, data }) =>
    code === EXTENDED_ERROR && data.length > 2
      ? `${code}.${data[0]}.${data[1]}(${Buffer.from(data.subarray(2))})`
      : [code, ...data].join('.'),
  );
  return [rcodeName(answer.header.rcode), ...codes].join(' ');
}

const EXTENDED_ERROR = 15;
const DNSMASQ = [
  '--conf-file=/dev/null',
  '--no-hosts',
  '--no-resolv',
  '--keep-in-foreground',
  '--user=',
  '--pid-file=',
  '--listen-address=127.0.0.1',
];
const FORGED = '15.0.4(upstream: by policy)';
const COOKIE = { code: 10, data: new Uint8Array(8).fill(7) };
const NO_OPT = { hasOpt: false };

/**
 * Answers with an address that lives for a second, or SERVFAIL to names that begin with `fails`, until it is stopped. Names that begin
 * with `forged` live for a minute, and have an extended error, as has SERVFAIL to names that begin with `bogus`.
 */
const react: React = ({ query, send }) => {
  const [kind = ''] = getQuestion(query).name.split('.');
  const options = [...(EXPLAINED.get(kind) ?? [])];
  const fails = kind === 'fails' || kind === 'bogus';
  const message = replyMessage(query, {
    answers: fails ? [] : [makeAddressRecord(query, '192.0.2.1', kind === 'forged' ? 60 : 1)],
    edns: query.edns && { ...EDNS, options },
  });
  const rcode = fails ? RCODE.SERVFAIL : RCODE.NOERROR;
  send({ ...message, header: { ...message.header, rcode } });
};

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(react);
  onTestFinished(() => upstream.stop());
  return upstream;
}

const EXPLAINED: ReadonlyMap<string, Edns['options']> = new Map([
  ['forged', [extendedError(4, 'by policy')]],
  ['bogus', [extendedError(9, 'no SEP matching the DS'), extendedError(22)]],
]);

describe.each(['serve', 'kube-dns'])('%s', (role) => {
  const start = async (...flags: readonly string[]) => {
    if (role === 'serve') return await servePortolan(flags);
    const port = await findFreePort();
    const own = [`--dns-port=${port}`, '--dns-bind-address=127.0.0.1', '--healthz-port=127.0.0.1:0'];
    const program = runPortolan(['kube-dns', ...own, '--log-format=json', ...flags]);
    await program.heard('serving');
    return { program, address: '127.0.0.1', port };
  };

  it('is not ready before the cluster is listed', async () => {
    const server = await start(`--kube-master-url=http://127.0.0.1:${await findFreePort()}`);
    expect(await askErrorCode(server, CLUSTER_NAME)).toBe('SERVFAIL 15.0.14');
    expect(await askErrorCode(server, CLUSTER_NAME, { transport: 'tcp' })).toBe('SERVFAIL 15.0.14');
    expect(await askErrorCode(server, CLUSTER_NAME, NO_OPT)).toBe('SERVFAIL');
  });

  it('says nothing about answers that need no reason', async () => {
    const server = await start('--example', '--upstream=none');
    await server.program.heard('cluster listed');
    expect(await askErrorCode(server, CLUSTER_NAME)).toBe('NOERROR');
    expect(await askErrorCode(server, `x.${CLUSTER_NAME}`)).toBe('NXDOMAIN');
    expect(await askErrorCode(server, 'www.example.com')).toBe('REFUSED 15.0.20');
    expect(await askErrorCode(server, 'www.example.com', NO_OPT)).toBe('REFUSED');
  });

  it('says that servers refuse, and then that it remembers it', async () => {
    const server = await start('--example', `--upstream=127.0.0.1:${await findFreePort()}`);
    expect(await askErrorCode(server, 'www.example.com')).toMatch(/^SERVFAIL 15\.0\.2[23]$/);
    // It is remembered for a moment only.
    for (const transport of ['udp', 'tcp'] as const)
      await expect
        .poll(() => askErrorCode(server, 'www.example.com', { transport }), { timeout: 20_000 })
        .toBe('SERVFAIL 15.0.13');
    expect(await askErrorCode(server, 'www.example.com', NO_OPT)).toBe('SERVFAIL');
  });

  it('passes on what an upstream server says, and keeps it with the answer', async () => {
    const upstream = await startUpstream();
    const server = await start('--example', `--upstream=127.0.0.1:${upstream.port}`);
    const bogus = '15.0.9(upstream: no SEP matching the DS) 15.0.22(upstream)';
    expect(await askErrorCode(server, 'bogus.example.com')).toBe(`SERVFAIL ${bogus}`);
    expect(await askErrorCode(server, 'bogus.example.com')).toBe(`SERVFAIL 15.0.13 ${bogus}`);
    expect(await askErrorCode(server, 'forged.example.com', NO_OPT)).toBe('NOERROR');
    const asked = upstream.count;
    for (const transport of ['udp', 'tcp', 'udp'] as const)
      expect(await askErrorCode(server, 'forged.example.com', { transport })).toBe(`NOERROR ${FORGED}`);
    expect(await askErrorCode(server, 'forged.example.com', NO_OPT)).toBe('NOERROR');
    expect(upstream.count).toBe(asked);
  });

  it('says that an answer is stale, by the main thread and by readers', async () => {
    const upstream = await startUpstream();
    const server = await start('--example', `--upstream=127.0.0.1:${upstream.port}`);
    expect(await askErrorCode(server, 'www.example.com')).toBe('NOERROR');
    await upstream.stop();
    const ask = () => askErrorCode(server, 'www.example.com');
    await expect.poll(ask, { timeout: 20_000 }).toBe('NOERROR 15.0.3');
    expect(await ask()).toBe('NOERROR 15.0.3');
    expect(await askErrorCode(server, 'www.example.com', { transport: 'tcp' })).toBe('NOERROR 15.0.3');
    expect(await askErrorCode(server, 'www.example.com', NO_OPT)).toBe('NOERROR');
  });
});

describe.each(['dnsmasq', 'skydns'])('%s', (role) => {
  it('has no codes of its own, and passes on those of an upstream server', async () => {
    const upstream = await startUpstream();
    const port = await findFreePort();
    const flags =
      role === 'dnsmasq'
        ? [`--port=${port}`, `--server=127.0.0.1#${upstream.port}`, ...DNSMASQ]
        : [
            `-addr=127.0.0.1:${port}`,
            `-nameservers=127.0.0.1:${upstream.port}`,
            '-machines=http://127.0.0.1:1',
          ];
    runPortolan([role, ...flags]);
    const server = { address: '127.0.0.1', port };
    const isUp = () => askErrorCode(server, 'www.example.com').catch(String);
    await expect.poll(isUp, { timeout: 20_000 }).toBe('NOERROR');
    for (const transport of ['udp', 'udp', 'tcp'] as const)
      expect(await askErrorCode(server, 'forged.example.com', { transport })).toBe(`NOERROR ${FORGED}`);
    expect(await askErrorCode(server, 'fails.example.com')).toBe('SERVFAIL');
  });
});

/** A node's cache whose upstream server refuses. @returns its port */
async function startNodeCache(flags: readonly string[]): Promise<number> {
  const folder = await makeTemporaryFolder();
  const [port, health, refused] = await Promise.all([findFreePort(), findFreePort(), findFreePort()]);
  const template = `.:${port} {\n bind __PILLAR__LOCAL__DNS__\n cache 30\n forward . 127.0.0.1:${refused}\n}\n`;
  const base = await folder.write('Corefile.base', template);
  const program = runPortolan([
    'node-cache',
    '-localip',
    '127.0.0.1',
    '-dns.port',
    String(port),
    '-health-port',
    String(health),
    '-setupinterface=false',
    '-setupiptables=false',
    '-metrics-listen-address',
    '127.0.0.1:0',
    '-conf',
    join(folder.path, 'Corefile'),
    '-basecorefile',
    base,
    ...flags,
  ]);
  await expect.poll(() => program.output, { timeout: 20_000 }).toContain('CoreDNS-');
  return port;
}

describe('a Corefile', () => {
  const at = (port: number): DnsServer => ({ address: '127.0.0.1', port });

  it('says that servers refuse, by UDP and TCP, and keeps it from clients without OPT', async () => {
    const { port } = await serveCorefile(`  cache\n  forward . 127.0.0.1:${await findFreePort()}`);
    for (const transport of ['udp', 'tcp'] as const)
      expect(await askErrorCode(at(port), 'www.example.com', { transport })).toMatch(
        /^SERVFAIL 15\.0\.2[23]$/,
      );
    expect(await askErrorCode(at(port), 'www.example.com', NO_OPT)).toBe('SERVFAIL');
  });

  it('says so behind the proxy, and repeats a cookie', async () => {
    const { port } = await serveCorefile(
      `  forward . 127.0.0.1:${await findFreePort()} {\n max_connect_attempts 1\n }`,
    );
    expect(await askErrorCode(at(port), 'www.example.com', { options: [COOKIE] })).toMatch(
      /^SERVFAIL 10(?:\.7){8} 15\.0\.2[23]$/,
    );
  });

  it('says that an answer is stale, and that a failure is remembered', async () => {
    const upstream = await startUpstream();
    const { port } = await serveCorefile(
      `  cache {\n serve_stale 1h immediate\n }\n  forward . 127.0.0.1:${upstream.port}`,
    );
    expect(await askErrorCode(at(port), 'www.example.com')).toBe('NOERROR');
    expect(await askErrorCode(at(port), 'fails.example.com')).toBe('SERVFAIL');
    for (const transport of ['udp', 'tcp'] as const)
      expect(await askErrorCode(at(port), 'fails.example.com', { transport })).toBe('SERVFAIL 15.0.13');
    await upstream.stop();
    const ask = () => askErrorCode(at(port), 'www.example.com');
    await expect.poll(ask, { timeout: 20_000 }).toBe('NOERROR 15.0.3');
  });

  it('passes on what an upstream server says, and keeps it with the answer', async () => {
    const upstream = await startUpstream();
    const { port } = await serveCorefile(`  cache\n  forward . 127.0.0.1:${upstream.port}`);
    for (const transport of ['udp', 'tcp', 'udp'] as const)
      expect(await askErrorCode(at(port), 'forged.example.com', { transport })).toBe(`NOERROR ${FORGED}`);
    expect(upstream.count).toBe(1);
    const bogus = '15.0.9(upstream: no SEP matching the DS) 15.0.22(upstream)';
    expect(await askErrorCode(at(port), 'bogus.example.com')).toBe(`SERVFAIL ${bogus}`);
    expect(await askErrorCode(at(port), 'bogus.example.com')).toBe(`SERVFAIL 15.0.13 ${bogus}`);
  });

  it('keeps it with the answers that rewrite makes of it', async () => {
    const upstream = await startUpstream();
    const { port } = await serveCorefile(
      `  rewrite name exact a.example.com forged.example.com answer auto\n  cache\n  forward . 127.0.0.1:${upstream.port}`,
    );
    for (let turn = 0; turn < 4; turn += 1)
      expect(await askErrorCode(at(port), 'a.example.com')).toBe(`NOERROR ${FORGED}`);
    expect(upstream.count).toBe(1);
  });

  it('says that the cluster is not listed yet, and that no block is for a name', async () => {
    const api = `http://127.0.0.1:${await findFreePort()}`;
    const { port } = await serveCorefile(`  kubernetes {\n endpoint ${api}\n }`, 'cluster.local');
    expect(await askErrorCode(at(port), CLUSTER_NAME)).toBe('SERVFAIL 15.0.14');
    expect(await askErrorCode(at(port), 'www.example.com')).toBe('REFUSED 15.0.20');
  });

  it('that node-cache writes says so too, unless -compat is given', async () => {
    expect(await askErrorCode(at(await startNodeCache([])), 'www.example.com')).toMatch(
      /^SERVFAIL 15\.0\.2[23]$/,
    );
    expect(await askErrorCode(at(await startNodeCache(['-compat=1.14'])), 'www.example.com')).toBe(
      'SERVFAIL',
    );
  });

  it('says nothing with -compat', async () => {
    const lines = `  cache\n  forward . 127.0.0.1:${await findFreePort()}`;
    const { port } = await serveCorefile(lines, 'example.com', ['-compat=1.14']);
    expect(await askErrorCode(at(port), 'www.example.com')).toBe('SERVFAIL');
    expect(await askErrorCode(at(port), 'www.example.net')).toBe('REFUSED');
  });

  it('with -compat passes on what an upstream server says as it is, unless cache drops it as in CoreDNS', async () => {
    const upstream = await startUpstream();
    const lines = `  forward . 127.0.0.1:${upstream.port}`;
    const plain = await serveCorefile(lines, 'example.com', ['-compat=1.14']);
    expect(await askErrorCode(at(plain.port), 'forged.example.com')).toBe('NOERROR 15.0.4(by policy)');
    const caching = await serveCorefile(`  cache\n${lines}`, 'example.com', ['-compat=1.14']);
    for (const transport of ['udp', 'udp', 'tcp'] as const)
      expect(await askErrorCode(at(caching.port), 'forged.example.com', { transport })).toBe('NOERROR');
  });
});
