/**
 * `portolan dnsmasq`: dnsmasq's command line, with dnsmasq's exit codes.
 */
import type { DnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/dnsmasq-plan.ts';
import { EXIT, SYNTAX_OK } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import type { Note } from '@portolan/frontends/dnsmasq/settings/findings.ts';
import { helpText } from '@portolan/frontends/dnsmasq/settings/help-text.ts';
import {
  type DnsmasqReading,
  readDnsmasqOptions,
} from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { listProblems, printVersion } from '../process/print-problems.ts';
import { releaseParent, startDetached, takeDetachedMark } from './detach.ts';
import { createProcessSources } from './dnsmasq-sources.ts';
import { runDnsmasqServer } from './run-dnsmasq.ts';

/** @param words the arguments after the command @returns the exit code */
export async function runDnsmasq(words: readonly string[]): Promise<number> {
  const isDetached = takeDetachedMark();
  const sources = createProcessSources();
  const reading = readDnsmasqOptions(words, sources);
  const code = answerWithoutServing('dnsmasq', reading);
  if (code !== undefined || reading.kind !== 'good') return code ?? EXIT.OTHER;
  const { plan, notes } = reading;
  if (plan.process.mode !== 'background') return await runDnsmasqServer({ command: 'dnsmasq', plan, notes });
  if (isDetached)
    return await runDnsmasqServer({
      command: 'dnsmasq',
      plan,
      notes,
      accompany: () => ({ serve: releaseParent }),
    });
  return await startDetached({
    words: ['dnsmasq', ...words],
    standardInput: sources.standardInput,
    keepsStandardError: keepsStandardError(plan),
  });
}

function keepsStandardError({ log }: DnsmasqPlan): boolean {
  return log.to.kind === 'standard-error';
}

/**
 * @param command the command's name, for messages
 * @returns the exit code; undefined if the server is to run
 */
export function answerWithoutServing(command: string, reading: DnsmasqReading): number | undefined {
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return EXIT.GOOD;
    case 'version':
      printVersion('dnsmasq 2.90');
      return EXIT.GOOD;
    case 'bad':
      listProblems(command, 'options', reading.problems);
      return reading.exitCode;
    case 'good':
      if (!reading.test) return undefined;
      reportNotes(reading.notes);
      process.stderr.write(`${SYNTAX_OK}\n`);
      return EXIT.GOOD;
  }
}

function reportNotes(notes: readonly Note[]): void {
  for (const { where, text } of notes) process.stderr.write(`${where}: ${text}\n`);
}
