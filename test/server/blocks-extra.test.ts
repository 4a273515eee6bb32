/**
 * `--blocks-extra`: Corefile plugins that join blocks of a front end.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { runOurs } from '../dnsmasq/both.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterAll(endAllPrograms);

const ZONE = `$ORIGIN office.example.
@ 3600 IN SOA ns hostmaster 1 7200 3600 1209600 3600
@ 3600 IN NS ns
printer 300 IN A 192.0.2.7
`;
const EXTRA = (address: string) => `. {
  rewrite name exact basket.example cart.shop.svc.cluster.local
  template IN A made.example {
    answer "{{ .Name }} 60 IN A ${address}"
  }
  hosts {
    192.0.2.8 fax.office.example
    fallthrough
  }
  file FOLDER/office.zone office.example
}
`;

describe.each([['--dialect=coredns'], ['--dialect=kube-dns']])('serve %s', (dialect) => {
  it('answers by them before names of the cluster, and follows the file', async () => {
    const folder = await makeTemporaryFolder();
    await folder.write('office.zone', ZONE);
    const write = (address: string) => folder.write('extra', EXTRA(address).replace('FOLDER', folder.path));
    await write('192.0.2.1');
    const serving = await servePortolan(['--example', dialect, `--blocks-extra=${folder.path}/extra`]);
    await serving.program.heard('cluster listed');
    const answers = async () =>
      Promise.all(
        [
          'basket.example',
          'www.made.example',
          'fax.office.example',
          'printer.office.example',
          'scanner.office.example',
          'cart.shop.svc.cluster.local',
        ].map((name) => askShort(serving, name, 'A')),
      );
    const expected = ['10.96.20.10', '192.0.2.1', '192.0.2.8', '192.0.2.7', 'NXDOMAIN', '10.96.20.10'];
    expect(await answers()).toEqual(expected);
    // By readers, where they may.
    expect(await answers()).toEqual(expected);
    await write('192.0.2.2');
    serving.program.signal('SIGHUP');
    await vi.waitFor(async () => expect(await askShort(serving, 'www.made.example', 'A')).toBe('192.0.2.2'), {
      timeout: 10_000,
    });
    // What is wrong is reported with its place, and what was right stays.
    await folder.write('extra', '. {\n  template IN A\n  forward . 192.0.2.53\n}\n');
    serving.program.signal('SIGHUP');
    const { reason } = await serving.program.heard('blocks-extra not followed');
    expect(reason).toContain('extra:3: plugin cannot join this block: forward');
    expect(await askShort(serving, 'www.made.example', 'A')).toBe('192.0.2.2');
  });
});

it('dnsmasq answers by them, and follows the file', async () => {
  const folder = await makeTemporaryFolder();
  const write = (address: string) =>
    folder.write(
      'extra',
      `. {\n  template IN A made.example {\n    answer "{{ .Name }} 60 IN A ${address}"\n  }\n}\n`,
    );
  await write('192.0.2.1');
  const ours = await runOurs(['--no-hosts', '--no-resolv', `--blocks-extra=${folder.path}/extra`]);
  expect(await askShort(ours, 'www.made.example', 'A')).toBe('192.0.2.1');
  expect(await askShort(ours, 'www.other.example', 'A')).toBe('REFUSED');
  await write('192.0.2.2');
  ours.signal('SIGHUP');
  await vi.waitFor(async () => expect(await askShort(ours, 'www.made.example', 'A')).toBe('192.0.2.2'), {
    timeout: 10_000,
  });
});

describe('a server of Corefiles', () => {
  const makeCorefile = (port: number) =>
    `.:${port} {\n bind 127.0.0.1\n hosts {\n 192.0.2.9 own.example\n }\n}\n`;
  const makeExtraBlocks = (port: number, address: string) =>
    `.:${port} {\n template IN A made.example {\n  answer "{{ .Name }} 60 IN A ${address}"\n }\n}\n`;

  it.each([
    ['coredns', (conf: string) => ['coredns', '-conf', conf]],
    [
      'node-cache',
      (conf: string) => [
        'node-cache',
        '-conf',
        conf,
        '-localip',
        '127.0.0.1',
        '-setupinterface=false',
        '-setupiptables=false',
        '-metrics-listen-address',
        '127.0.0.1:0',
      ],
    ],
  ])('%s has the directives in the block of their zone, and follows the file', async (_, makeCommand) => {
    const folder = await makeTemporaryFolder();
    const port = await findFreePort();
    const conf = await folder.write('Corefile', makeCorefile(port));
    const extra = await folder.write('extra', makeExtraBlocks(port, '192.0.2.1'));
    const program = runPortolan([...makeCommand(conf), '-blocks-extra', extra]);
    await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
    expect(program.ended, program.errors).toBe(undefined);
    const server = { address: '127.0.0.1', port };
    expect(await askShort(server, 'www.made.example', 'A')).toBe('192.0.2.1');
    expect(await askShort(server, 'own.example', 'A')).toBe('192.0.2.9');
    await folder.write('extra', makeExtraBlocks(port, '192.0.2.2'));
    program.signal('SIGUSR1');
    await waitUntil('the reload', () => program.output.includes('Reloading complete'));
    expect(await askShort(server, 'www.made.example', 'A')).toBe('192.0.2.2');
  });

  it('ends where no block of the zone is there', async () => {
    const folder = await makeTemporaryFolder();
    const port = await findFreePort();
    const conf = await folder.write('Corefile', makeCorefile(port));
    const extra = await folder.write('extra', 'other.example {\n whoami\n}\n');
    const program = runPortolan(['coredns', '-conf', conf, '-blocks-extra', extra]);
    expect((await program.exit).code).toBe(1);
    expect(program.errors).toContain('no server block to join: other.example.:53');
  });
});

it.each([
  ['example.org {\n  whoami\n}\n', 'no block of this zone: example.org.'],
  ['. {\n  cache 30\n}\n', 'plugin cannot join this block: cache'],
  ['. {\n  rewrite name exact\n}\n', 'extra:2'],
])('a file with a fault ends the start: %s', async (text, reason) => {
  const folder = await makeTemporaryFolder();
  await folder.write('extra', text);
  const program = runPortolan(['serve', '--example', `--blocks-extra=${folder.path}/extra`]);
  expect((await program.exit).code).toBe(1);
  expect(program.errors).toContain(reason);
});
