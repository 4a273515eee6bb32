/**
 * Reads the ranges of pods and nodes from their flag.
 */
import type { AddressRange } from '../../wire/address-range.ts';
import { parsePrefix } from './client-rules.ts';
import type { ServeFlagReader } from './serve-flags.ts';

/** @returns undefined: the flag is absent, and the ranges are not known */
export function readEndpointRanges(read: ServeFlagReader): readonly AddressRange[] | undefined {
  return read
    .text('endpoint-ranges')
    ?.split(',')
    .flatMap((text) => readRange(read, text.trim()) ?? []);
}

function readRange(read: ServeFlagReader, text: string): AddressRange | undefined {
  const range = parsePrefix(text);
  if (range === undefined)
    read.addProblem(
      '--endpoint-ranges',
      'not a prefix',
      text,
      'Give prefixes such as 10.244.0.0/16,fd00::/48.',
    );
  return range;
}
