/**
 * Commands whose arguments commander parses: flags, help, exit codes.
 */
import { Command, CommanderError } from 'commander';
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { addControlCommand } from './control.ts';
import { addCorefileCommand } from './corefile.ts';
import { addDescriptionCommands } from './describe-commands.ts';
import { ExitError } from './exit.ts';
import { addManifestsCommand } from './manifests.ts';
import { REPLACEMENTS } from './replacements.ts';
import { addServeCommand } from './serve.ts';
import { addVersionCommand, VERSION } from './version.ts';

/** @returns the exit code, once the command has ended. */
export async function runCommand(args: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ExitError) return error.code;
    // Help and version are thrown as mistakes are; commander has printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function createProgram(): Command {
  const program = new Command('portolan')
    .description('The DNS server of a Kubernetes cluster.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride();
  addServeCommand(program);
  const summaries: Readonly<Record<string, string>> = COMMAND_SUMMARIES;
  // Listed by --help; they parse their own arguments.
  for (const name of Object.keys(REPLACEMENTS)) program.command(name).description(summaries[name] ?? '');
  addManifestsCommand(program);
  addCorefileCommand(program);
  addControlCommand(program);
  addDescriptionCommands(program);
  addVersionCommand(program);
  return program;
}
