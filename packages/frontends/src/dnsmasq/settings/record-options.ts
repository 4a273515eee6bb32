/**
 * Options that define local records: hosts, aliases, TXT, PTR, CAA, SRV, NAPTR, MX, and any type in hexadecimal.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import { readIpv4, readIpv6 } from './addresses.ts';
import { readNameFor } from './names.ts';
import { parseDigits, readNumber, SECONDS, SIXTEEN_BITS } from './numbers.ts';
import { bytesOfOctets, textOfOctets, unescapeText } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable, single } from './option.ts';
import { cut, cutAll } from './pieces.ts';

/** The maximum octets of a TXT string, a NAPTR text and a CAA tag (RFC 1035 section 3.3, RFC 3403 section 4.1, RFC 8659 section 4.1). */
const MAX_IN_STRING = 255;
/** A safe limit for a record's data in octets, length octets included. */
const MAX_IN_RECORD = 32_000;

const hostOptions: readonly Option[] = [
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

const dataOptions: readonly Option[] = [
  repeatable('txt-record', { short: 'Y', shows: '=<name>[,<text>...]', means: 'A TXT record' }, addTxt),
  repeatable('ptr-record', { shows: '=<name>[,<target>]', means: 'A PTR record' }, addPtr),
  repeatable('caa-record', { shows: '=<name>,<flags>,<tag>,<value>', means: 'A CAA record' }, addCaa),
  repeatable(
    'dns-rr',
    { shows: '=<name>,<type>[,<hexadecimal>]', means: 'A record of any type' },
    addAnyType,
  ),
];

const serviceOptions: readonly Option[] = [
  repeatable(
    'srv-host',
    { short: 'W', shows: '=<name>[,<target>[,<port>[,<priority>[,<weight>]]]]', means: 'An SRV record' },
    addSrv,
  ),
  repeatable(
    'naptr-record',
    {
      shows: '=<name>,<order>,<preference>,<flags>,<service>,<regexp>[,<target>]',
      means: 'A NAPTR record',
    },
    addNaptr,
  ),
];

const mailOptions: readonly Option[] = [
  repeatable(
    'mx-host',
    { short: 'm', shows: '=<name>[,<target>][,<preference>]', means: 'An MX record' },
    addMailExchange,
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
  ...hostOptions,
  ...dataOptions,
  ...serviceOptions,
  ...mailOptions,
];

/** Adds nothing if a part was wrong, which is already reported. */
function addRecord(use: OptionUse, name: NameKey | undefined, data: RecordData | undefined): void {
  if (name !== undefined && data !== undefined) use.draft.records.others.push({ name, data });
}

/** Reads an optional target; the default is the root. */
function readTarget(use: OptionUse, text: string | undefined): NameKey | undefined {
  return text === undefined ? ROOT : readNameFor(use, text);
}

function addTxt(use: OptionUse, value: string): void {
  const [nameText, text = ''] = cut(value, ',');
  // Only commas separate the strings of a TXT record; spaces around them are part of the text.
  const strings = text.split(',').flatMap(splitStrings);
  if (text.length > MAX_IN_RECORD) use.refuse('a text too long for a record', 'Make it shorter.', '');
  else addRecord(use, readNameFor(use, nameText), { kind: 'TXT', strings });
}

function splitStrings(text: string): readonly Uint8Array[] {
  const bytes = bytesOfOctets(text);
  const count = Math.max(1, Math.ceil(bytes.length / MAX_IN_STRING));
  return Array.from({ length: count }, (_, index) =>
    bytes.slice(index * MAX_IN_STRING, (index + 1) * MAX_IN_STRING),
  );
}

function addPtr(use: OptionUse, value: string): void {
  const [nameText, targetText] = cut(value, ',');
  const name = readNameFor(use, nameText);
  const target = readTarget(use, targetText);
  addRecord(use, name, target === undefined ? undefined : { kind: 'PTR', target });
}

function addCaa(use: OptionUse, value: string): void {
  const [nameText = '', flagsText, tagText, valueText] = cutAll(value, ',', 4);
  if (tagText === undefined || valueText === undefined) {
    use.refuse('too few pieces', 'Give name, flags, tag and value, as in example.com,0,issue,ca.example.');
    return;
  }
  const name = readNameFor(use, nameText);
  const flags = readNumber(use, flagsText, { min: 0, max: 255, of: 'flags' });
  if (tagText.length > MAX_IN_STRING || valueText.length > MAX_IN_RECORD)
    use.refuse('a tag or a value too long for a record', 'Make it shorter.', '');
  else if (flags !== undefined)
    addRecord(use, name, createCaa(flags, unescapeText(tagText), bytesOfOctets(valueText)));
}

/** Accepts any octets; a tag that RFC 8659 does not allow makes a record of unknown format. */
function createCaa(flags: number, tag: string, value: Uint8Array): RecordData {
  if (/^[a-zA-Z0-9]+$/.test(tag)) return { kind: 'CAA', flags, tag, value };
  const bytes = Uint8Array.from([flags, tag.length, ...bytesOfOctets(tag), ...value]);
  return { kind: 'unknown', type: TYPE.CAA, bytes };
}

function addAnyType(use: OptionUse, value: string): void {
  const [nameText = '', typeText, hexadecimal = ''] = cutAll(value, ',', 3);
  const type = readNumber(use, typeText, { ...SIXTEEN_BITS, of: 'the number of a type' });
  const name = readNameFor(use, nameText);
  const bytes = readHexadecimal(unescapeText(hexadecimal));
  const remedy = 'Give octets as in 01:23:45, 01 23 45 or 012345.';
  if (bytes === undefined) use.refuse('not hexadecimal', remedy, textOfOctets(hexadecimal));
  else if (type !== undefined) addRecord(use, name, { kind: 'unknown', type, bytes });
}

/** Reads hexadecimal octets: digits, separated by colons, dashes or spaces. A run of odd length ends in a single digit. */
function readHexadecimal(text: string): Uint8Array | undefined {
  const runs = text.split(/[: -]/).filter((run) => run !== '');
  if (!runs.every((run) => /^[0-9a-fA-F]+$/.test(run))) return undefined;
  const octets = runs.flatMap((run) => run.match(/..?/g) ?? []).map((digits) => Number.parseInt(digits, 16));
  return octets.length <= 0xffff ? Uint8Array.from(octets) : undefined;
}

/** Parts may be in any order; a part that is neither a number nor an address is a name. */
function addHostRecord(use: OptionUse, value: string): void {
  const pieces = cutAll(value);
  if (pieces.length < 2) {
    use.refuse('nothing but one name', 'Give a name and an address, as in nas,10.0.0.20.');
    return;
  }
  const names: NameKey[] = [];
  let [ipv4, ipv6, ttl]: [string?, string?, number?] = [];
  for (const piece of pieces) {
    // A quoted part is always a name.
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

/** The last part is the target; after at least two names it may be a TTL. */
function addCnames(use: OptionUse, value: string): void {
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

function addSrv(use: OptionUse, value: string): void {
  const [nameText = '', targetText, portText = '1', priorityText = '0', weightText = '0'] = cutAll(
    value,
    ',',
    5,
  );
  const name = readNameFor(use, nameText);
  const target = readTarget(use, targetText);
  const port = readNumber(use, portText, { ...SIXTEEN_BITS, of: 'a port' });
  const priority = readNumber(use, priorityText, { ...SIXTEEN_BITS, of: 'a priority' });
  const weight = readNumber(use, weightText, { ...SIXTEEN_BITS, of: 'a weight' });
  if (target === undefined || port === undefined || priority === undefined || weight === undefined) return;
  addRecord(use, name, { kind: 'SRV', priority, weight, port, target });
}

function addNaptr(use: OptionUse, value: string): void {
  const pieces = cutAll(value, ',', 7);
  const [nameText = '', orderText, preferenceText, flags = '', services = '', regexp, targetText] = pieces;
  if (regexp === undefined) {
    use.refuse('too few pieces', 'Give name, order, preference, flags, service and regexp.');
    return;
  }
  const name = readNameFor(use, nameText);
  const order = readNumber(use, orderText, { ...SIXTEEN_BITS, of: 'an order' });
  const preference = readNumber(use, preferenceText, { ...SIXTEEN_BITS, of: 'a preference' });
  const replacement = readTarget(use, targetText);
  if (order === undefined || preference === undefined || replacement === undefined) return;
  if ([flags, services, regexp].some((text) => text.length > MAX_IN_STRING)) {
    use.refuse(`a text of more than ${MAX_IN_STRING} octets`, 'Make it shorter.', '');
    return;
  }
  const texts = {
    flags: bytesOfOctets(flags),
    services: bytesOfOctets(services),
    regexp: bytesOfOctets(regexp),
  };
  addRecord(use, name, { kind: 'NAPTR', order, preference, ...texts, replacement });
}

function addMailExchange(use: OptionUse, value: string): void {
  const [nameText = '', targetText, preferenceText = '1'] = cutAll(value, ',', 3);
  const preference = readNumber(use, preferenceText, { ...SIXTEEN_BITS, of: 'a preference' });
  const name = readNameFor(use, nameText);
  const target = targetText === undefined ? undefined : readNameFor(use, targetText);
  // Distinguish a missing target from a wrong one.
  const isWrong = targetText !== undefined && target === undefined;
  if (preference === undefined || name === undefined || isWrong) return;
  use.draft.records.mailExchanges.push({ name, target, preference });
}
