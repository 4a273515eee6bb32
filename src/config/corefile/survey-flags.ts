/**
 * The flags of `portolan corefile survey`.
 */
import type { Flag } from '../flags/flag.ts';
import { PLUGIN_FLAG } from './compat-flags.ts';

const OUTPUTS = ['text', 'json'] as const;

export const SURVEY_FLAGS = [
  {
    name: 'output',
    valueName: 'form',
    value: { kind: 'choice', choices: OUTPUTS },
    default: 'text',
    help: 'form of the result',
  },
  PLUGIN_FLAG,
] as const satisfies readonly Flag[];

/** The flags as given on the command line. */
export interface SurveyFlags {
  readonly output?: string;
  readonly plugin?: readonly string[];
}

/** @returns undefined for an unknown form */
export function readOutput({ output = 'text' }: SurveyFlags): (typeof OUTPUTS)[number] | undefined {
  return OUTPUTS.find((each) => each === output);
}
