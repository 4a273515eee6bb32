/**
 * Reads the rule for sudden losses from a flag, or from a feature of a Corefile.
 */
import { DEFAULT_LOSS_RULE, type LossRule } from '@portolan/kernel/base/losses.ts';
import type { Flag } from '../flags/flag.ts';
import type { NameIn } from '../flags/flag-reader.ts';
import { lastSetting, readSettingWords } from '../values/setting-words.ts';
import type { ValueReader } from '../values/value-reader.ts';

export const LOSS_FLAGS = [
  {
    name: 'sudden-loss',
    valueName: 'settings',
    value: { kind: 'text', of: 'on, off, or settings' },
    default: 'share=50,names=20,within=30s,hold=10m',
    help: 'when names that a source has lost at once are answered on, or off',
    details:
      'If a source loses `names` names and `share` percent of all within the time `within`, they are [answered as stale](../explanation/sudden-loss.md) for the time `hold`, or until `portolan control accept`.',
    group: 'Zone',
  },
] as const satisfies readonly Flag[];

/** The flag reader of any server whose names have a source. */
export interface LossReader extends ValueReader {
  text(name: NameIn<typeof LOSS_FLAGS>): string | undefined;
  shown(name: NameIn<typeof LOSS_FLAGS>): string;
}

const SETTINGS = ['share', 'names', 'within', 'hold'];
const SHARES = { min: 1, max: 100, of: 'a percentage' };
const NAMES = { min: 1, max: 1_000_000, of: 'a number of names' };

/** @returns undefined if lost names go at once */
export function readLosses(read: LossReader): LossRule | undefined {
  const text = read.text('sudden-loss');
  return text === undefined
    ? DEFAULT_LOSS_RULE
    : readLossWords(read, read.shown('sudden-loss'), text.split(/[\s,]+/).filter(Boolean));
}

/** @param where for messages @param words `on`, `off`, or settings as in `share=50 hold=5m`; of others the defaults hold */
export function readLossWords(
  read: ValueReader,
  where: string,
  words: readonly string[],
): LossRule | undefined {
  const [word] = words;
  if (words.length === 1 && word === 'off') return undefined;
  if (words.length === 1 && word === 'on') return DEFAULT_LOSS_RULE;
  if (words.length === 0)
    read.addProblem(where, 'empty', undefined, 'Give on, off, or settings such as hold=5m.');
  const given = readSettingWords(read, where, words, SETTINGS);
  const { share, names, within, hold } = DEFAULT_LOSS_RULE;
  return {
    share: read.integer(`${where} share`, lastSetting(given, 'share'), SHARES, share),
    names: read.integer(`${where} names`, lastSetting(given, 'names'), NAMES, names),
    within: read.duration(`${where} within`, lastSetting(given, 'within'), within),
    hold: read.duration(`${where} hold`, lastSetting(given, 'hold'), hold),
  };
}
