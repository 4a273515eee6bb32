// `npm run new-plugin NAME`: makes the folder of a plugin that a Corefile may name, and its line in the list.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [name = '', root = fileURLToPath(new URL('..', import.meta.url))] = process.argv.slice(2);
const plugins = join(root, 'packages/plugins/src');
const list = join(root, 'packages/frontends/src/plugins/plugins.ts');
const folder = join(plugins, name);

function fail(message) {
  console.error(`new-plugin: ${message}`);
  process.exit(2);
}

if (!/^[a-z][a-z0-9_]*$/.test(name))
  fail(`not a name of a plugin: ${name}. Use lower case letters, digits and _.`);
if (existsSync(folder)) fail(`a plugin of this name exists: ${folder}. Take another name.`);

const handler = `create${name
  .split('_')
  .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  .join('')}Handler`;
const definition = `/**
 * \`${name}\`: TODO what it does.
 */
import { definePlugin, type Handler, NO_QUESTIONS, readBareUse } from '@portolan/plugin';

export const ${name} = definePlugin({
  name: '${name}',
  // The plugin that sees queries next.
  before: 'forward',
  syntax: ['${name}'],
  // The conformance kit runs them.
  examples: ['${name}'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: ${handler}() }),
});

export function ${handler}(): Handler {
  return {
    name: '${name}',
    role: 'other',
    // The questions that it may answer, change or refuse: readers leave only those to it.
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    handle: (query, next) => next(query),
  };
}
`;
const test = `import { expect, it } from 'vitest';
import { ${handler} } from './plugin.ts';

it('passes queries on', () => {
  expect(${handler}().questions.includes('www.example.' as never, 1)).toBe(false);
});
`;
const readme = `# ${name}

TODO what it does, in one sentence.

    ${name}

Stated questions: none.
`;

mkdirSync(folder);
writeFileSync(join(folder, 'plugin.ts'), definition);
writeFileSync(join(folder, `${name}.test.ts`), test);
writeFileSync(join(folder, 'README.md'), readme);
const listed = readFileSync(list, 'utf8').split('\n');
const own = `export { ${name} } from '@portolan/plugins/${name}/plugin.ts';`;
const findPath = (line) => /'(@portolan\/plugins\/.*)'/.exec(line)?.[1] ?? '';
const before = listed.findLastIndex((line) => findPath(line) !== '' && findPath(line) < findPath(own));
writeFileSync(list, listed.toSpliced(before + 1, 0, own).join('\n'));
console.log(
  `Made packages/plugins/src/${name}/. Next: write plugin.ts by packages/plugin/README.md, then npm run docs.`,
);
