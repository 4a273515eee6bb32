/**
 * Options that give one record each: TXT, PTR, CAA, and any type by its octets.
 */
import { ROOT } from '../../wire/name.ts';
import { type NameKey, type RecordData, TYPE } from '../../wire/types.ts';
import { readHexadecimal } from './hexadecimal.ts';
import { readNameFor } from './names.ts';
import { readNumber, SIXTEEN_BITS } from './numbers.ts';
import { bytesOfOctets, textOfOctets, unveil } from './octets.ts';
import { type Option, repeatable, type Use } from './option.ts';
import { cut, cutAll } from './pieces.ts';

/** Octets of one string of a TXT record, and of a CAA tag (RFC 1035 section 3.3, RFC 8659 section 4.1). */
const MOST_IN_STRING = 255;
/** Octets that surely fit into a record's data, with the lengths of all strings. */
const MOST_IN_RECORD = 32_000;

export const recordOptions: readonly Option[] = [
  repeatable('txt-record', { short: 'Y', shows: '=<name>[,<text>...]', means: 'A TXT record' }, addTxt),
  repeatable('ptr-record', { shows: '=<name>[,<target>]', means: 'A PTR record' }, addPtr),
  repeatable('caa-record', { shows: '=<name>,<flags>,<tag>,<value>', means: 'A CAA record' }, addCaa),
  repeatable(
    'dns-rr',
    { shows: '=<name>,<type>[,<hexadecimal>]', means: 'A record of any type' },
    addAnyType,
  ),
];

/** Nothing is added where a piece was wrong: that is reported already. */
export function addRecord(use: Use, name: NameKey | undefined, data: RecordData | undefined): void {
  if (name !== undefined && data !== undefined) use.draft.records.others.push({ name, data });
}

/** A target that may be left out, which the root stands for. */
export function readTarget(use: Use, text: string | undefined): NameKey | undefined {
  return text === undefined ? ROOT : readNameFor(use, text);
}

function addTxt(use: Use, value: string): void {
  const [nameText, text = ''] = cut(value, ',');
  // Only commas part the strings of a TXT record: spaces around them belong to the text.
  const strings = text.split(',').flatMap(stringsOf);
  if (text.length > MOST_IN_RECORD) use.refuse('a text too long for a record', 'Make it shorter.', '');
  else addRecord(use, readNameFor(use, nameText), { kind: 'TXT', strings });
}

function stringsOf(text: string): readonly Uint8Array[] {
  const bytes = bytesOfOctets(text);
  const count = Math.max(1, Math.ceil(bytes.length / MOST_IN_STRING));
  return Array.from({ length: count }, (_, index) =>
    bytes.slice(index * MOST_IN_STRING, (index + 1) * MOST_IN_STRING),
  );
}

function addPtr(use: Use, value: string): void {
  const [nameText, targetText] = cut(value, ',');
  const name = readNameFor(use, nameText);
  const target = readTarget(use, targetText);
  addRecord(use, name, target === undefined ? undefined : { kind: 'PTR', target });
}

function addCaa(use: Use, value: string): void {
  const [nameText = '', flagsText, tagText, valueText] = cutAll(value, ',', 4);
  if (tagText === undefined || valueText === undefined) {
    use.refuse('too few pieces', 'Give name, flags, tag and value, as in example.com,0,issue,ca.example.');
    return;
  }
  const name = readNameFor(use, nameText);
  const flags = readNumber(use, flagsText, { least: 0, most: 255, of: 'flags' });
  if (tagText.length > MOST_IN_STRING || valueText.length > MOST_IN_RECORD)
    use.refuse('a tag or a value too long for a record', 'Make it shorter.', '');
  else if (flags !== undefined) addRecord(use, name, caaOf(flags, unveil(tagText), bytesOfOctets(valueText)));
}

/** Any octets make a record; a tag that the standard allows shows as what it is. */
function caaOf(flags: number, tag: string, value: Uint8Array): RecordData {
  if (/^[a-zA-Z0-9]+$/.test(tag)) return { kind: 'CAA', flags, tag, value };
  const bytes = Uint8Array.from([flags, tag.length, ...bytesOfOctets(tag), ...value]);
  return { kind: 'unknown', type: TYPE.CAA, bytes };
}

function addAnyType(use: Use, value: string): void {
  const [nameText = '', typeText, hexadecimal = ''] = cutAll(value, ',', 3);
  const type = readNumber(use, typeText, { ...SIXTEEN_BITS, of: 'the number of a type' });
  const name = readNameFor(use, nameText);
  const bytes = readHexadecimal(unveil(hexadecimal));
  const remedy = 'Give octets as in 01:23:45, 01 23 45 or 012345.';
  if (bytes === undefined) use.refuse('not hexadecimal', remedy, textOfOctets(hexadecimal));
  else if (type !== undefined) addRecord(use, name, { kind: 'unknown', type, bytes });
}
