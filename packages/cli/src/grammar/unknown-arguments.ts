/**
 * Describes arguments that are not flags of a command.
 */
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';

/** @param command the command's name, for the remedy */
export function describeUnknownArguments(
  args: readonly string[],
  flags: readonly Flag[],
  command: string,
): readonly Problem[] {
  const problems: Problem[] = [];
  let afterFlag = false;
  for (const arg of args) {
    const isFlag = arg.startsWith('-') && arg !== '-';
    if (isFlag) problems.push(describeUnknownFlag(arg, flags, command));
    // An argument after an unknown flag is most likely its value.
    else if (!afterFlag)
      problems.push({
        where: arg,
        fault: 'unexpected argument',
        value: undefined,
        remedy: 'Give flags only.',
      });
    afterFlag = isFlag && !arg.includes('=');
  }
  return problems;
}

function describeUnknownFlag(arg: string, flags: readonly Flag[], command: string): Problem {
  const where = arg.split('=')[0] ?? arg;
  const word = where.replace(/^-+/, '');
  if (arg !== where && flags.some(({ name, value }) => name === word && value === 'none'))
    return {
      where,
      fault: 'takes no value',
      value: arg.slice(where.length + 1),
      remedy: `Give ${where} alone.`,
    };
  const nearest = findNearest(
    word,
    flags.map(({ name }) => name),
  );
  const remedy =
    nearest === undefined ? `See 'portolan ${command} --help' for all flags.` : `Did you mean --${nearest}?`;
  return { where, fault: 'unknown flag', value: undefined, remedy };
}
