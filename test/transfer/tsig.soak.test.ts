/**
 * Signed transfers and notifications (TSIG), with Knot DNS, dig and kdig as peers.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { type KnotPeer, runKnot } from '../dnsmasq/knot.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { serials } from './serials.ts';

afterEach(endAllPrograms);
const run = promisify(execFile);

const SECRET = 'X28hl0BOfAL5G0jsmJWSacrwn7YRm2f6U5brnzwWEus=';
const WRONG = 'AAAhl0BOfAL5G0jsmJWSacrwn7YRm2f6U5brnzwWEus=';
const ALGORITHM = 'hmac-sha512';
const KEY: KnotPeer['key'] = { name: 'transfer.key', algorithm: ALGORITHM, secret: SECRET };
const KEY_FILE = `key "transfer.key." {\n algorithm ${ALGORITHM};\n secret "${SECRET}";\n};\n`;

const zone = (serial: number, hosts: number): string =>
  [
    `@ 60 IN SOA ns host ${serial} 7200 3600 1209600 60`,
    '@ 60 IN NS ns',
    'ns 60 IN A 192.0.2.53',
    ...Array.from({ length: hosts }, (_, host) => `h${host} 60 IN A 10.0.${host >> 8}.${host & 255}`),
    '',
  ].join('\n');

async function serve(text: string, directives: string) {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const file = await folder.write('db.example', text);
  const keys = await folder.write('keys', KEY_FILE);
  const tsig = `tsig {\n secrets ${keys}\n require AXFR IXFR\n }`;
  const corefile = `example {\n bind 127.0.0.1\n ${tsig}\n file ${file} {\n reload 1s\n }\n ${directives}\n}\n`;
  const conf = await folder.write('Corefile', corefile);
  const start = async () => {
    const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    return program;
  };
  return { file, port, start };
}

/** What dig or kdig prints. They verify the signatures of all messages. */
async function query(tool: 'dig' | 'kdig', port: number, ...flags: readonly string[]): Promise<string> {
  const limits = tool === 'dig' ? ['+time=10', '+tries=1'] : ['+time=10', '+retry=0'];
  const args = ['@127.0.0.1', '-p', String(port), ...limits, ...flags];
  const { stdout, stderr } = await run(tool, args, { maxBuffer: 64 * 2 ** 20 }).catch((error) => error);
  return `${stdout}\n${stderr}`;
}

const key = (algorithm = ALGORITHM, secret = SECRET, name = 'transfer.key'): readonly string[] => [
  '-y',
  `${algorithm}:${name}:${secret}`,
];

describeWithTool('dig', 'a signed transfer', () => {
  const HOSTS = 3_000;

  it('is verified by dig, with each algorithm, and refused without a signature', async () => {
    const { port, start } = await serve(zone(7, HOSTS), 'transfer {\n to *\n }');
    await start();
    for (const hash of ['sha1', 'sha224', 'sha256', 'sha384', 'sha512']) {
      const told = await query('dig', port, ...key(`hmac-${hash}`), 'example', 'AXFR');
      expect(told.match(/^h\d+\.example\.\s/gm)).toHaveLength(HOSTS);
      expect(told).toContain(`hmac-${hash}. `);
      expect(told).toContain(' NOERROR 0');
      expect(told).not.toMatch(/could not be validated|expected a TSIG|failed/i);
    }
    expect(await query('dig', port, 'example', 'AXFR')).toContain('Transfer failed');
    expect(
      (await ask({ address: '127.0.0.1', port }, 'example.', 'AXFR', { transport: 'tcp' })).header.rcode,
    ).toBe(5);
    expect((await ask({ address: '127.0.0.1', port }, 'h1.example.', 'A')).header.rcode).toBe(0);
  });

  it('is refused with another key, and the answers to single questions are signed', async () => {
    const { port, start } = await serve(zone(7, 2), 'transfer {\n to *\n }');
    await start();
    const wrong = await query('dig', port, ...key(ALGORITHM, WRONG), '+tcp', 'example', 'SOA');
    expect(wrong).toContain('status: NOTAUTH');
    expect(wrong).toContain('BADSIG');
    const unknown = await query('dig', port, ...key(ALGORITHM, SECRET, 'other.key'), 'example', 'SOA');
    expect(unknown).toContain('status: NOTAUTH');
    expect(unknown).toContain('BADKEY');
    const good = await query('dig', port, ...key(), 'h1.example', 'A');
    expect(good).toContain('status: NOERROR');
    expect(good).not.toMatch(/could not be validated|expected a TSIG/i);
    expect(await query('dig', port, ...key(), 'nosuch.example', 'A')).toContain('status: NXDOMAIN');
    // Over UDP, a client that is behind is told the newest serial number only (RFC 1995 section 2).
    const behind = await query('dig', port, ...key(), '+notcp', 'example', 'IXFR=6');
    expect(behind.match(/^example\.\s.*SOA/gm)).toHaveLength(1);
  });
});

describeWithTool('kdig', 'kdig', () => {
  it('verifies signed transfers and answers', async () => {
    const { port, start } = await serve(zone(7, 1_000), 'transfer {\n to *\n }');
    await start();
    const told = await query('kdig', port, ...key(), 'example', 'AXFR');
    expect(told.match(/^h\d+\.example\.\s/gm)).toHaveLength(1_000);
    expect(told).not.toMatch(/;; (?:WARNING|ERROR)/);
    const single = await query('kdig', port, ...key(), 'h1.example', 'A');
    expect(single).toContain('10.0.0.1');
    expect(single).not.toMatch(/WARNING/);
    expect(await query('kdig', port, ...key(ALGORITHM, WRONG), 'h1.example', 'A')).toMatch(/NOTAUTH|BADSIG/);
  });
});

describeWithTool('knotd', 'Knot with a shared key', () => {
  it('as the secondary server is notified, and gets the zone and its next version', async () => {
    const knotPort = await findFreePort();
    const to = `transfer {\n to 127.0.0.1:${knotPort}\n key transfer.key\n }`;
    const { port, start, file } = await serve(zone(7, 1000), to);
    await runKnot({ 'example.': '' }, onTestFinished, {
      peer: { kind: 'primary', port, ...(KEY && { key: KEY }) },
      port: knotPort,
    });
    const untilSerial = serials(knotPort, 'example.');
    await untilSerial(0);
    const program = await start();
    await untilSerial(7);
    await writeFile(file, zone(8, 1001));
    await untilSerial(8);
    const { answers } = await ask({ address: '127.0.0.1', port: knotPort }, 'h1000.example.', 'A');
    expect(answers.map(presentRecord)).toEqual(['h1000.example. 60 IN A 10.0.3.232']);
    expect(program.output).not.toContain('was not accepted');
  });

  it('as the primary server gives the zone, and its changes after a NOTIFY, but not for another key', async () => {
    const port = await findFreePort();
    const knot = await runKnot({ 'example.': zone(7, 1000) }, onTestFinished, {
      peer: { kind: 'secondary', port, ...(KEY && { key: KEY }) },
    });
    const folder = await makeTemporaryFolder();
    const keys = await folder.write('keys', KEY_FILE);
    const corefile = (secret: string) =>
      `example {\n bind 127.0.0.1\n tsig {\n ${secret}\n require_opcode NOTIFY\n }\n` +
      ` secondary {\n transfer from 127.0.0.1:${knot.port}\n key transfer.key\n }\n}\n`;
    const conf = await folder.write('Corefile', corefile(`secrets ${keys}`));
    const args = ['coredns', '-dns.port', String(port), '-conf'];
    const program = runPortolan([...args, conf]);
    const untilSerial = serials(port, 'example.');
    await untilSerial(7);
    await knot.change('example.', zone(8, 900));
    await waitUntil('the notification', () => program.output.includes('Notify from 127.0.0.1 for example.'));
    await untilSerial(8);

    const other = await folder.write('Other', corefile(`secret transfer.key ${WRONG}`));
    const refused = runPortolan([...args.slice(0, 2), String(await findFreePort()), '-conf', other]);
    await waitUntil('the refusal', () => refused.output.includes('failed to transfer'));
    expect(refused.output).not.toContain('Transferred');
  });
});
