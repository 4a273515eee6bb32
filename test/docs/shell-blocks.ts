/**
 * The shell blocks of the documentation. A block of `sh` runs in a test, unless a comment before it says why it cannot:
 *
 *     <!-- not run: it needs a cluster -->
 *
 * A block of `console` behind it is what it prints, on both of its streams.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ShellBlock {
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly text: string;
  /** Why it is not run; undefined: it is. */
  readonly excuse: string | undefined;
  /** What it prints; undefined: the page does not show it. */
  readonly output: string | undefined;
}

/** The pages for users, with those beside the source. */
export function listPages(): readonly string[] {
  const folders = ['docs', 'deploy', 'examples', 'packages'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  return [
    'README.md',
    'CONTRIBUTING.md',
    ...folders.filter((file) => file.endsWith('.md') && !file.includes('node_modules')),
  ];
}

const BLOCK =
  /(?:^ *<!-- not run: ([^\n]+) -->\n\n?)?^( *)```sh\n([\s\S]*?)^ *```$(?:\n+ *```console\n([\s\S]*?)^ *```$)?/gm;

export function readShellBlocks(page: string): readonly ShellBlock[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(BLOCK)].map(([whole, excuse, indent = '', lines = '', output], index, all) => ({
    page,
    line: text.slice(0, (all[index]?.index ?? 0) + whole.indexOf('```sh')).split('\n').length,
    text: withoutIndent(lines, indent),
    excuse,
    output: output === undefined ? undefined : withoutIndent(output, indent),
  }));
}

function withoutIndent(lines: string, indent: string): string {
  return lines.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

/** A command of this program in a block: `portolan serve --example`, also behind `kubectl exec … --`. */
export interface WrittenCommand {
  readonly name: string;
  /** Flags as written, without their values. */
  readonly flags: readonly string[];
}

const COMMAND = /(?:^|[|;(]|&&|\s--)\s*(?:sudo )?(kubectl )?portolan ([a-z][\w-]*)([^|;#\n)]*)/gm;

/** The commands in shell text; those of the plugin of kubectl only if they are commands of the program too. */
export function readCommands(text: string, isKnown: (name: string) => boolean): readonly WrittenCommand[] {
  const joined = text.replaceAll(/\\\n\s*/g, '');
  return [...joined.matchAll(COMMAND)].flatMap(([, plugin, name = '', words = '']) =>
    plugin !== undefined && !isKnown(name)
      ? []
      : [{ name, flags: [...words.matchAll(/(?:^|\s)(--?[A-Za-z][\w-]*)/g)].map(([, flag = '']) => flag) }],
  );
}
