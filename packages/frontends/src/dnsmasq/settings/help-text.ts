/**
 * The text of `--help`: all options in alphabetical order, with their meaning in Portolan.
 */
import { allOptions } from './option-table.ts';

const COLUMN = 46;

export function helpText(): string {
  const lines = allOptions
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, short, shows, means }) => {
      const form = `${short === undefined ? '    ' : `-${short}, `}--${name}${shows ?? ''}`;
      return form.length < COLUMN
        ? `${form.padEnd(COLUMN)} ${means}`
        : `${form}\n${''.padEnd(COLUMN)} ${means}`;
    });
  return ['Usage: portolan dnsmasq [options]', '', ...lines, ''].join('\n');
}
