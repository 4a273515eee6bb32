/**
 * Catalog zones (RFC 9432) with Knot DNS as their producer: their member zones come, move and go.
 */
import { writeFile } from 'node:fs/promises';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { runKnot } from '../dnsmasq/knot.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const soa = (serial: number) => `@ 60 IN SOA ns host ${serial} 7200 3600 1209600 60`;
const zone = (address: string) => [soa(1), '@ 60 IN NS ns', `www 60 IN A ${address}`, ''].join('\n');
const catalog = (serial: number, members: Readonly<Record<string, string>>, ...more: readonly string[]) =>
  [
    soa(serial),
    '@ 60 IN NS invalid.',
    'version 60 IN TXT "2"',
    ...Object.entries(members).map(([id, member]) => `${id}.zones 60 IN PTR ${member}`),
    ...more,
    '',
  ].join('\n');

describeWithTool('knotd', 'a catalog', () => {
  it('brings its zones, and takes those that it no longer lists', async () => {
    const port = await findFreePort();
    const knot = await runKnot(
      {
        'cat.test.': catalog(1, { a: 'one.test.', b: 'two.test.', c: 'outside.example.' }),
        'one.test.': zone('192.0.2.1'),
        'two.test.': zone('192.0.2.2'),
      },
      onTestFinished,
      { peer: { kind: 'secondary', port } },
    );
    const folder = await makeTemporaryFolder();
    const corefile = (words: string) =>
      `.:${port} {\n bind 127.0.0.1\n secondary cat.test {\n transfer from 127.0.0.1:${knot.port}\n catalog ${words}\n }\n transfer {\n to *\n }\n}\n`;
    const conf = await folder.write('Corefile', corefile('test'));
    const program = runPortolan(['coredns', '-conf', conf]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const logged = (text: string, from = 0) =>
      waitUntil(text, () => program.output.slice(from).includes(text));
    const server = { address: '127.0.0.1', port };
    const askAddress = async (name: string) => {
      const { header, answers } = await ask(server, name, 'A');
      const data = answers[0]?.data;
      return data?.kind === 'A' ? data.address : header.rcode;
    };
    await logged('Transferred: one.test.');
    await logged('Transferred: two.test.');
    expect(await askAddress('www.one.test.')).toBe('192.0.2.1');
    expect(await askAddress('www.two.test.')).toBe('192.0.2.2');
    expect(program.output).toContain('Skipped 1 member zones from catalog cat.test.: outside');

    await knot.change('cat.test.', catalog(2, { a: 'one.test.' }));
    await logged('Removed catalog member zone two.test. from catalog cat.test.');
    expect(await askAddress('www.one.test.')).toBe('192.0.2.1');
    expect(await askAddress('www.two.test.')).not.toBe('192.0.2.2');

    // A catalog that breaks the rules changes nothing.
    await knot.change('cat.test.', catalog(3, { a: 'one.test.', b: 'one.test.' }));
    await logged('Failed refresh check catalog member zone one.test. of cat.test. is listed by both');
    expect(await askAddress('www.one.test.')).toBe('192.0.2.1');

    // A changed Corefile keeps what is fetched.
    const { length } = program.output;
    await knot.stop();
    await writeFile(conf, corefile('test # again'));
    program.signal('SIGUSR1');
    await logged('Reloading complete', length);
    expect(await askAddress('www.one.test.')).toBe('192.0.2.1');
  });
});
