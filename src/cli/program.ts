/**
 * The command line as a whole: which commands there are, and what ends in which exit code.
 *
 * Exit codes: 0 for what went well, 1 for what could not be done, 2 for what was asked wrongly.
 */
import { Command, CommanderError } from 'commander';
import { ExitError } from './exit.ts';
import { addManifestsCommand } from './manifests.ts';
import { addServeCommand } from './serve.ts';
import { addVersionCommand, VERSION } from './version.ts';

/** @returns the exit code, once the command has ended. */
export async function run(args: readonly string[]): Promise<number> {
  const [name = '', ...words] = args;
  const replacement = REPLACEMENTS[name];
  if (replacement !== undefined) return (await replacement.load())(words);
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

type RunWords = (words: readonly string[]) => Promise<number>;

/** Commands in place of other programs: they read their words, and end with exit codes, as those do. */
const REPLACEMENTS: Readonly<
  Record<string, { readonly means: string; readonly load: () => Promise<RunWords> }>
> = {
  dnsmasq: {
    means: "resolve names with dnsmasq's options",
    load: async () => (await import('./dnsmasq.ts')).runDnsmasq,
  },
  'dnsmasq-nanny': {
    means: 'the same, following the ConfigMap of kube-dns in a folder',
    load: async () => (await import('./dnsmasq-nanny.ts')).runDnsmasqNanny,
  },
};

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
