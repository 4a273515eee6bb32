/**
 * Options that give one record each: TXT, PTR, NAPTR, CAA, SRV, MX, and any type by its octets.
 */
import { ROOT } from '../../wire/name.ts';
import { type NameKey, type RecordData, TYPE } from '../../wire/types.ts';
import { readHexadecimal } from './hexadecimal.ts';
import { readNameFor } from './names.ts';
import { type Bounds, readNumber } from './numbers.ts';
import { bytesOfOctets, textOfOctets } from './octets.ts';
import { flag, type Option, repeatable, single, type Use } from './option.ts';
import { cut, cutAll } from './pieces.ts';

const SIXTEEN_BITS: Bounds = { least: 0, most: 0xffff, of: 'a number' };
const EIGHT_BITS: Bounds = { least: 0, most: 0xff, of: 'flags' };
/** Octets of one string of a TXT record, and of a tag (RFC 1035 section 3.3). */
const MOST_IN_STRING = 255;
/** Octets that surely fit into a record's data, with the lengths of all strings. */
const MOST_IN_RECORD = 32_000;

const mailOptions: readonly Option[] = [
  repeatable(
    'mx-host',
    { short: 'm', shows: '=<name>[,<target>][,<preference>]', means: 'An MX record' },
    addMx,
  ),
  single(
    'mx-target',
    { short: 't', shows: '=<name>', means: 'The target of MX records without one' },
    (use, value) => {
      use.draft.records.mxTarget = readNameFor(use, value) ?? use.draft.records.mxTarget;
    },
  ),
  flag('localmx', { short: 'L', means: 'Give names of hosts files an MX record to the target' }, (draft) => {
    draft.records.localMx = true;
  }),
  flag('selfmx', { short: 'e', means: 'Give names of hosts files an MX record to themselves' }, (draft) => {
    draft.records.selfMx = true;
  }),
];

export const recordOptions: readonly Option[] = [
  repeatable('txt-record', { short: 'Y', shows: '=<name>[,<text>...]', means: 'A TXT record' }, addTxt),
  repeatable(
    'srv-host',
    { short: 'W', shows: '=<name>[,<target>[,<port>[,<priority>[,<weight>]]]]', means: 'An SRV record' },
    addSrv,
  ),
  repeatable('ptr-record', { shows: '=<name>[,<target>]', means: 'A PTR record' }, addPtr),
  repeatable(
    'naptr-record',
    { shows: '=<name>,<order>,<preference>,<flags>,<service>,<regexp>[,<target>]', means: 'A NAPTR record' },
    addNaptr,
  ),
  repeatable('caa-record', { shows: '=<name>,<flags>,<tag>,<value>', means: 'A CAA record' }, addCaa),
  repeatable(
    'dns-rr',
    { shows: '=<name>,<type>[,<hexadecimal>]', means: 'A record of any type' },
    addAnyType,
  ),
  ...mailOptions,
];

/** Nothing is added where a piece was wrong: that is reported already. */
function add(use: Use, name: NameKey | undefined, data: RecordData | undefined): void {
  if (name !== undefined && data !== undefined) use.draft.records.others.push({ name, data });
}

function addTxt(use: Use, value: string): void {
  const [nameText, text] = cut(value, ',');
  // Only commas part the strings of a TXT record: spaces around them belong to the text.
  const strings = text === undefined || text === '' ? [''] : text.split(',');
  if ((text ?? '').length > MOST_IN_RECORD)
    use.refuse('a text too long for a record', 'Make it shorter.', '');
  else add(use, readNameFor(use, nameText), { kind: 'TXT', strings: strings.flatMap(stringsOf) });
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
  const target = targetText === undefined ? ROOT : readNameFor(use, targetText);
  add(use, name, target === undefined ? undefined : { kind: 'PTR', target });
}

function addNaptr(use: Use, value: string): void {
  const pieces = cutAll(value);
  if (pieces.length < 6) {
    use.refuse('too few pieces', 'Give name, order, preference, flags, service and regexp.');
    return;
  }
  const [nameText = '', orderText, preferenceText, flags = '', services = '', regexp = '', ...rest] = pieces;
  const name = readNameFor(use, nameText);
  const order = readNumber(use, orderText, SIXTEEN_BITS);
  const preference = readNumber(use, preferenceText, SIXTEEN_BITS);
  const replacement = rest.length === 0 ? ROOT : readNameFor(use, rest.join(','));
  if (order === undefined || preference === undefined || replacement === undefined) return;
  const [flagBytes, serviceBytes, regexpBytes] = [flags, services, regexp].map(bytesOfOctets);
  const strings = { flags: flagBytes, services: serviceBytes, regexp: regexpBytes };
  if (Object.values(strings).some((bytes) => (bytes?.length ?? 0) > MOST_IN_STRING)) {
    use.refuse('a text of more than 255 octets', 'Make it shorter.');
    return;
  }
  const empty = new Uint8Array();
  add(use, name, {
    kind: 'NAPTR',
    order,
    preference,
    flags: flagBytes ?? empty,
    services: serviceBytes ?? empty,
    regexp: regexpBytes ?? empty,
    replacement,
  });
}

function addCaa(use: Use, value: string): void {
  const [nameText = '', flagsText, tag, ...rest] = cutAll(value);
  if (tag === undefined || rest.length === 0) {
    use.refuse('too few pieces', 'Give name, flags, tag and value, as in example.com,0,issue,ca.example.');
    return;
  }
  const name = readNameFor(use, nameText);
  const flags = readNumber(use, flagsText, EIGHT_BITS);
  if (flags === undefined) return;
  const text = rest.join(',');
  if (tag.length > MOST_IN_STRING || text.length > MOST_IN_RECORD)
    use.refuse('a tag or a value too long for a record', 'Make it shorter.', '');
  // Any octets make a record; those of the standard (RFC 8659 section 4.1) show as what they are.
  else if (/^[a-zA-Z0-9]+$/.test(tag))
    add(use, name, { kind: 'CAA', flags, tag, value: bytesOfOctets(text) });
  else {
    const octets = [flags, tag.length, ...bytesOfOctets(tag), ...bytesOfOctets(text)];
    add(use, name, { kind: 'unknown', type: TYPE.CAA, bytes: Uint8Array.from(octets) });
  }
}

function addAnyType(use: Use, value: string): void {
  const [nameText, behind] = cut(value, ',');
  const [typeText, hexadecimal] = behind === undefined ? [undefined, undefined] : cut(behind, ',');
  const type = readNumber(use, typeText, { ...SIXTEEN_BITS, of: 'the number of a type' });
  const name = readNameFor(use, nameText);
  const bytes = readHexadecimal(hexadecimal ?? '');
  if (bytes === undefined)
    use.refuse(
      'not hexadecimal',
      'Give octets as in 01:23:45, 01 23 45 or 012345.',
      textOfOctets(hexadecimal ?? ''),
    );
  else if (type !== undefined) add(use, name, { kind: 'unknown', type, bytes });
}

function addSrv(use: Use, value: string): void {
  const [nameText = '', targetText, portText = '1', priorityText = '0', ...rest] = cutAll(value);
  const name = readNameFor(use, nameText);
  const target = targetText === undefined ? ROOT : readNameFor(use, targetText);
  const port = readNumber(use, portText, { ...SIXTEEN_BITS, of: 'a port' });
  const priority = readNumber(use, priorityText, { ...SIXTEEN_BITS, of: 'a priority' });
  const weight = readNumber(use, rest.length === 0 ? '0' : rest.join(','), {
    ...SIXTEEN_BITS,
    of: 'a weight',
  });
  if (target === undefined || port === undefined || priority === undefined || weight === undefined) return;
  add(use, name, { kind: 'SRV', priority, weight, port, target });
}

function addMx(use: Use, value: string): void {
  const [nameText, behind] = cut(value, ',');
  const [targetText, preferenceText = '1'] = behind === undefined ? [undefined] : cut(behind, ',');
  const preference = readNumber(use, preferenceText, { ...SIXTEEN_BITS, of: 'a preference' });
  const name = readNameFor(use, nameText);
  const target = targetText === undefined ? undefined : readNameFor(use, targetText);
  // A target that was left out is another matter than one that is wrong.
  if (preference === undefined || name === undefined || (targetText !== undefined && target === undefined))
    return;
  use.draft.records.mailExchanges.push({ name, target, preference });
}
