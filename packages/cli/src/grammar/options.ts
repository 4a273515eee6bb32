/**
 * Makes the options of the command line parser from a table of flags.
 */
import { type Flag, formatFlag } from '@portolan/server/settings/flags/flag.ts';
import { formatFlagRow } from '@portolan/server/settings/flags/flag-text.ts';
import { type Command, Option } from 'commander';

/** The parser's syntax for a flag with an optional value. */
function parserForm(flag: Flag): string {
  const isOptional = flag.value !== 'none' && flag.impliedValue !== undefined;
  return isOptional ? `--${flag.name} [${flag.valueName}]` : formatFlag(flag);
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

export function addOptions(command: Command, flags: readonly Flag[]): void {
  command.helpOption('-h, --help', 'print this help');
  for (const flag of flags) {
    const [, description] = formatFlagRow(flag);
    const option = new Option(parserForm(flag), description);
    if (flag.value !== 'none' && flag.impliedValue !== undefined) option.preset(flag.impliedValue);
    if (flag.group !== undefined) option.helpGroup(`${flag.group}:`);
    if (flag.value !== 'none' && flag.repeats === true) option.argParser(collect);
    command.addOption(option);
  }
}
