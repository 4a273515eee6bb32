/**
 * Makes a plan from some lines of a configuration file, for tests.
 */
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { DnsmasqPlan } from '../dnsmasq-plan.ts';
import { type DnsmasqReading, readDnsmasqOptions } from '../read-configuration.ts';
import { type MemoryFiles, memorySources } from './memory-sources.ts';

export function readLines(lines: string, files: MemoryFiles = {}): DnsmasqReading {
  return readDnsmasqOptions(['--conf-file=-'], memorySources({ ...files, standardInput: lines }));
}

export function requireGood(reading: DnsmasqReading): Extract<DnsmasqReading, { kind: 'good' }> {
  if (reading.kind === 'good') return reading;
  throw new Error(reading.kind === 'bad' ? reading.problems.map(describeProblem).join('\n') : reading.kind);
}

/** @param lines one option per line, as in a file */
export function readPlan(lines: string, files: MemoryFiles = {}): DnsmasqPlan {
  return requireGood(readLines(lines, files)).plan;
}

export function readNotes(lines: string): readonly string[] {
  return requireGood(readLines(lines)).notes.map(({ text }) => text);
}

export function readProblems(lines: string): readonly string[] {
  const reading = readLines(lines);
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}
