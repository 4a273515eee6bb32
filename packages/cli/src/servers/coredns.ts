/**
 * `portolan coredns`: CoreDNS's command line, with CoreDNS's start-up lines and exit codes.
 */
import { type CoreDnsCommand, readCoreDnsFlags } from '@portolan/frontends/coredns/settings/coredns-flags.ts';
import { listPlugins } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { findDefaultDrain } from '@portolan/server/plan/drain.ts';
import { NO_COMPANIONS } from '../process/server-companions.ts';
import { corednsBanner } from './coredns-manner.ts';
import { serveCorefile } from './serve-corefile.ts';

/** @param words the arguments after the command @returns the exit code */
export async function runCoreDns(words: readonly string[]): Promise<number> {
  const command = readCoreDnsFlags(words);
  switch (command.kind) {
    case 'end':
      process.stderr.write(command.text);
      return command.exitCode;
    case 'version':
    case 'plugins':
      return printAbout(command.kind);
    case 'run':
      return await serve(command);
  }
}

/** Prints information about the program. @returns the exit code */
export function printAbout(subject: 'version' | 'plugins'): number {
  process.stdout.write(subject === 'version' ? corednsBanner() : listPlugins());
  return 0;
}

async function serve(flags: Extract<CoreDnsCommand, { kind: 'run' }>): Promise<number> {
  const { autoscaler, events, dashboard } = flags;
  return await serveCorefile(flags, {
    role: 'coredns',
    adapt: (blocks) => blocks,
    takeover: false,
    drain: findDefaultDrain(process.env),
    companionPlans: { ...NO_COMPANIONS, autoscaler, events, dashboard },
  });
}
