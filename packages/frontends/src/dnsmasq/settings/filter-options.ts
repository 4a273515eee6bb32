/**
 * Options that modify or reject upstream replies.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { numberOfIpv4, readAddressRange, readIpv4 } from './addresses.ts';
import { readNameFor } from './names.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable } from './option.ts';
import { cut, cutAll } from './pieces.ts';
import { readTypes } from './record-types.ts';

const addressOptions: readonly Option[] = [
  repeatable(
    'bogus-nxdomain',
    { short: 'B', shows: '=<address>[/<prefix>]', means: 'Take replies with this address for NXDOMAIN' },
    (use, value) => addRange(use, value, use.draft.filters.bogusNxdomain),
  ),
  repeatable(
    'ignore-address',
    { shows: '=<address>[/<prefix>]', means: 'Wait on when a reply has this address' },
    (use, value) => addRange(use, value, use.draft.filters.ignoredAddresses),
  ),
  repeatable(
    'alias',
    { short: 'V', shows: '=<from>[-<to>],<address>[,<mask>]', means: 'Translate IPv4 addresses of replies' },
    addAlias,
  ),
];

const typeOptions: readonly Option[] = [
  flag('filterwin2k', { short: 'f', means: 'Keep questions of old Windows hosts here' }, (draft) => {
    draft.filters.windows = true;
  }),
  flag('filter-A', { means: 'Leave A records out of answers' }, (draft) => {
    draft.filters.types.push(1);
  }),
  flag('filter-AAAA', { means: 'Leave AAAA records out of answers' }, (draft) => {
    draft.filters.types.push(28);
  }),
  repeatable(
    'filter-rr',
    { shows: '=<type>[,...]', means: 'Leave records of these types out of answers' },
    (use, value) => {
      use.draft.filters.types.push(...readTypes(use, value));
    },
  ),
];

const rebindOptions: readonly Option[] = [
  flag('stop-dns-rebind', { means: 'Refuse replies with private addresses' }, (draft) => {
    draft.rebind.stops = true;
  }),
  flag('rebind-localhost-ok', { means: 'Allow loopback addresses in replies all the same' }, (draft) => {
    draft.rebind.allowsLocalhost = true;
  }),
  repeatable(
    'rebind-domain-ok',
    { shows: '=[/]<domain>[/...]', means: 'Allow private addresses for names of these domains' },
    (use, value) => {
      const text = unescapeText(value).replace(/^\//, '');
      const domains = [...cutAll(text, '/')];
      // A final slash ends the list; it does not add an empty domain.
      if (domains.length > 1 && domains.at(-1) === '') domains.pop();
      for (const domain of domains) {
        const name = readNameFor(use, domain);
        if (name !== undefined) use.draft.rebind.allowedDomains.push(name);
      }
    },
  ),
];

export const filterOptions: readonly Option[] = [...addressOptions, ...typeOptions, ...rebindOptions];

function addRange(use: OptionUse, value: string, ranges: AddressRange[]): void {
  const range = readAddressRange(value);
  if (range === undefined) use.refuse('neither an address nor a network', 'Give one such as 10.1.0.0/16.');
  else ranges.push(range);
}

function addAlias(use: OptionUse, value: string): void {
  const [fromText = '', toText, maskText] = cutAll(value);
  const [firstText, lastText] = cut(fromText, '-');
  const first = readIpv4(firstText);
  const to = readIpv4(unescapeText(toText ?? ''));
  const mask = maskText === undefined ? '255.255.255.255' : readIpv4(unescapeText(maskText));
  if (first === undefined || to === undefined || mask === undefined) {
    use.refuse('not IPv4 addresses', 'Give two or three, as in 192.168.0.0,10.0.0.0,255.255.0.0.');
    return;
  }
  if (lastText === undefined) {
    use.draft.filters.aliases.unshift({ from: { kind: 'masked', address: first }, to, mask });
    return;
  }
  const last = readIpv4(lastText);
  if (last !== undefined && numberOfIpv4(first) <= numberOfIpv4(last) && areInOneNet(first, last, mask))
    use.draft.filters.aliases.unshift({ from: { kind: 'range', first, last }, to, mask });
  else
    use.refuse(
      'not a range within one network',
      'Give two addresses that the mask does not part.',
      textOfOctets(fromText),
    );
}

function areInOneNet(one: string, other: string, mask: string): boolean {
  const bits = BigInt(numberOfIpv4(mask));
  return (BigInt(numberOfIpv4(one)) & bits) === (BigInt(numberOfIpv4(other)) & bits);
}
