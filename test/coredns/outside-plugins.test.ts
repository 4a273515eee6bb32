/**
 * Plugins of others: loaded by `-plugin`, asked only for the questions that they state; the kit finds those that break the contract.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import { waitUntil } from '../../src/base/testing/wait-until.ts';
import { ask } from '../../src/chain/testing/ask.ts';
import { presentRecord } from '../../src/wire/present.ts';
import { RCODE } from '../../src/wire/types.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const PACKAGE = resolve('packages/plugin');

/** A folder with the package and the example, as npm installs them. */
async function makeFolder() {
  const folder = await makeTemporaryFolder();
  await mkdir(join(folder.path, 'node_modules/@portolan'), { recursive: true });
  await symlink(PACKAGE, join(folder.path, 'node_modules/@portolan/plugin'));
  await cp('examples/plugin/records.js', join(folder.path, 'records.js'));
  await folder.write('package.json', '{"type": "module"}');
  return folder;
}

const faulty = (name: string, instance: string): string =>
  [
    "import { all, definePlugin, within } from '@portolan/plugin';",
    'export default definePlugin({',
    `  api: 1, name: '${name}', before: 'hosts', syntax: ['${name}'], examples: ['${name}'],`,
    '  parse: () => ({}),',
    `  create: () => (${instance}),`,
    '});',
    '',
  ].join('\n');

describe('coredns -plugin', () => {
  it('answers by the plugin, in its place, and has readers repeat what it allows', async () => {
    const folder = await makeFolder();
    const [port, metrics] = [await findFreePort(), await findFreePort()];
    const conf = await folder.write(
      'Corefile',
      `.:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics}\n records a.test {\n  www 60 A 192.0.2.1\n  note TXT "two words"\n }\n template IN A {\n  answer "{{ .Name }} 9 IN A 198.51.100.1"\n }\n}\n`,
    );
    const flag = `-plugin=records=${folder.path}/records.js:before=template`;
    const program = runPortolan(['coredns', '-conf', conf, flag]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const server = { address: '127.0.0.1', port };
    for (let turn = 0; turn < 3; turn += 1)
      expect((await ask(server, 'www.a.test.', 'A')).answers.map(presentRecord)).toEqual([
        'www.a.test. 60 IN A 192.0.2.1',
      ]);
    expect((await ask(server, 'note.a.test.', 'TXT')).answers.map(presentRecord)).toEqual([
      'note.a.test. 3600 IN TXT "two words"',
    ]);
    expect((await ask(server, 'x.a.test.', 'A')).header.rcode).toBe(RCODE.NXDOMAIN);
    expect((await ask(server, 'b.test.', 'A')).answers).toHaveLength(1);
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    expect(text).toMatch(/^coredns_records_answers_total\{[^}]*\} 4$/m);
    expect(text).toMatch(/^coredns_plugin_enabled\{[^}]*name="records"[^}]*\} 1$/m);
  });

  it('answers SERVFAIL for a plugin that throws, counts it, and goes on', async () => {
    const folder = await makeFolder();
    const thrower = await folder.write(
      'thrower.js',
      faulty('thrower', "{ questions: within(['a.test']), handle() { throw new Error('oh'); } }"),
    );
    const [port, metrics] = [await findFreePort(), await findFreePort()];
    const conf = await folder.write(
      'Corefile',
      `.:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics}\n thrower\n whoami\n}\n`,
    );
    const program = runPortolan(['coredns', '-conf', conf, `-plugin=thrower=${thrower}`]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const server = { address: '127.0.0.1', port };
    expect((await ask(server, 'x.a.test.', 'A')).header.rcode).toBe(RCODE.SERVFAIL);
    expect((await ask(server, 'b.test.', 'A')).header.rcode).toBe(RCODE.NOERROR);
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    expect(text).toMatch(/^coredns_panics_total 1$/m);
  });

  it('names the place of a mistake, and refuses what is no plugin', async () => {
    const folder = await makeFolder();
    const conf = await folder.write('Corefile', '. {\n records {\n  www ADDRESS 192.0.2.1\n }\n}\n');
    const own = `records=${folder.path}/records.js`;
    const check = runPortolan(['corefile', 'check', `--plugin=${own}`, conf]);
    expect((await check.exit).code).toBe(1);
    expect(check.output).toContain(
      `plugin/records: ${conf}:3 - Error during parsing: not a record: www\n  ${conf}:3: Write NAME [TTL] TYPE DATA`,
    );
    // Without the flag, a Corefile loads no code.
    const without = runPortolan(['corefile', 'check', conf]);
    await without.exit;
    expect(without.output).toContain("Unknown directive 'records'");
    const refusals: readonly (readonly [string, string])[] = [
      ['records', 'not NAME=MODULE[:before=WORD]'],
      ['hosts=./x.js', 'there is a plugin hosts'],
      ['a=/nonexistent.js', 'no such module: /nonexistent.js'],
      [`other=${folder.path}/records.js`, 'its name is records'],
      [`${own}:before=nosuch`, 'no plugin for records to stand before: nosuch'],
    ];
    for (const [flag, fault] of refusals) {
      const program = runPortolan(['coredns', '-conf', conf, `-plugin=${flag}`]);
      expect((await program.exit).code).toBe(1);
      expect(program.errors).toContain(fault);
    }
  });
});

describe('the conformance kit', () => {
  /** In a process of its own: what else runs here would count as left behind. */
  async function test(path: string): Promise<{ readonly status: number | null; readonly output: string }> {
    const kit = spawn(process.execPath, [join(PACKAGE, 'test-plugin.js'), path]);
    let output = '';
    kit.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [status] = await once(kit, 'close');
    return { status, output };
  }

  it('finds nothing wrong with the example', async () => {
    const folder = await makeFolder();
    expect(await test(join(folder.path, 'records.js'))).toEqual({ status: 0, output: 'records conforms\n' });
  });

  it.each([
    [
      'acts outside its questions',
      "{ questions: within(['a.test'], [1]), handle: () => ({ kind: 'rcode', rcode: 5 }) }",
      'It acts on a question that it does not state',
    ],
    [
      'changes queries outside its questions',
      "{ questions: within(['a.test']), handle: (query, next) => next(query.with({ type: 1 })) }",
      'It acts on a question that it does not state',
    ],
    ['throws', "{ questions: all(), handle() { throw new Error('oh'); } }", 'It throws for'],
    [
      'blocks',
      '{ questions: all(), handle(query, next) { const before = process.cpuUsage(); while (process.cpuUsage(before).user < 150_000); return next(query); } }',
      'It blocks: a call took',
    ],
    [
      'waits',
      '{ questions: all(), handle(query, next) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100); return next(query); } }',
      'It blocks: a call took',
    ],
    [
      'leaks',
      '{ questions: all(), handle: (query, next) => next(query), start() { setInterval(() => {}, 1e6); } }',
      'It leaves something running after its end: Timeout',
    ],
    [
      'cannot start',
      "{ questions: all(), handle: (query, next) => next(query), start() { throw new Error('no'); } }",
      'It throws when it is made or started: no',
    ],
    ['gives no reply', "{ questions: all(), handle: () => 'hello' }", 'has no kind'],
  ])('fails a plugin that %s', async (_, instance, fault) => {
    const folder = await makeFolder();
    const { status, output } = await test(await folder.write('faulty.js', faulty('faulty', instance)));
    expect(status).toBe(1);
    expect(output).toContain(fault);
  });
});
