/**
 * Reads what a server is to remember, from flags or from a feature of a Corefile.
 */
import { DEFAULT_HISTORY, HISTORY_NAMES, type HistoryPlan } from '../../plan/history-plan.ts';
import type { NameIn } from '../flags/flag-reader.ts';
import { lastSetting, readSettingWords } from '../values/setting-words.ts';
import type { ValueReader } from '../values/value-reader.ts';
import type { HISTORY_FLAGS } from './history-flags.ts';

type HistoryFlag = NameIn<typeof HISTORY_FLAGS>;

/** The flag reader of any server. */
export interface HistoryReader extends ValueReader {
  text(name: HistoryFlag): string | undefined;
  shown(name: HistoryFlag): string;
}

export interface HistoryTexts {
  readonly size: string | undefined;
  readonly file: string | undefined;
  readonly names: string | undefined;
}

/** Less has no room for a minute with many failures. */
const SIZES = { min: 8 * 2 ** 20, max: 2 ** 30 };
const OFF = '0';

/** @returns undefined if nothing is to be kept */
export function readHistory(read: HistoryReader): HistoryPlan | undefined {
  const texts = {
    size: read.text('history-size'),
    file: read.text('history-file'),
    names: read.text('history-names'),
  };
  return readHistoryTexts(read, texts, (name) => read.shown(`history-${name}`));
}

/** @param words as in `size=32M file=/var/lib/portolan/history names=hashed`, or `off` */
export function readHistoryWords(read: ValueReader, words: readonly string[]): HistoryPlan | undefined {
  if (words.length === 1 && words[0] === 'off') return undefined;
  const given = readSettingWords(read, 'history', words, ['size', 'file', 'names']);
  const texts = {
    size: lastSetting(given, 'size'),
    file: lastSetting(given, 'file'),
    names: lastSetting(given, 'names'),
  };
  return readHistoryTexts(read, texts, (name) => name);
}

/** @param where maps a setting to its name in messages */
export function readHistoryTexts(
  read: ValueReader,
  { size, file, names }: HistoryTexts,
  where: (name: keyof HistoryTexts) => string,
): HistoryPlan | undefined {
  const path = read.nonEmpty(where('file'), file, 'a path');
  const kept = read.choice(where('names'), names, HISTORY_NAMES, DEFAULT_HISTORY.names);
  if (size !== OFF) {
    const octets = read.size(where('size'), size, SIZES, DEFAULT_HISTORY.octets);
    return { octets, file: path, names: kept };
  }
  if (path !== undefined)
    read.addProblem(where('file'), `cannot be given with ${where('size')} 0`, path, 'Leave one of them out.');
  return undefined;
}
