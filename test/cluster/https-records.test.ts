/**
 * HTTPS records of services in each role with a cluster, over UDP and TCP, through changes of the service; and what clients do with them.
 */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { presentData } from '@portolan/dns/record-data.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { readTlsFixture, tlsFixturePath } from '../api-server/tls-fixture.ts';
import { namespace } from '../list-watch/harness.ts';
import { openPage } from '../support/chromium.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const HOST = '127.0.0.1';
/** Only a server that hangs takes so long. */
const PATIENCE = { timeout: 20_000 };
const NAME = 'shop.default.svc.cluster.local.';
const MISSING = 'missing.default.svc.cluster.local.';
const ROLES = ['serve', 'kube-dns', 'coredns'] as const;
type Role = (typeof ROLES)[number];

const PORT = { name: 'https', port: 8443, protocol: 'TCP', appProtocol: 'https' };

/** The service of the scenes. */
function shop(ports: readonly object[], annotations = {}, clusterIP = '10.96.7.7'): KubernetesObject {
  const metadata = { name: 'shop', namespace: 'default', annotations };
  return { kind: 'Service', metadata, spec: { clusterIP, ports } };
}

async function startRole(
  role: Role,
  api: string,
  isOn: boolean,
): Promise<{ readonly program: Program; readonly port: number }> {
  const port = await findFreePort();
  const program = runPortolan(role === 'coredns' ? await writeCorefile() : writeFlags());
  const sign = role === 'coredns' ? /linux\// : /"message":"serving"/;
  await waitUntil(role, () => sign.test(`${program.errors}${program.output}`));
  return { program, port };

  function writeFlags(): readonly string[] {
    const own = [role, `--dns-bind-address=${HOST}`, `--dns-port=${port}`, `--healthz-port=${HOST}:0`];
    const rest = ['--log-format=json', '--upstream=none', `--kube-master-url=${api}`];
    return [...own, ...rest, ...(isOn ? ['--https-records'] : [])];
  }

  async function writeCorefile(): Promise<readonly string[]> {
    const folder = await makeTemporaryFolder();
    const feature = isOn ? 'portolan {\n https_records\n }\n' : '';
    const text = `.:${port} {\n bind ${HOST}\n ${feature} kubernetes cluster.local {\n endpoint ${api}\n }\n}\n`;
    return ['coredns', '-conf', await folder.write('Corefile', text)];
  }
}

it.each(ROLES)('%s has them as services say, and explain says why not', async (role) => {
  const api = await ApiServerDouble.start({ objects: [namespace('default'), shop([PORT])] });
  onTestFinished(() => api.stop());
  const { program, port } = await startRole(role, api.url, true);
  const look = async (name = NAME, transport: 'udp' | 'tcp' = 'udp') => {
    const { header, answers, authorities } = await ask({ address: HOST, port }, name, 'HTTPS', { transport });
    const denied = authorities.map(({ data }) => data.kind).join();
    return [header.rcode, ...answers.map(({ data }) => presentData(data)), denied].join(' | ');
  };
  const hint = 'ipv4hint=10.96.7.7';
  // Only then are all objects listed.
  await expect.poll(() => look(MISSING), PATIENCE).toBe('3 | SOA');
  for (const transport of ['udp', 'tcp'] as const) {
    expect(await look(NAME, transport)).toBe(`0 | 1 . port=8443 ${hint} | `);
    expect(await look(`_8443._https.${NAME}`, transport)).toBe(`0 | 1 ${NAME} ${hint} | `);
    expect(await look(`_https.${NAME}`, transport)).toBe('0 | SOA');
    expect(await look(`_443._https.${NAME}`, transport)).toBe('3 | SOA');
  }
  const address = await ask({ address: HOST, port }, NAME, 'A');
  expect(address.answers.map(({ data }) => presentData(data))).toEqual(['10.96.7.7']);

  api.put(
    shop(
      [
        { ...PORT, port: 443 },
        { ...PORT, name: 'quic', protocol: 'UDP', port: 443 },
      ],
      { 'portolan-https/alpn': 'h2, h3' },
    ),
  );
  await expect.poll(() => look(), PATIENCE).toBe(`0 | 1 . alpn="h2,h3" ${hint} | `);

  // A client of http://shop/ would find TLS where there is none.
  api.put(shop([PORT, { ...PORT, name: 'http', port: 80, appProtocol: 'http' }]));
  await expect.poll(() => look(), PATIENCE).toBe('0 | SOA');
  const socket = `--socket=${formatSocketName(program, role)}`;
  const { text } = await runToEnd('explain', socket, NAME, 'HTTPS');
  expect(text).toContain('has no HTTPS record: it would lead clients of http:// to TLS');

  api.delete('Service', 'shop', 'default');
  await expect.poll(() => look(), PATIENCE).toBe('3 | SOA');
  expect(await look(`_8443._https.${NAME}`)).toBe('3 | SOA');
});

it.each(ROLES)('%s has none unless they are switched on', async (role) => {
  const api = await ApiServerDouble.start({ objects: [namespace('default'), shop([PORT])] });
  onTestFinished(() => api.stop());
  const { program, port } = await startRole(role, api.url, false);
  const look = async (name: string, type: 'A' | 'HTTPS') => {
    const { header, answers } = await ask({ address: HOST, port }, name, type);
    return [header.rcode, answers.length];
  };
  await expect.poll(() => look(MISSING, 'A'), PATIENCE).toEqual([3, 0]);
  expect(await look(NAME, 'A')).toEqual([0, 1]);
  expect(await look(NAME, 'HTTPS')).toEqual([0, 0]);
  expect(await look(`_8443._https.${NAME}`, 'HTTPS')).toEqual([3, 0]);
  const socket = `--socket=${formatSocketName(program, role)}`;
  const { text } = await runToEnd('explain', socket, NAME, 'HTTPS');
  expect(text).toContain('has no HTTPS record: HTTPS records are off');
});

itWithTool(['chromium', 'kdig'], 'Chromium uses TLS at once where a service has a record', async () => {
  const page = createServer(readTlsFixture('server'), (_, response) =>
    response.end('<body>found by TLS</body>'),
  );
  page.listen(0, HOST);
  await once(page, 'listening');
  onTestFinished(() => {
    page.closeAllConnections();
    page.close();
  });
  const { port: pagePort } = page.address() as AddressInfo; // It listens on a port.
  const objects = [namespace('default'), shop([{ ...PORT, port: pagePort }], {}, HOST)];
  const api = await ApiServerDouble.start({ objects });
  onTestFinished(() => api.stop());
  const dns = await findFreePort();
  const doh = await findFreePort();
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    `.:${dns} https://.:${doh} {
  bind ${HOST}
  tls ${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}
  portolan {
    https_records
  }
  kubernetes cluster.example {
    endpoint ${api.url}
  }
}
`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  // Chromium asks the system for names in .local.
  const name = 'shop.default.svc.cluster.example';
  const asked = ['@127.0.0.1', '-p', String(dns), '+short', `_${pagePort}._https.${name}`, 'HTTPS'];
  await expect.poll(async () => (await run('kdig', asked)).stdout, PATIENCE).toContain(`1 ${name}.`);
  expect(await openPage(`http://${name}:${pagePort}/`, doh)).toContain('found by TLS');
});
