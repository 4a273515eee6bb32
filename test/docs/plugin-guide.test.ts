/**
 * The guide for authors of plugins: it is found, names what its contract has, and its commands do what it says.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const guide = readFileSync('packages/plugin/README.md', 'utf8');

it('is found from the title and the first paragraph of the page on plugins', () => {
  const [title = '', first = ''] = readFileSync('docs/how-to/further-plugins.md', 'utf8').split('\n\n');
  expect(title).toContain('your own');
  expect(first).toContain('[a plugin of your own](#a-plugin-of-your-own)');
});

it('names each call that says what an answer depends on, and the clock', () => {
  const contract = readFileSync('packages/plugin/index.d.ts', 'utf8');
  const calls = [...contract.matchAll(/^ {2}((?:depend|forbid)\w+)\(/gm)].map(([, name = '']) => name);
  expect(calls).toContain('forbidCaching');
  for (const name of calls) expect(guide).toContain(`query.${name}()`);
  expect(guide).toContain('`context.clock.now()`');
});

it('builds a clone by scripts that it has', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
  for (const [, name = ''] of guide.matchAll(/`npm run ([a-z-]+)`/g)) expect(scripts).toHaveProperty(name);
  expect(guide).toContain('`npm run build`');
});

const MODULE = `
import { isIP } from 'node:net';
import { type Answer, CLASS, definePlugin, namesWithin, type Query, type ResourceRecord, toKey, TYPE } from '@portolan/plugin';

export default definePlugin({
  name: 'maintenance',
  before: 'cache',
  syntax: ['maintenance ZONE'],
  examples: ['maintenance a.test'],
  read: (cursor) => cursor.whole((uses) => uses.flatMap(({ args }) => args.map(({ text }) => toKey(text)))),
  create: (zones) => ({
    handler: {
      name: 'maintenance',
      role: 'other',
      answers: 'unchanged',
      questions: namesWithin(new Set(zones), new Set([TYPE.A])),
      handle: (query, next) => (isIP('192.0.2.1') === 4 ? answer(query) : next(query)),
    },
  }),
});

function answer({ question: { name } }: Query): Answer {
  const record = { name, class: CLASS.IN, ttl: 30, data: { kind: 'A', address: '192.0.2.1' } } satisfies ResourceRecord;
  return { kind: 'records', records: [record], additionals: [], authoritative: true };
}
`;

it('checks a plugin in TypeScript', async () => {
  const folder = await makeTemporaryFolder();
  mkdirSync(join(folder.path, 'node_modules/@portolan'), { recursive: true });
  symlinkSync(resolve('packages/plugin'), join(folder.path, 'node_modules/@portolan/plugin'));
  symlinkSync(resolve('node_modules/@types'), join(folder.path, 'node_modules/@types'));
  await folder.write('package.json', '{"type": "module"}');
  const [, flags = ''] = /`npx tsc (.+) maintenance\.ts`/.exec(guide) ?? [];
  const check = async (text: string) => {
    const path = await folder.write('maintenance.ts', text);
    const tsc = resolve('node_modules/typescript/bin/tsc');
    const words = [tsc, ...flags.split(' '), path];
    return await run(process.execPath, words, { cwd: folder.path }).then(
      () => '',
      (error: { readonly stdout: string }) => error.stdout,
    );
  };
  expect(await check(MODULE)).toBe('');
  expect(await check(MODULE.replace(' satisfies ResourceRecord', ''))).toContain('is not assignable');
});
