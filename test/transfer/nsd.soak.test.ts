/**
 * Zone transfers and notifications with NSD as the peer, with a shared key and without.
 */
import { writeFile } from 'node:fs/promises';
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { type NsdWishes, runNsd } from './nsd.ts';
import { serials } from './serials.ts';

afterEach(endAllPrograms);

const KEY: NonNullable<NsdWishes['key']> = {
  name: 'transfer.key',
  algorithm: 'hmac-sha512',
  secret: 'X28hl0BOfAL5G0jsmJWSacrwn7YRm2f6U5brnzwWEus=',
};
const KEY_FILE = `key "transfer.key." {\n algorithm ${KEY.algorithm};\n secret "${KEY.secret}";\n};\n`;

const zone = (serial: number, hosts: number): string =>
  [
    '$ORIGIN example.',
    `@ 60 IN SOA ns host ${serial} 7200 3600 1209600 60`,
    '@ 60 IN NS ns',
    'ns 60 IN A 192.0.2.53',
    ...Array.from({ length: hosts }, (_, host) => `h${host} 60 IN A 10.0.${host >> 8}.${host & 255}`),
    '',
  ].join('\n');

/** While NSD reloads a zone, its former process answers some queries beside the one that has the zone already. */
const RELOADED = { timeout: 5_000, interval: 20 };

const askAddresses = async (port: number, name: string): Promise<readonly string[]> =>
  (await ask({ address: '127.0.0.1', port }, `${name}.example.`, 'A')).answers.map(presentRecord);

describeWithTool('nsd', 'NSD', () => {
  it.each([
    ['without a key', undefined],
    ['with a key', KEY],
  ])('as the secondary server is notified, and gets the zone and its next version, %s', async (_, key) => {
    const folder = await makeTemporaryFolder();
    const port = await findFreePort();
    const nsdPort = await findFreePort();
    const file = await folder.write('db.example', zone(7, 1000));
    const signs = key === undefined ? '' : `tsig {\n secrets ${await folder.write('keys', KEY_FILE)}\n }`;
    const to = `to 127.0.0.1:${nsdPort}${key === undefined ? '' : `\n key ${key.name}`}`;
    const conf = await folder.write(
      'Corefile',
      `example {\n bind 127.0.0.1\n ${signs}\n file ${file} {\n reload 1s\n }\n transfer {\n ${to}\n }\n}\n`,
    );
    const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    await runNsd({ zone: 'example', peerPort: port, port: nsdPort, ...(key && { key }) });
    const untilSerial = serials(nsdPort, 'example.');
    await untilSerial(7);
    await expect
      .poll(() => askAddresses(nsdPort, 'h999'), RELOADED)
      .toEqual(['h999.example. 60 IN A 10.0.3.231']);
    await writeFile(file, zone(8, 1001));
    await untilSerial(8);
    await expect
      .poll(() => askAddresses(nsdPort, 'h1000'), RELOADED)
      .toEqual(['h1000.example. 60 IN A 10.0.3.232']);
  });

  it.each([
    ['without a key', undefined],
    ['with a key', KEY],
  ])('as the primary server gives the zone, and its changes after a NOTIFY, %s', async (_, key) => {
    const folder = await makeTemporaryFolder();
    const port = await findFreePort();
    const nsdPort = await findFreePort();
    const signs =
      key === undefined
        ? ''
        : `tsig {\n secrets ${await folder.write('keys', KEY_FILE)}\n require_opcode NOTIFY\n }`;
    const from = `transfer from 127.0.0.1:${nsdPort}${key === undefined ? '' : `\n key ${key.name}`}`;
    const conf = await folder.write(
      'Corefile',
      `example {\n bind 127.0.0.1\n ${signs}\n secondary {\n ${from}\n }\n}\n`,
    );
    const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
    // NSD notifies at its start, and again only after 15 s where nobody answers.
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const nsd = await runNsd({
      zone: 'example',
      text: zone(7, 1000),
      peerPort: port,
      port: nsdPort,
      ...(key && { key }),
    });
    const untilSerial = serials(port, 'example.');
    await untilSerial(7);
    expect(await askAddresses(port, 'h999')).toEqual(['h999.example. 60 IN A 10.0.3.231']);
    await nsd.change(zone(8, 900));
    await untilSerial(8);
    expect(program.output).toContain('Notify from 127.0.0.1 for example.');
    expect(await askAddresses(port, 'h999')).toEqual([]);
  });
});
