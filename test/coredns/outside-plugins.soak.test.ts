/**
 * Plugins of others: loaded by `-plugin`, asked only for the questions that they state; the kit finds those that break the contract.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const PACKAGE = resolve('packages/plugin');

/** A folder with the package and the example, as npm installs them. */
async function makeFolder() {
  const folder = await makeTemporaryFolder();
  await mkdir(join(folder.path, 'node_modules/@portolan'), { recursive: true });
  await symlink(PACKAGE, join(folder.path, 'node_modules/@portolan/plugin'));
  for (const example of ['plugin/records.js', 'plugin/records.test.js', 'maintenance/maintenance.js'])
    await cp(join('examples', example), join(folder.path, basename(example)));
  await folder.write('package.json', '{"type": "module"}');
  return folder;
}

/** @param handler parts of its handler @param more of the plugin */
const faulty = (name: string, handler: string, more = ''): string =>
  [
    "import { ALL_QUESTIONS, definePlugin, namesWithin, toKey, UPSTREAMS } from '@portolan/plugin';",
    'let publication;',
    "const ZONE = namesWithin(new Set([toKey('a.test')]));",
    "const ADDRESSES = namesWithin(new Set([toKey('a.test')]), new Set([1]));",
    'export default definePlugin({',
    `  name: '${name}', before: 'hosts', syntax: ['${name}'], examples: ['${name}'],`,
    '  read: (cursor) => cursor.whole(() => ({})),',
    '  create: (options, context) => ({',
    `    handler: { name: '${name}', role: 'other', answers: 'unchanged', questions: ALL_QUESTIONS, ${handler} },`,
    `    ${more}`,
    '  }),',
    '});',
    '',
  ].join('\n');

describe('coredns -plugin', () => {
  it('answers by the plugin, in its place, and has readers repeat what it allows', async () => {
    const folder = await makeFolder();
    const port = await findFreePort();
    const metrics = await findFreePort();
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

  it('answers by the plugin of the guide during its hours', async () => {
    const folder = await makeFolder();
    const port = await findFreePort();
    const minutes = Math.floor(Date.now() / 60_000) % (24 * 60);
    const shown = (minute: number) =>
      [Math.floor(minute / 60) % 24, minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
    // Hours that began half an hour ago, and hours that begin an hour from now.
    const now = `${shown(minutes + 24 * 60 - 30)}-${shown(minutes + 30)}`;
    const later = `${shown(minutes + 60)}-${shown(minutes + 90)}`;
    const conf = await folder.write(
      'Corefile',
      `.:${port} {\n bind 127.0.0.1\n maintenance a.test 192.0.2.80 ${now}\n maintenance b.test 192.0.2.80 ${later}\n template IN A {\n  answer "{{ .Name }} 9 IN A 198.51.100.1"\n }\n}\n`,
    );
    const flag = `-plugin=maintenance=${folder.path}/maintenance.js`;
    const program = runPortolan(['coredns', '-conf', conf, flag]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const server = { address: '127.0.0.1', port };
    const lines = async (name: string) => (await ask(server, name, 'A')).answers.map(presentRecord);
    expect(await lines('www.A.test.')).toEqual(['www.A.test. 30 IN A 192.0.2.80']);
    expect(await lines('www.b.test.')).toEqual(['www.b.test. 9 IN A 198.51.100.1']);
    expect((await ask(server, 'a.test.', 'MX')).answers).toEqual([]);
  });

  it('answers SERVFAIL for a plugin that throws, counts it, and goes on', async () => {
    const folder = await makeFolder();
    const thrower = await folder.write(
      'thrower.js',
      faulty('thrower', "questions: ZONE, handle() { throw new Error('oh'); }"),
    );
    const port = await findFreePort();
    const metrics = await findFreePort();
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

  it('fences off whatever a plugin does', async () => {
    const folder = await makeFolder();
    const faults: readonly (readonly [string, string])[] = [
      ['malformed', "handle: () => ({ kind: 'records', records: [{ name: 7 }], additionals: [] })"],
      [
        'address',
        "handle: ({ question: { name } }) => ({ kind: 'records', records: [{ name, class: 1, ttl: 1, data: { kind: 'A', address: 'x' } }], additionals: [] })",
      ],
      ['nothing', 'handle: () => undefined'],
      ['rejects', "handle: () => Promise.reject(new Error('oh'))"],
      ['forged', 'handle: (query, next) => next({ ...query })'],
      ['forwarded', "handle: () => ({ kind: 'forwarded', rcode: 0, answers: [], memory: {} })"],
      [
        'stated',
        "questions: { includes() { throw new Error('oh'); }, matches() { throw new Error('oh'); } }, handle() { throw new Error('oh'); }",
      ],
      ['forever', 'handle: () => new Promise(() => {})'],
    ];
    const ports = await Promise.all(faults.map(() => findFreePort()));
    const flags = await Promise.all(
      faults.map(
        async ([name, handler]) =>
          `-plugin=${name}=${await folder.write(`${name}.js`, faulty(name, handler, "isReady() { throw new Error('oh'); }, stop() { throw new Error('oh'); },"))}`,
      ),
    );
    const blocks = faults.map(
      ([name], index) => `.:${ports[index]} {\n bind 127.0.0.1\n ${name}\n whoami\n}\n`,
    );
    const conf = await folder.write('Corefile', blocks.join(''));
    const program = runPortolan(['coredns', '-conf', conf, ...flags]);
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const codes = await Promise.all(
      ports.map(async (port) => (await ask({ address: '127.0.0.1', port }, 'x.a.test.', 'A')).header.rcode),
    );
    expect(codes).toEqual(faults.map(() => RCODE.SERVFAIL));
    program.signal('SIGTERM');
    expect((await program.exit).code).toBe(0);
    expect(program.output).toContain('plugin/forever: stop failed');
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
    const old = await folder.write(
      'old.js',
      "export default { api: 1, name: 'old', before: 'hosts', syntax: ['old'], examples: ['old'], parse() {}, create() {} };\n",
    );
    const written = (name: string, text: string) => folder.write(`${name}.js`, text);
    const named = await written('named', 'export const named = 1;\n');
    const empty = await written('empty', '// Nothing yet.\n');
    const plain = await written('plain', "export default { name: 'plain', read() {}, create() {} };\n");
    const awaiting = await written('awaiting', 'await 0;\nexport default 1;\n');
    const throwing = await written('throwing', "throw new Error('boom');\n");
    const refusals: readonly (readonly [string, string])[] = [
      ['records', 'not NAME=MODULE[:before=WORD]'],
      ['hosts=./x.js', 'there is a plugin hosts'],
      ['a=/nonexistent.js', 'no such module: /nonexistent.js'],
      [
        `other=${folder.path}/records.js:before=file`,
        `its name is records\n  Write -plugin=records=${folder.path}/records.js:before=file.`,
      ],
      [`named=${named}`, 'it has no default export\n  Write export default definePlugin({ … })'],
      [`empty=${empty}`, 'it has no default export'],
      [`plain=${plain}`, 'definePlugin has not made it\n  Write export default definePlugin({ … })'],
      [`awaiting=${awaiting}`, 'Move the await at its top level into start of the plugin.'],
      [`throwing=${throwing}`, 'boom\n  Run it with node to see the whole error.'],
      [`${own}:before=nosuch`, 'no plugin for records to stand before: nosuch'],
      [`old=${old}`, 'it is for API 1, and this server has API 2'],
      [`old=${old}`, 'packages/plugin/README.md says what changed since version 1'],
    ];
    for (const [flag, fault] of refusals) {
      const program = runPortolan(['coredns', '-conf', conf, `-plugin=${flag}`]);
      expect((await program.exit).code).toBe(1);
      expect(program.errors).toContain(fault);
    }
  });

  it('does not start with a handler that states no questions', async () => {
    const folder = await makeFolder();
    const silent = await folder.write(
      'silent.js',
      faulty('silent', 'questions: undefined, handle: (query, next) => next(query)'),
    );
    const conf = await folder.write('Corefile', `.:${await findFreePort()} {\n bind 127.0.0.1\n silent\n}\n`);
    const program = runPortolan(['coredns', '-conf', conf, `-plugin=silent=${silent}`]);
    expect((await program.exit).code).toBe(1);
    expect(program.errors).toContain('plugin/silent: its handler states no questions: undefined');
  });

  it('loads TypeScript where Node.js does, and says so elsewhere', async () => {
    const folder = await makeFolder();
    const path = await folder.write(
      'typed.ts',
      `const ZONES: ReadonlySet<string> = new Set();\n${faulty('typed', 'handle: (query, next) => next(query)')}`,
    );
    const conf = await folder.write('Corefile', '. {\n typed\n}\n');
    const check = runPortolan(['corefile', 'check', `--plugin=typed=${path}`, conf]);
    const { code } = await check.exit;
    const isLoaded = 'typescript' in process.features && process.features.typescript !== false;
    expect(code).toBe(isLoaded ? 0 : 1);
    if (!isLoaded) expect(check.errors).toContain('Compile it to JavaScript, or run Node.js 22.18 or later.');
  });
});

it('has an example with tests of its own', async () => {
  const folder = await makeFolder();
  const tests = spawn(process.execPath, ['--test', 'records.test.js'], { cwd: folder.path });
  const [status] = await once(tests, 'close');
  expect(status).toBe(0);
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

  it.each(['records', 'maintenance'])('finds nothing wrong with the example %s', async (name) => {
    const folder = await makeFolder();
    expect(await test(join(folder.path, `${name}.js`))).toEqual({ status: 0, output: `${name} conforms\n` });
  });

  it.each([
    [
      'acts outside its questions',
      "questions: ADDRESSES, handle: () => ({ kind: 'refused' })",
      'It acts on a question that it does not state',
    ],
    [
      'changes queries outside its questions',
      'questions: ZONE, handle: (query, next) => next(query.about({ ...query.question, type: 1 }))',
      'It acts on a question that it does not state',
    ],
    ['throws', "handle() { throw new Error('oh'); }", 'It throws for'],
    [
      'blocks',
      'handle(query, next) { const before = process.cpuUsage(); while (process.cpuUsage(before).user < 150_000); return next(query); }',
      'It blocks: a call took',
    ],
    [
      'waits',
      'handle(query, next) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100); return next(query); }',
      'It blocks: a call took',
    ],
    [
      'leaks',
      'handle: (query, next) => next(query) }, start() { setInterval(() => {}, 1e6); }, rest: {',
      'It leaves something running after its end: Timeout',
    ],
    [
      'cannot start',
      "handle: (query, next) => next(query) }, start() { throw new Error('no'); }, rest: {",
      'It throws when it is made or started: no',
    ],
    [
      'leaves a timer of the host',
      'handle: (query, next) => next(query) }, start() { context.clock.after(1e6, () => {}); }, rest: {',
      'It leaves something running after its end: Timer of context.clock',
    ],
    ['gives no answer', "handle: () => 'hello'", 'has no kind'],
    [
      'answers with what is not a name',
      "handle: ({ question }) => ({ kind: 'records', records: [{ name: 'x', class: 1, ttl: 1, data: { kind: 'A', address: '192.0.2.1' } }], additionals: [], authoritative: true })",
      'has a record of x, not a whole name',
    ],
    [
      'answers by the time, and lets readers repeat it',
      "handle: () => ({ kind: 'servfail', reason: String(context.clock.now()) })",
      'it must call forbidStoring',
    ],
    [
      'answers from a date on, and lets readers repeat what it did before',
      "questions: ZONE, handle: (query, next) => (context.clock.now() < Date.UTC(2099, 0, 1) ? next(query) : { kind: 'refused' })",
      'it must call forbidStoring, also for what it passes on',
    ],
    ['answers with an unknown kind', "handle: () => ({ kind: 'refuse' })", 'does not know: refuse'],
    [
      'publishes what its handler does not answer',
      "handle: (query, next) => next(query), publishes: (publication = context.use({ name: 'publications' }).open(new Set(['a.test.']))) }, start() { publication.replace([{ name: 'a.test.', type: 1, records: [{ name: 'a.test.', class: 1, ttl: 1, data: { kind: 'A', address: '192.0.2.1' } }], authoritative: true }]); }, rest: {",
      'Its handler has another answer to a.test. of type 1 than it publishes',
    ],
    [
      'publishes a name outside its zones',
      "handle: (query, next) => next(query), publishes: (publication = context.use({ name: 'publications' }).open(new Set(['b.test.']))) }, start() { publication.replace([{ name: 'a.test.', type: 1, records: [], authoritative: true }]); }, rest: {",
      'It publishes an answer to a.test. of type 1 that is outside the zones',
    ],
    [
      'states rates that no host can apply',
      'handle: (query, next) => next(query), limits: { zones: [], requestsPerSecond: -1 }',
      'No host can ask it: limits: not a rate: -1',
    ],
    [
      'states questions that no match covers',
      'questions: { includes: () => true, matches: () => [] }, handle: (query, next) => next(query)',
      'and no match of them covers it',
    ],
    [
      'states no questions',
      'questions: undefined, handle: (query, next) => next(query)',
      'states no questions',
    ],
  ])('fails a plugin that %s', async (_, instance, fault) => {
    const folder = await makeFolder();
    const { status, output } = await test(await folder.write('faulty.js', faulty('faulty', instance)));
    expect(status).toBe(1);
    expect(output).toContain(fault);
  });

  it('fails a module that waits at its top level', async () => {
    const folder = await makeFolder();
    const path = await folder.write('awaiting.js', "await 0;\nexport { default } from './maintenance.js';\n");
    const output =
      'No server can load it: move the await at its top level into start of the plugin.\n1 fault\n';
    expect(await test(path)).toEqual({ status: 1, output });
  });

  it('fails a module without a default export', async () => {
    const folder = await makeFolder();
    const path = await folder.write('named.js', 'export const named = 1;\n');
    const output = 'It has no default export: write export default definePlugin({ … }).\n1 fault\n';
    expect(await test(path)).toEqual({ status: 1, output });
  });
});
