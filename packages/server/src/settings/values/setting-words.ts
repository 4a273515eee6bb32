/**
 * Reads words such as `file=/var/log/queries`, in orders on the control socket and in features of a Corefile.
 */
import type { ValueReader } from './value-reader.ts';

/** The values of each setting, in the order given. */
export type Settings = ReadonlyMap<string, readonly string[]>;

/** @param order what the settings belong to, for messages @param names of the settings that it knows */
export function readSettingWords(
  read: ValueReader,
  order: string,
  words: readonly string[],
  names: readonly string[],
): Settings {
  const settings = new Map<string, string[]>();
  for (const word of words) {
    const end = word.indexOf('=');
    const setting = read.choice(order, end < 0 ? word : word.slice(0, end), names, undefined);
    if (setting === undefined) continue;
    if (end < 0)
      read.addProblem(setting, 'its value is missing', undefined, `Give one, as in ${setting}=VALUE.`);
    else settings.set(setting, [...(settings.get(setting) ?? []), word.slice(end + 1)]);
  }
  return settings;
}

export function lastSetting(settings: Settings, name: string): string | undefined {
  return settings.get(name)?.at(-1);
}
