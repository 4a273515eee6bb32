/**
 * Server blocks of `tls://`, `https://` and `grpc://` as clients see them: kdig, curl, and one of HTTP/2.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect as connectByHttp2 } from 'node:http2';
import { promisify } from 'node:util';
import { decodeMessage } from '@portolan/dns/message.ts';
import { encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { encode } from 'dns-packet';
import { afterEach, expect, it } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { call } from '../listen/grpc-client.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const AUTHORITY = tlsFixturePath('authority.crt');
const IDENTITY = `${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}`;
const CLIENT = { certificate: tlsFixturePath('client.crt'), key: tlsFixturePath('client.key') };

interface Served {
  readonly program: Program;
  reload(corefile: string): Promise<void>;
}

async function serve(corefile: string): Promise<Served> {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  return {
    program,
    async reload(text) {
      await writeFile(conf, text);
      const { length } = program.output;
      program.signal('SIGUSR1');
      await waitUntil('the change', () => program.output.slice(length).includes('Reloading complete'));
    },
  };
}

/** A query in wire form. */
function encodeQuery(name: string, type: string): Buffer {
  return encode({ type: 'query', flags: 0x100, questions: [{ type: type as 'A', name }] });
}

const ZONE = `template IN A example.org {
    answer "{{ .Name }} 77 IN A 192.0.2.1"
  }
  template IN AAAA example.org {
    rcode NXDOMAIN
    authority "example.org. 60 IN SOA ns.example.org. host.example.org. 1 60 60 60 9"
  }`;

/** What kdig prints without its statistics, and its exit code. */
async function kdig(port: number, ...flags: readonly string[]): Promise<string> {
  const args = ['@127.0.0.1', '-p', String(port), '+timeout=5', '+retry=0', ...flags];
  try {
    return (await run('kdig', args)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    return `FAILED ${stdout}${stderr}`;
  }
}

const VERIFIED = [`+tls-ca=${AUTHORITY}`, '+tls-hostname=localhost'];

describeWithTool(['kdig', 'curl'], 'listeners with TLS', () => {
  it('answer kdig over TLS and over HTTPS, and count as CoreDNS does', async () => {
    const tls = await findFreePort();
    const https = await findFreePort();
    const metrics = await findFreePort();
    const common = `bind 127.0.0.1\n tls ${IDENTITY}\n prometheus 127.0.0.1:${metrics}\n ${ZONE}`;
    const { program } = await serve(`tls://.:${tls} {\n ${common}\n}\nhttps://.:${https} {\n ${common}\n}\n`);
    expect(program.output).toContain(`tls://.:${tls} on 127.0.0.1\n`);
    expect(program.output).toContain(`https://.:${https} on 127.0.0.1\n`);
    const dot = await kdig(tls, '+tls', ...VERIFIED, '+keepopen', 'a.example.org', 'b.example.org');
    expect(dot).toMatch(/TLS session \(TLS1\.3\)/);
    expect(dot).toMatch(/a\.example\.org\.\s+77\s+IN\s+A\s+192\.0\.2\.1/);
    expect(dot).toMatch(/b\.example\.org\.\s+77\s+IN\s+A\s+192\.0\.2\.1/);
    for (const flag of ['+https', '+https-get']) {
      const doh = await kdig(https, flag, ...VERIFIED, 'a.example.org');
      expect(doh).toMatch(/HTTP session \(HTTP\/2-(POST|GET)\)-\(.*\)-\(status: 200\)/);
      expect(doh).toMatch(/a\.example\.org\.\s+77\s+IN\s+A\s+192\.0\.2\.1/);
    }
    expect(await kdig(tls, '+tcp', 'a.example.org')).toMatch(/^FAILED/);
    expect(await kdig(https, '+tls', ...VERIFIED, 'a.example.org')).toMatch(/^FAILED/);
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const requests = (server: string, count: number) =>
      `coredns_dns_requests_total{server="${server}",zone=".",view="",proto="tcp",family="1",type="A"} ${count}\n`;
    expect(text).toContain(requests(`tls://127.0.0.1:${tls}`, 2));
    expect(text).toContain(requests(`https://127.0.0.1:${https}`, 2));
    expect(text).toContain(
      `coredns_dns_https_responses_total{server="https://127.0.0.1:${https}",status="200"} 2\n`,
    );
  });

  it('give metrics to clients with a certificate only, and follow the file of it', async () => {
    const port = await findFreePort();
    const metrics = await findFreePort();
    const folder = await makeTemporaryFolder();
    const ofServer = `tls_server_config:\n  cert_file: ${tlsFixturePath('server.crt')}\n  key_file: ${tlsFixturePath('server.key')}\n`;
    const ofClients = `  client_ca_file: ${AUTHORITY}\n  client_auth_type: RequireAndVerifyClientCert\n`;
    const web = await folder.write('web.yml', ofServer + ofClients);
    const corefile = (tls: string) =>
      `.:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics} {\n ${tls}\n }\n whoami\n}\n`;
    const { reload } = await serve(corefile(`tls ${web}`));
    const scrape = (url: string, ...flags: readonly string[]) =>
      run('curl', ['-s', '-m', '5', '--cacert', AUTHORITY, ...flags, `${url}:${metrics}/metrics`]).then(
        ({ stdout }) => stdout.includes('coredns_build_info{'),
        () => false,
      );
    const shown = ['--cert', CLIENT.certificate, '--key', CLIENT.key];
    expect(await scrape('https://localhost', ...shown)).toBe(true);
    expect(await scrape('https://localhost')).toBe(false);
    expect(await scrape('http://localhost')).toBe(false);
    await writeFile(web, ofServer);
    await reload(corefile(`tls ${web} # for all`));
    expect(await scrape('https://localhost')).toBe(true);
    await reload(corefile('# no longer encrypted'));
    expect(await scrape('http://localhost')).toBe(true);
  });

  it('have no metrics without the certificate that they are to have', async () => {
    const port = await findFreePort();
    const metrics = await findFreePort();
    const { program } = await serve(
      `.:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics} {\n tls /nonexistent/web.yml\n }\n whoami\n}\n`,
    );
    const reason = 'TLS config file does not exist: /nonexistent/web.yml';
    expect(program.output).toContain(`[ERROR] Failed to start metrics handler: ${reason}\n`);
    await expect(fetch(`http://127.0.0.1:${metrics}/metrics`)).rejects.toThrow();
  });

  it('answer curl by HTTP/2 and HTTP/1.1, with the time for caches', async () => {
    const port = await findFreePort();
    await serve(`https://.:${port} {\n bind 127.0.0.1\n tls ${IDENTITY}\n ${ZONE}\n}\n`);
    const query = (type: string) => encodeQuery('a.example.org', type);
    const head = async (...flags: readonly string[]) => {
      const to = ['--resolve', `localhost:${port}:127.0.0.1`, '--cacert', AUTHORITY];
      const args = ['-s', '-o', '/dev/null', '-D', '-', ...to, ...flags];
      return (await run('curl', args)).stdout;
    };
    const url = (type: string) =>
      `https://localhost:${port}/dns-query?dns=${query(type).toString('base64url')}`;
    expect(await head(url('A'))).toMatch(/^HTTP\/2 200[\s\S]*cache-control: max-age=77\r\n/);
    expect(await head('--http1.1', url('A'))).toMatch(/^HTTP\/1\.1 200[\s\S]*cache-control: max-age=77\r\n/);
    expect(await head(url('AAAA'))).toMatch(/cache-control: max-age=9\r\n/);
    expect(await head(`https://localhost:${port}/other`)).toMatch(/^HTTP\/2 404/);
  });

  it('demand certificates of clients', async () => {
    const port = await findFreePort();
    const demand = 'client_auth require_and_verify';
    await serve(
      `tls://.:${port} {\n bind 127.0.0.1\n tls ${IDENTITY} ${AUTHORITY} {\n ${demand}\n }\n ${ZONE}\n}\n`,
    );
    expect(await kdig(port, '+tls', ...VERIFIED, 'a.example.org')).toMatch(/^FAILED/);
    const own = [`+tls-certfile=${CLIENT.certificate}`, `+tls-keyfile=${CLIENT.key}`];
    expect(await kdig(port, '+tls', ...VERIFIED, ...own, 'a.example.org')).toContain('192.0.2.1');
  });

  it('follow a changed Corefile without another socket', async () => {
    const port = await findFreePort();
    const block = (tls: string) => `tls://.:${port} {\n bind 127.0.0.1\n ${tls}\n ${ZONE}\n}\n`;
    const { reload } = await serve(block(''));
    expect(await kdig(port, '+tcp', 'a.example.org')).toContain('192.0.2.1');
    await reload(block(`tls ${IDENTITY}`));
    expect(await kdig(port, '+tcp', 'a.example.org')).toMatch(/^FAILED/);
    expect(await kdig(port, '+tls', ...VERIFIED, 'a.example.org')).toContain('192.0.2.1');
    await reload(block(`tls ${IDENTITY} {\n client_auth require\n }`));
    expect(await kdig(port, '+tls', ...VERIFIED, 'a.example.org')).toMatch(/^FAILED/);
  });
});

it('grpc:// answers with TLS and without, counts as CoreDNS does, and is what grpc asks', async () => {
  const [plain, encrypted, asking, metrics] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  const common = `bind 127.0.0.1\n prometheus 127.0.0.1:${metrics}`;
  const { program } = await serve(
    `grpc://.:${plain} {\n ${common}\n grpc_server {\n max_streams 3\n }\n ${ZONE}\n}\n` +
      `grpc://.:${encrypted} {\n ${common}\n tls ${IDENTITY}\n ${ZONE}\n}\n` +
      `.:${asking} {\n ${common}\n grpc . 127.0.0.1:${encrypted} {\n tls ${AUTHORITY}\n tls_servername localhost\n }\n}\n`,
  );
  expect(program.output).toContain(`grpc://.:${plain} on 127.0.0.1\n`);
  const query = encodeDnsPacket(encodeQuery('a.example.org', 'A'));
  for (const origin of [`http://127.0.0.1:${plain}`, `https://localhost:${encrypted}`]) {
    const session = connectByHttp2(origin, { ca: readFileSync(AUTHORITY) });
    session.on('error', () => {});
    const { code, messages } = await call(session, query);
    expect(code).toBe(0);
    expect(decodeMessage(messages[0] ?? Buffer.alloc(0)).answers).toMatchObject([
      { ttl: 77, data: { address: '192.0.2.1' } },
    ]);
    if (origin.startsWith('http:')) expect(session.remoteSettings.maxConcurrentStreams).toBe(3);
    session.destroy();
  }
  const server = { address: '127.0.0.1', port: asking };
  expect(await askShort(server, 'a.example.org', 'A')).toBe('192.0.2.1');
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  expect(text).toContain(
    `coredns_dns_requests_total{server="grpc://127.0.0.1:${plain}",zone=".",view="",proto="tcp",family="1",type="A"} 1\n`,
  );
  expect(text).toContain(`coredns_grpc_requests_total{to="127.0.0.1:${encrypted}"} 1\n`);
});

it('a Corefile with a scheme that is not served is refused with what to write instead', async () => {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    ['quic', 'https3'].map((scheme) => `${scheme}://. {\n  whoami\n}\n`).join(''),
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  expect((await program.exit).code).toBe(1);
  const said = program.errors + program.output;
  expect(said).toContain('cannot serve quic://.:853 - quic listeners are not built into Portolan');
  expect(said).toContain('Serve the zone over TLS in place of QUIC: tls://ZONE.');
  expect(said).toContain('Serve the zone over HTTP/2 in place of HTTP/3: https://ZONE.');
});
