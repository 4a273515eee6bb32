/**
 * Expands environment variables in the words of a Corefile: `{$NAME}` and `{%NAME%}`.
 *
 * An unset variable is empty. A value is not split into words, and references in it are expanded in turn.
 */
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';

export interface Expansion {
  readonly text: string;
  /** Referenced variables that are not set. */
  readonly unset: readonly string[];
}

const FORMS = [
  { open: '{%', close: '%}' },
  { open: '{$', close: '}' },
] as const;

/** The maximum of replacements in one word: values may refer to other variables and to themselves. */
const MAX_REPLACEMENTS = 1000;
const MAX_LENGTH = 1_000_000;

export function expandVariables(word: string, environment: Environment): Expansion {
  if (!word.includes('{$') && !word.includes('{%')) return { text: word, unset: [] };
  const unset: string[] = [];
  const text = FORMS.reduce((before, form) => expandForm(before, form, environment, unset), word);
  return { text, unset };
}

function expandForm(
  word: string,
  { open, close }: (typeof FORMS)[number],
  environment: Environment,
  unset: string[],
): string {
  let text = word;
  for (let count = 0; count < MAX_REPLACEMENTS && text.length < MAX_LENGTH; count += 1) {
    const start = text.indexOf(open);
    const end = start < 0 ? -1 : text.indexOf(close, start);
    // An empty reference ends the expansion: it and the rest of the word stay as they are.
    if (end <= start + open.length) return text;
    const name = text.slice(start + open.length, end);
    const value = readVariable(environment, name);
    if (value === undefined) unset.push(name);
    text = text.split(text.slice(start, end + close.length)).join(value ?? '');
  }
  return text;
}
