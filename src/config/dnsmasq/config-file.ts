/**
 * A configuration file: its options, line by line, and the lines that are none.
 */
import { readConfigLine } from './config-line.ts';
import { octetsOf, textOfOctets } from './octets.ts';
import type { Option } from './option.ts';
import { findOption, nearestName } from './option-table.ts';

export type FileLine =
  | {
      readonly kind: 'option';
      readonly line: number;
      readonly option: Option;
      readonly value: string | undefined;
    }
  | {
      readonly kind: 'wrong';
      readonly line: number;
      readonly fault: string;
      readonly written: string;
      readonly remedy: string;
    };

/** Lines are counted from 1. Empty ones and comments are left out. */
export function* readConfigFile(bytes: Uint8Array): Generator<FileLine> {
  const lines = octetsOf(bytes).split('\n');
  for (const [index, text] of lines.entries()) {
    // For dnsmasq a line ends at its first NUL.
    const [content = ''] = text.split('\0', 1);
    const reading = readConfigLine(content);
    const line = index + 1;
    if (reading.kind === 'unterminated')
      yield {
        kind: 'wrong',
        line,
        fault: 'a quote without its end',
        written: textOfOctets(content),
        remedy: 'Close it.',
      };
    else if (reading.kind === 'option') yield lineOf(line, reading.name, reading.value);
  }
}

function lineOf(line: number, name: string, value: string | undefined): FileLine {
  const option = findOption(name);
  const written = textOfOctets(name);
  const wrong = (fault: string, remedy: string): FileLine => ({
    kind: 'wrong',
    line,
    fault,
    written,
    remedy,
  });
  if (option === undefined) {
    const nearest = nearestName(name);
    const remedy = nearest === undefined ? 'See --help for all options.' : `Did you mean ${nearest}?`;
    return wrong('unknown option', remedy);
  }
  if (value !== undefined && option.takes === 'nothing')
    return wrong('a value given to an option without one', 'Leave out what stands behind the name.');
  if (value === undefined && option.takes === 'value')
    return wrong('without its value', `Give it as in ${name}${option.shows ?? '=<value>'}.`);
  return { kind: 'option', line, option, value };
}
