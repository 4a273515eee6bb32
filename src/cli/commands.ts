/**
 * Commands of our own: their flags, their help, and what ends in which exit code.
 */
import { Command, CommanderError } from 'commander';
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
    // Help and version leave through the same door as mistakes; commander has printed what there is to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function createProgram(): Command {
  const program = new Command('portolan')
    .description('The DNS server of a Kubernetes cluster.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'print this')
    .exitOverride();
  addServeCommand(program);
  for (const [name, { means }] of Object.entries(REPLACEMENTS)) program.command(name).description(means);
  addManifestsCommand(program);
  addVersionCommand(program);
  return program;
}
