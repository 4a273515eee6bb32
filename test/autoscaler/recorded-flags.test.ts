/**
 * The flags that the original was recorded with: which of them it runs with, and its exit code for the rest.
 */
import {
  type AutoscalerReading,
  readAutoscalerFlags,
} from '@portolan/server/settings/autoscaler/autoscaler-flags.ts';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface RecordedFlags {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly exit: number | 'runs';
}

/** Where Portolan differs: the original hangs or fails at each poll, or refuses flags that Portolan accepts. */
const DIFFERENCES: Readonly<Record<string, number | 'runs'>> = {
  statefulset: 'runs',
  plural: 'runs',
  'empty-name': 1,
  // Unrelated to flags: the original exits because it finds no cluster.
  'outside-cluster': 'runs',
};

function findExit(reading: AutoscalerReading): number | 'runs' {
  if (reading.kind === 'bad') return reading.exitCode;
  return reading.kind === 'good' ? 'runs' : 0;
}

describe('the flags that were recorded', () => {
  const recorded = readRecording<RecordedFlags>('test/autoscaler/flags.jsonl');

  test.each(recorded)('$name', ({ name, args, env, exit }) => {
    expect(findExit(readAutoscalerFlags(args, env ?? {}))).toBe(DIFFERENCES[name] ?? exit);
  });
});
