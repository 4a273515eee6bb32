/**
 * The options of dnsmasq as flags, for help and documentation of all commands.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { allOptions } from './option-table.ts';

export const DNSMASQ_FLAGS: readonly Flag[] = allOptions
  .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  .map(({ name, takes, shows = '', means }) => {
    const form = shows.replace(/^\[?=(.*?)\]?$/, '$1');
    // Drop the angle brackets around a single name.
    const valueName = /^<([^<>]*)>$/.exec(form)?.[1] ?? (form === '' ? 'value' : form);
    const help = means;
    if (takes === 'nothing') return { name, value: 'none', help };
    return { name, value: { kind: 'text', of: 'a value' }, valueName, help };
  });
