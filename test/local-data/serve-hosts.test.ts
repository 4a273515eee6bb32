/**
 * Hosts files in front of a cluster: `portolan serve --hosts`.
 */
import { writeFile } from 'node:fs/promises';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllPrograms, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const SERVICE = 'cart.shop.svc.cluster.local';
const LINES = `10.9.9.9 ${SERVICE}\n10.9.9.8 printer.lan\n10.96.20.10 known.lan\n`;

async function serveWith(content: string, more: readonly string[] = []) {
  const file = await (await makeTemporaryFolder()).write('hosts', content);
  const flags = ['--example', '--upstream', 'none', '--lameduck', '0s', '--hosts', file, ...more];
  const serving = await servePortolan(flags);
  await serving.program.heard('cluster listed');
  return { serving, file };
}

it('puts names of hosts files before those of the cluster, by UDP and TCP', async () => {
  const { serving } = await serveWith(LINES);
  for (const transport of ['udp', 'tcp'] as const) {
    expect(await askShort(serving, SERVICE, 'A', { transport })).toBe('10.9.9.9');
    expect(await askShort(serving, 'printer.lan', 'A', { transport })).toBe('10.9.9.8');
    expect(await askShort(serving, '10.20.96.10.in-addr.arpa', 'PTR', { transport })).toBe('known.lan.');
  }
  const { answers } = await ask(serving, 'printer.lan', 'A');
  expect(answers[0]?.ttl).toBe(30);
});

it('leaves to the cluster what a file says nothing of', async () => {
  const { serving } = await serveWith(LINES);
  expect(await askShort(serving, SERVICE, 'AAAA')).toBe('NODATA');
  expect(await askShort(serving, `_http._tcp.${SERVICE}`, 'SRV')).toBe(`80 ${SERVICE}.`);
  expect(await askShort(serving, `none.${SERVICE}`, 'A')).toBe('NXDOMAIN');
  expect(await askShort(serving, 'printer.lan', 'AAAA')).toBe('NODATA');
  expect(await askShort(serving, 'lan', 'A')).toBe('NODATA');
  expect(await askShort(serving, 'x.printer.lan', 'A')).toBe('REFUSED');
});

it('gives the cluster back its names when they go from the file', async () => {
  const { serving, file } = await serveWith(LINES);
  expect(await askShort(serving, SERVICE, 'A')).toBe('10.9.9.9');
  await writeFile(file, '10.9.9.7 other.lan\n');
  const becomes = async (name: string, type: 'A' | 'PTR', expected: string) => {
    await waitUntil(expected, async () => (await askShort(serving, name, type)) === expected);
  };
  await becomes(SERVICE, 'A', '10.96.20.10');
  await becomes('10.20.96.10.in-addr.arpa', 'PTR', `${SERVICE}.`);
  await becomes('printer.lan', 'A', 'REFUSED');
  expect(await askShort(serving, 'other.lan', 'A')).toBe('10.9.9.7');
});

it('takes rules and records from a file of options of dnsmasq', async () => {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'dnsmasq.conf',
    'address=/blocked.example/0.0.0.0\nhost-record=nas.lan,10.0.0.20\nlocal=/lan/\ncname=files.lan,nas.lan\n',
  );
  const { serving } = await serveWith(LINES, ['--dnsmasq-conf', conf]);
  expect(await askShort(serving, 'x.blocked.example', 'A')).toBe('0.0.0.0');
  expect(await askShort(serving, 'files.lan', 'A')).toBe('10.0.0.20 nas.lan.');
  expect(await askShort(serving, 'nothing.lan', 'A')).toBe('NXDOMAIN');
  expect(await askShort(serving, 'printer.lan', 'A')).toBe('10.9.9.8');
  await waitUntil('no error', () => !serving.program.log.some(({ level }) => level === 'error'));
});
