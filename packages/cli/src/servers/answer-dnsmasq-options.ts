/**
 * Answers options of dnsmasq that start no server: help, the version, a test of the configuration, and wrong ones.
 */
import { EXIT, SYNTAX_OK } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import type { Note } from '@portolan/frontends/dnsmasq/settings/findings.ts';
import { helpText } from '@portolan/frontends/dnsmasq/settings/help-text.ts';
import type { DnsmasqReading } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { listProblems, printVersion } from '../process/print-problems.ts';

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
