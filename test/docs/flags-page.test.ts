/**
 * `docs/reference/flags.md` has the flags of all commands from their tables. The text between the marks
 * `<!-- flags: COMMAND[, GROUP][; like COMMANDS] -->` and `<!-- end of flags -->` is generated from the tables by `npm run docs`. A flag that
 * is the same in one of the other commands is only named, and described there.
 */
import { readFileSync } from 'node:fs';
import { COMMANDS } from '@portolan/cli/command-table.ts';
import {
  type DescribedCommand,
  describeCommands,
  listOwnFlags,
} from '@portolan/cli/tools/described-command.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { formatFlagItem } from '@portolan/server/settings/flags/flag-text.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/flags.md';
const BLOCK =
  /<!-- flags: ([^,;>]+?)(?:, ([^;>]+?))?(?:; like ([^>]+?))? -->\n[\s\S]*?<!-- end of flags -->/g;

const page = readFileSync(PAGE, 'utf8');
const commands = await describeCommands(COMMANDS);

interface Block {
  readonly command: DescribedCommand;
  readonly group: string | undefined;
  readonly like: readonly string[];
}

const blocks = [...page.matchAll(BLOCK)].map(([, name = '', group, like]): Block => {
  const command = commands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no such command: ${name}`);
  return { command, group, like: like?.split(', ') ?? [] };
});

function listFlags({ command, group }: Block): readonly Flag[] {
  const found = listOwnFlags(command).filter((flag) => group === undefined || flag.group === group);
  if (found.length === 0) throw new Error(`no such group of flags: ${group}`);
  return found;
}

/** The items of a command, by the names of the flags. */
function listItems(name: string): ReadonlyMap<string, string> {
  const own = blocks.filter(({ command }) => command.name === name);
  return new Map(
    own.flatMap((block) => splitFlags(block).described.map((flag) => [flag.name, formatFlagItem(flag)])),
  );
}

/** The flags that a block describes, and those that it names as flags of other commands. */
function splitFlags(block: Block) {
  const named = new Map<string, Flag[]>();
  const described = listFlags(block).filter((flag) => {
    const other = block.like.find((name) => listItems(name).get(flag.name) === formatFlagItem(flag));
    if (other !== undefined) named.set(other, [...(named.get(other) ?? []), flag]);
    return other === undefined;
  });
  return { described, named };
}

/** Where the flags of a command are described. */
function formatPlace(name: string): string {
  return name === 'serve' ? '[`serve`](#flags)' : `[\`${name}\`](#flags-of-portolan-${name})`;
}

function formatBlock(block: Block): string {
  const { described, named } = splitFlags(block);
  const { dashes } = block.command;
  const references = [...named].map(([name, flags]) => {
    const forms = flags.map((flag) => `\`${dashes}${flag.name}\``);
    return `- ${forms.join(', ')}: as in ${formatPlace(name)}.`;
  });
  return [...described.map((flag) => formatFlagItem(flag, dashes)), ...references].join('\n');
}

it('lists the flags of all commands', async () => {
  const rest = blocks.values();
  const written = page.replaceAll(BLOCK, (block) => {
    const { value } = rest.next();
    const [mark] = block.split('\n', 1);
    return `${mark}\n\n${value === undefined ? '' : formatBlock(value)}\n\n<!-- end of flags -->`;
  });
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});

it('shows each flag of each command once', () => {
  const shown = blocks.flatMap((block) =>
    listFlags(block).map(({ name }) => `${block.command.name} ${name}`),
  );
  const all = commands
    .filter(({ name }) => name !== 'dnsmasq')
    .flatMap((command) => listOwnFlags(command).map((flag) => `${command.name} ${flag.name}`));
  expect(shown.toSorted()).toEqual(all.toSorted());
});

it('describes a flag of several commands once', () => {
  const texts = blocks.flatMap((block) => splitFlags(block).described.map((flag) => formatFlagItem(flag)));
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
});
