/**
 * The options `host-record` and `cname`: names for addresses and names for names.
 */

import type { NameKey } from '../../wire/types.ts';
import { readIpv4, readIpv6 } from './addresses.ts';
import { readNameFor } from './names.ts';
import { parseDigits, readNumber, SECONDS } from './numbers.ts';
import { type Option, repeatable, type Use } from './option.ts';
import { cutAll } from './pieces.ts';

export const hostRecordOptions: readonly Option[] = [
  repeatable(
    'host-record',
    { shows: '=<name>[,...][,<address>][,<seconds>]', means: 'A, AAAA and PTR records of a host' },
    addHostRecord,
  ),
  repeatable(
    'cname',
    { shows: '=<alias>[,...],<target>[,<seconds>]', means: 'CNAME records to a local name' },
    addCnames,
  ),
];

/** Pieces may come in any order; what is neither a number nor an address is a name. */
function addHostRecord(use: Use, value: string): void {
  const pieces = cutAll(value);
  if (pieces.length < 2) {
    use.refuse('nothing but one name', 'Give a name and an address, as in nas,10.0.0.20.');
    return;
  }
  const names: NameKey[] = [];
  let [ipv4, ipv6, ttl]: [string?, string?, number?] = [];
  for (const piece of pieces) {
    // What was quoted is a name, whatever it looks like.
    if (/^\d*$/.test(piece)) ttl = readNumber(use, piece, SECONDS);
    else if (readIpv4(piece) !== undefined) ipv4 = readIpv4(piece);
    else if (readIpv6(piece) !== undefined) ipv6 = readIpv6(piece);
    else {
      const name = readNameFor(use, piece);
      if (name !== undefined) names.push(name);
    }
  }
  use.draft.records.hosts.push({ names, ipv4, ipv6, ttl });
}

/** The last piece is the target, or, behind at least two names, a TTL. */
function addCnames(use: Use, value: string): void {
  const pieces = [...cutAll(value)];
  if (pieces.length < 2) {
    use.refuse('nothing but one name', 'Give an alias and its target.');
    return;
  }
  const seconds = pieces.length > 2 ? parseDigits(pieces.at(-1) ?? '') : undefined;
  if (seconds !== undefined) pieces.pop();
  const ttl = seconds === undefined ? undefined : readNumber(use, String(seconds), SECONDS);
  const target = readNameFor(use, pieces.pop() ?? '');
  for (const piece of pieces) {
    const alias = readNameFor(use, piece);
    if (alias === undefined || target === undefined) continue;
    const { cnames } = use.draft.records;
    if (cnames.some((cname) => cname.alias === alias))
      use.refuse('the alias of two CNAME records', 'Leave one out: a name has one canonical name.', alias);
    else cnames.push({ alias, target, ttl });
  }
}
