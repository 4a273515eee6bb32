/**
 * `ads` and `rrl`, plugins outside the program, in `portolan coredns`.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, vi } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

it('block names of a list, and bound what a client gets', async () => {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const metrics = await findFreePort();
  const list = await folder.write('blocked', '0.0.0.0 ads.example\n||shop.example^\n');
  const lines = [
    `prometheus 127.0.0.1:${metrics}`,
    `ads {\n blacklist file://${list}\n permit good.shop.example\n block-regex ^spy[0-9]+\\.\n }`,
    'rrl limited.example {\n responses-per-second 1\n slip-ratio 1\n }',
    'template IN A alias.example {\n answer "{{ .Name }} 9 IN CNAME ads.example."\n }',
    'template IN A {\n answer "{{ .Name }} 9 IN A 198.51.100.1"\n }',
  ];
  const conf = await folder.write('Corefile', `.:${port} {\n bind 127.0.0.1\n ${lines.join('\n ')}\n}\n`);
  const flags = ['ads', 'rrl'].map((name) => `-plugin=${name}=@portolan/${name}`);
  const program = runPortolan(['coredns', '-conf', conf, ...flags]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  const server = { address: '127.0.0.1', port };
  const resolve = async (name: string) => (await ask(server, name, 'A')).answers.map(presentRecord).join();

  const blocked = ['ads.example.', 'a.shop.example.', 'spy7.test.', 'alias.example.'];
  // A reader repeats some.
  for (const name of [...blocked, ...blocked])
    expect(await resolve(name)).toBe(`${name} 3600 IN A 127.0.0.1`);
  expect((await ask(server, 'ads.example.', 'TXT')).header.rcode).toBe(0);
  for (const name of ['good.shop.example.', 'www.example.'])
    expect(await resolve(name)).toBe(`${name} 9 IN A 198.51.100.1`);

  const limited = 'www.limited.example.';
  expect(await resolve(limited)).toBe(`${limited} 9 IN A 198.51.100.1`);
  // A rate of one in a second: of several questions within less, some exceed it.
  await vi.waitFor(async () => {
    const { header, answers } = await ask(server, limited, 'A');
    expect([header.truncated, answers]).toEqual([true, []]);
  }, 30_000);
  const { answers } = await ask(server, limited, 'A', { transport: 'tcp' });
  expect(answers.map(presentRecord)).toEqual([`${limited} 9 IN A 198.51.100.1`]);
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  expect(text).toMatch(/^coredns_rrl_responses_exceeded_total\{[^}]*\} [1-9]/m);
  // Nine questions; and `template` asks for the target of the alias, twice.
  expect(text).toMatch(/^coredns_ads_blocked_request_count_total\{[^}]*\} 11$/m);
});
