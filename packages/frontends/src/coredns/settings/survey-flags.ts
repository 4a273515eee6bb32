/**
 * The flags of `portolan corefile survey`.
 */
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';
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

export type SurveyFlags = FlagsOf<typeof SURVEY_FLAGS>;

/** @returns undefined for an unknown form */
export function readOutput({ output = 'text' }: SurveyFlags): (typeof OUTPUTS)[number] | undefined {
  return OUTPUTS.find((each) => each === output);
}
