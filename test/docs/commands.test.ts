/**
 * The shell blocks of the documentation: valid shell, with commands and flags that exist. Those that are not run say why.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { COMMANDS } from '@portolan/cli/command-table.ts';
import { describeCommands, listShownFlags } from '@portolan/cli/tools/described-command.ts';
import { allOptions } from '@portolan/frontends/dnsmasq/settings/option-table.ts';
import { describe, expect, it } from 'vitest';
import { listPages, readCommands, readShellBlocks } from './shell-blocks.ts';

const PAGES = listPages();
/** Programs that change a cluster or an image, or that no test has. */
const OF_CLUSTERS = /(?:^|[\s|(])(?:kubectl|helm|docker|kind|k3d|podman|skopeo|ctr|cosign|minisign|npm) /m;

const commands = await describeCommands(COMMANDS);
const flagsByCommand = new Map<string, ReadonlySet<string>>(
  commands.map((command) => [
    command.name,
    new Set([...listShownFlags(command), ...(command.further?.flags ?? [])].map(({ name }) => name)),
  ]),
);
const optionsOfDnsmasq = new Set(
  allOptions.flatMap(({ name, aliases = [], short }) => [name, ...aliases, ...(short ?? '')]),
);
const isKnown = (name: string): boolean => flagsByCommand.has(name);

/** What is wrong with the commands of this program in a text. */
function findUnknown(text: string): readonly string[] {
  return readCommands(text, isKnown).flatMap(({ name, flags }) => {
    // `systemd` takes the flags of the command in its unit.
    const owner = name === 'systemd' ? 'serve' : name;
    const known = name.startsWith('dnsmasq') ? optionsOfDnsmasq : flagsByCommand.get(owner);
    if (known === undefined) return [`portolan ${name}`];
    return flags
      .map((flag) => flag.replace(/^--?/, ''))
      .filter((flag) => !known.has(flag) && !flagsByCommand.get(name)?.has(flag) && !/^h(elp)?$/.test(flag))
      .map((flag) => `portolan ${name} --${flag}`);
  });
}

describe('the shell blocks of the documentation', () => {
  const blocks = PAGES.flatMap(readShellBlocks);

  it('are valid shell', () => {
    expect(blocks.length).toBeGreaterThan(60);
    for (const { page, line, text } of blocks)
      expect(
        () => execFileSync('bash', ['-n'], { input: text, stdio: 'pipe' }),
        `${page}:${line}`,
      ).not.toThrow();
  });

  it('name commands and flags that exist', () => {
    expect(findUnknown('portolan serve --example --exmaple=1 | portolan sevre')).toEqual([
      'portolan serve --exmaple',
      'portolan sevre',
    ]);
    const unknown = blocks.flatMap(({ page, line, text }) =>
      findUnknown(text).map((each) => `${page}:${line}: ${each}`),
    );
    expect(unknown).toEqual([]);
  });

  it('name them in the examples of help, too', () => {
    const examples = COMMANDS.map(({ name, examples: lines = [] }) => [name, lines] as const);
    expect(examples.filter(([name, lines]) => lines.length === 0 && name !== 'version')).toEqual([]);
    expect(examples.flatMap(([, lines]) => findUnknown(lines.join('\n')))).toEqual([]);
    for (const [name, lines] of examples)
      for (const line of lines) expect(line).toMatch(new RegExp(`\\bportolan ${name}\\b`));
  });

  it('say why they are not run, if they need a cluster or a network', () => {
    const unmarked = blocks
      .filter(({ text, excuse }) => excuse === undefined && OF_CLUSTERS.test(text))
      .map(({ page, line }) => `${page}:${line}`);
    expect(unmarked).toEqual([]);
  });

  it('name tests and scripts that exist, where those run them', () => {
    const named = blocks.flatMap(({ page, line, excuse = '' }) =>
      [...excuse.matchAll(/(?:test|\.ci)\/[\w./-]*\w/g)].map(([file]) => ({
        file,
        place: `${page}:${line}`,
      })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ file }) => !existsSync(file))).toEqual([]);
  });
});

it('commands in the sentences of the documentation exist, with their flags', () => {
  const unknown = PAGES.filter((page) => !page.startsWith('docs/adr/')).flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/`(portolan [a-z][^`\n]*)`/g)].flatMap(([, text = '']) =>
      findUnknown(text).map((each) => `${page}: ${each}`),
    ),
  );
  expect(unknown).toEqual([]);
});
