/**
 * Formats `--help` of commands that replace another program.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { formatFlagRow, formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { helpRow, SHOWN_KLOG_FLAGS } from '@portolan/server/settings/flags/klog-flags.ts';
import type { CommandRow } from './command.ts';

/** A note for commands that replace Go programs. */
export const EITHER_DASHES = 'Flags may be written with one dash or two.';

interface HelpParts {
  /** Replaces the usage line `NAME [flags]`. */
  readonly usage?: string;
  /** The purpose of the command. */
  readonly about: string;
  /** Text after the flags. */
  readonly notes?: string;
}

export function helpText(
  { name, dashes, takesKlog, examples }: CommandRow,
  flags: readonly Flag[],
  { usage = `${name} [flags]`, about, notes }: HelpParts,
): string {
  const shown = [...flags, ...(takesKlog === true ? SHOWN_KLOG_FLAGS : [])];
  const rows = [...shown.map((flag) => formatFlagRow(flag, dashes)), helpRow(dashes)];
  const noted = notes === undefined ? '' : `\n${notes}\n`;
  return `Usage: portolan ${usage}\n\n${about}\n\n${formatRows(rows)}${noted}${formatExamples(examples)}`;
}

/** The last part of a help. */
export function formatExamples(examples: readonly string[] = []): string {
  const lines = examples.map((example) => `  ${example}\n`);
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('')}`;
}
