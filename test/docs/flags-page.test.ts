/**
 * `docs/reference/flags.md` has the flags of all commands from their tables. The text between the marks
 * `<!-- flags: COMMAND[, GROUP] -->` and `<!-- end of flags -->` is generated from the tables by `npm run docs`.
 */
import { readFileSync } from 'node:fs';
import { COMMANDS } from '@portolan/cli/command-table.ts';
import {
  type DescribedCommand,
  describeCommands,
  listOwnFlags,
} from '@portolan/cli/tools/described-command.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { markdownTable } from '@portolan/server/settings/flags/flag-text.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/flags.md';
const BLOCK = /<!-- flags: ([^,>]+?)(?:, ([^>]+?))? -->\n[\s\S]*?<!-- end of flags -->/g;

const commands = await describeCommands(COMMANDS);

function commandNamed(name: string): DescribedCommand {
  const command = commands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no such command: ${name}`);
  return command;
}

function listFlags(command: DescribedCommand, group: string | undefined): readonly Flag[] {
  const found = listOwnFlags(command).filter((flag) => group === undefined || flag.group === group);
  if (found.length === 0) throw new Error(`no such group of flags: ${group}`);
  return found;
}

it('holds the tables of all commands', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const written = page.replaceAll(BLOCK, (_block, name: string, group: string | undefined) => {
    const command = commandNamed(name);
    const table = markdownTable(listFlags(command, group), command.dashes);
    return `<!-- flags: ${name}${group === undefined ? '' : `, ${group}`} -->\n\n${table}\n<!-- end of flags -->`;
  });
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});

it('shows each flag of each command once', () => {
  const page = readFileSync(PAGE, 'utf8');
  const shown = [...page.matchAll(BLOCK)].flatMap(([, name = '', group]) => {
    const command = commandNamed(name);
    return listFlags(command, group).map((flag) => `${name} ${flag.name}`);
  });
  const all = commands
    .filter(({ name }) => name !== 'dnsmasq')
    .flatMap((command) => listOwnFlags(command).map((flag) => `${command.name} ${flag.name}`));
  expect(shown.toSorted()).toEqual(all.toSorted());
});
