/**
 * Commands that print a description of the program: `completion`, `man`, `systemd` and `version`.
 */
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { ExitError } from '../grammar/exit.ts';
import { VERSION } from '../process/version.ts';

export const runCompletion: RunCommand = async (words, command, commands) => {
  const operands = [{ form: '<shell>', help: 'bash, zsh or fish' }];
  return await runCommandLine(words, { ...command, operands }, async (_flags, [text = '']) => {
    const { completionScript, SHELLS } = await import('./completion.ts');
    const { describeCommands } = await import('./described-command.ts');
    const shell = chosen('shell', text, SHELLS);
    process.stdout.write(completionScript(shell, await describeCommands(commands)));
  });
};

export const runMan: RunCommand = async (words, command, commands) =>
  await runCommandLine(words, command, async () => {
    const { manPage } = await import('./man-page.ts');
    const { describeCommands } = await import('./described-command.ts');
    process.stdout.write(manPage(VERSION, await describeCommands(commands)));
  });

export const runSystemd: RunCommand = async (words, command, commands) => {
  const operands = [
    { form: '<command>', help: 'serve or dnsmasq' },
    { form: '[flags...]', help: 'flags of the command' },
  ];
  const form = { ...command, operands, passesFlagsOn: true } as const;
  return await runCommandLine(words, form, async (_flags, [text = '', ...flags]) => {
    const { systemdUnit, UNIT_COMMANDS } = await import('./systemd-unit.ts');
    const run = chosen('command', text, UNIT_COMMANDS);
    const { checkFlags } = await import('./check-flags.ts');
    checkFlags(run, flags);
    const [, entry = ''] = process.argv;
    const summary = commands.find(({ name }) => name === run)?.summary ?? '';
    process.stdout.write(systemdUnit({ command: run, summary }, [process.execPath, entry], flags));
  });
};

export const runVersion: RunCommand = async (words, command) =>
  await runCommandLine(words, command, () => {
    const { version, platform, arch } = process;
    process.stdout.write(`portolan ${VERSION} (Node ${version}, ${platform} ${arch})\n`);
  });

/** @throws ExitError for an unknown choice */
function chosen<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const remedy = `Give ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`;
  process.stderr.write(`portolan: unknown ${what}: ${JSON.stringify(text)}. ${remedy}\n`);
  throw new ExitError(2);
}
