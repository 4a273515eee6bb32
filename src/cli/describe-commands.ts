/**
 * Commands that print a description of the program for other programs: `completion`, `man` and `systemd`.
 */
import type { Command } from 'commander';
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { ExitError } from './exit.ts';
import { VERSION } from './version.ts';

/** The tables of all commands are loaded only where they are printed. */
export function addDescriptionCommands(program: Command): void {
  program
    .command('completion')
    .description(COMMAND_SUMMARIES.completion)
    .argument('<shell>', 'bash, zsh or fish')
    .helpOption('-h, --help', 'print this help')
    .action(async (text: string) => {
      const { completionScript, SHELLS } = await import('./completion.ts');
      process.stdout.write(completionScript(chosen('shell', text, SHELLS)));
    });
  program
    .command('man')
    .description(COMMAND_SUMMARIES.man)
    .helpOption('-h, --help', 'print this help')
    .action(async () => {
      const { manPage } = await import('./man-page.ts');
      process.stdout.write(manPage(VERSION));
    });
  addSystemdCommand(program);
}

function addSystemdCommand(program: Command): void {
  program
    .command('systemd')
    .description(COMMAND_SUMMARIES.systemd)
    .argument('<command>', 'serve or dnsmasq')
    .argument('[flags...]', 'flags of the command')
    .helpOption('-h, --help', 'print this help')
    .allowUnknownOption()
    // What follows the command belongs to it.
    .passThroughOptions()
    .action(async (text: string, flags: readonly string[]) => {
      const { systemdUnit, UNIT_COMMANDS } = await import('./systemd-unit.ts');
      const command = chosen('command', text, UNIT_COMMANDS);
      const { checkFlags } = await import('./check-flags.ts');
      checkFlags(command, flags);
      const [, entry = ''] = process.argv;
      process.stdout.write(systemdUnit(command, [process.execPath, entry], flags));
    });
}

/** @throws ExitError for another word */
function chosen<Choice extends string>(what: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  const remedy = `Give ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`;
  process.stderr.write(`portolan: unknown ${what}: ${JSON.stringify(text)}. ${remedy}\n`);
  throw new ExitError(2);
}
