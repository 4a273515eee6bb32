/**
 * Commands that print a description of the program: `completion`, `man`, `systemd` and `version`.
 */
import type { RunCommand } from '../grammar/command.ts';
import { ExitError } from '../grammar/exit.ts';
import { createParser, runParser } from '../grammar/parser.ts';
import { VERSION } from '../process/version.ts';

export const runCompletion: RunCommand = async (words, command, commands) => {
  const parser = createParser(command)
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (text: string) => {
      const { completionScript, SHELLS } = await import('./completion.ts');
      const { describeCommands } = await import('./described-command.ts');
      const shell = chosen('shell', text, SHELLS);
      process.stdout.write(completionScript(shell, await describeCommands(commands)));
    });
  return await runParser(parser, words);
};

export const runMan: RunCommand = async (words, command, commands) => {
  const parser = createParser(command).action(async () => {
    const { manPage } = await import('./man-page.ts');
    const { describeCommands } = await import('./described-command.ts');
    process.stdout.write(manPage(VERSION, await describeCommands(commands)));
  });
  return await runParser(parser, words);
};

export const runSystemd: RunCommand = async (words, command, commands) => {
  const parser = createParser(command)
    .argument('<command>', 'serve or dnsmasq')
    .argument('[flags...]', 'flags of the command')
    .allowUnknownOption()
    // Leave arguments after the command to the command.
    .passThroughOptions()
    .action(async (text: string, flags: readonly string[]) => {
      const { systemdUnit, UNIT_COMMANDS } = await import('./systemd-unit.ts');
      const run = chosen('command', text, UNIT_COMMANDS);
      const { checkFlags } = await import('./check-flags.ts');
      checkFlags(run, flags);
      const [, entry = ''] = process.argv;
      const summary = commands.find(({ name }) => name === run)?.summary ?? '';
      process.stdout.write(systemdUnit({ command: run, summary }, [process.execPath, entry], flags));
    });
  return await runParser(parser, words);
};

export const runVersion: RunCommand = async (words, command) => {
  const parser = createParser(command).action(() => {
    const { version, platform, arch } = process;
    process.stdout.write(`portolan ${VERSION} (Node ${version}, ${platform} ${arch})\n`);
  });
  return await runParser(parser, words);
};

/** @throws ExitError for an unknown choice */
function chosen<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const remedy = `Give ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`;
  process.stderr.write(`portolan: unknown ${what}: ${JSON.stringify(text)}. ${remedy}\n`);
  throw new ExitError(2);
}
