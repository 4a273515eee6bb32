/**
 * Options that lead to services: SRV, NAPTR and MX records.
 */
import { readNameFor } from './names.ts';
import { readNumber, SIXTEEN_BITS } from './numbers.ts';
import { bytesOfOctets } from './octets.ts';
import { flag, type Option, repeatable, single, type Use } from './option.ts';
import { cutAll } from './pieces.ts';
import { addRecord, readTarget } from './record-options.ts';

/** Octets of each text of a NAPTR record (RFC 3403 section 4.1). */
const MOST_IN_TEXT = 255;

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

export const serviceOptions: readonly Option[] = [
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
  ...mailOptions,
];

function addSrv(use: Use, value: string): void {
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

function addNaptr(use: Use, value: string): void {
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
  if ([flags, services, regexp].some((text) => text.length > MOST_IN_TEXT)) {
    use.refuse(`a text of more than ${MOST_IN_TEXT} octets`, 'Make it shorter.', '');
    return;
  }
  const texts = {
    flags: bytesOfOctets(flags),
    services: bytesOfOctets(services),
    regexp: bytesOfOctets(regexp),
  };
  addRecord(use, name, { kind: 'NAPTR', order, preference, ...texts, replacement });
}

function addMailExchange(use: Use, value: string): void {
  const [nameText = '', targetText, preferenceText = '1'] = cutAll(value, ',', 3);
  const preference = readNumber(use, preferenceText, { ...SIXTEEN_BITS, of: 'a preference' });
  const name = readNameFor(use, nameText);
  const target = targetText === undefined ? undefined : readNameFor(use, targetText);
  // A target that was left out is another matter than one that is wrong.
  const isWrong = targetText !== undefined && target === undefined;
  if (preference === undefined || name === undefined || isWrong) return;
  use.draft.records.mailExchanges.push({ name, target, preference });
}
