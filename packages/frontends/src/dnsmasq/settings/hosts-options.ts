/**
 * Options for hosts files and the domain of their names.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { computeBounds, isIpv6, readAddress, readIpv4, readIpv6, readNetwork } from './addresses.ts';
import type { SynthesisedDomain } from './dnsmasq-plan.ts';
import { readNameFor } from './names.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable } from './option.ts';
import { cut, cutAll } from './pieces.ts';
import { reverseZones } from './reverse-zones.ts';

export const hostsOptions: readonly Option[] = [
  flag('no-hosts', { short: 'h', means: 'Do not read /etc/hosts' }, (draft) => {
    draft.hosts.readsSystemFile = false;
  }),
  repeatable(
    'addn-hosts',
    { short: 'H', shows: '=<path>', means: 'Read this hosts file or folder too' },
    (use, value) => addPath(use, value, use.draft.hosts.additionalFiles),
  ),
  repeatable(
    'hostsdir',
    { shows: '=<path>', means: 'Read the hosts files of this folder and follow them' },
    (use, value) => addPath(use, value, use.draft.hosts.hostsFolders),
  ),
  flag('expand-hosts', { short: 'E', means: 'Add the domain to plain names of hosts files' }, (draft) => {
    draft.hosts.expandsHosts = true;
  }),
  flag(
    'localise-queries',
    { short: 'y', means: 'Prefer addresses of the network that was asked in' },
    (draft) => {
      draft.hosts.localisesQueries = true;
    },
  ),
  repeatable(
    'domain',
    {
      short: 's',
      aliases: ['domain-suffix'],
      shows: '=<domain>[,<range>[,local]]',
      means: 'The domain of local names',
    },
    readDomain,
  ),
];

function addPath(use: OptionUse, value: string, paths: string[]): void {
  if (value === '') use.note('An empty path names no file: it is left out.');
  else paths.push(textOfOctets(value));
}

function readDomain(use: OptionUse, value: string): void {
  const [domainText, rangeText] = cut(value, ',');
  if (domainText === '#' && rangeText === undefined) {
    use.draft.hosts.domainFromResolvFile = true;
    return;
  }
  const domain = readNameFor(use, domainText);
  // Check the range even if the domain is unusable.
  if (rangeText !== undefined) readRange(use, domain, unescapeText(rangeText));
  else if (domain !== undefined) use.draft.hosts.domain = domain;
}

/** `ADDRESS/PREFIX[,local]`, `ADDRESS[,ADDRESS]`, or the name of an interface. */
function readRange(use: OptionUse, domain: NameKey | undefined, text: string): void {
  if (text.includes('/')) {
    readLocalNetwork(use, domain, text);
    return;
  }
  const [firstText = '', lastText] = cutAll(text);
  const first = readAddress(firstText);
  if (first === undefined) {
    addRange(use, domain, { kind: 'interface', interface: textOfOctets(firstText) });
    return;
  }
  const last = lastText === undefined ? first : (isIpv6(first) ? readIpv6 : readIpv4)(lastText);
  if (last !== undefined) addRange(use, domain, { kind: 'range', first, last });
  else
    use.refuse(
      'not the last address of a range',
      'Give one of the same family.',
      textOfOctets(lastText ?? ''),
    );
}

function addRange(use: OptionUse, domain: NameKey | undefined, of: SynthesisedDomain['of']): void {
  if (domain !== undefined) use.draft.hosts.rangeDomains.unshift({ domain, of });
}

function readLocalNetwork(use: OptionUse, domain: NameKey | undefined, text: string): void {
  const [addressText, behind = ''] = cut(text, '/');
  const [prefixText, flagText] = cut(behind, ',');
  const network = readNetwork(addressText, prefixText);
  if (network === undefined) {
    use.refuse('not a network', 'Give one such as 192.168.0.0/24.', textOfOctets(text));
    return;
  }
  if (flagText !== undefined && flagText !== 'local') {
    use.refuse('unknown', 'Behind a network only `local` may stand.', textOfOctets(flagText));
    return;
  }
  addRange(use, domain, { kind: 'range', ...computeBounds(network) });
  if (flagText === 'local') keepLocal(use, domain, network);
}

/** Neither the domain's names nor the network's reverse names are forwarded. */
function keepLocal(use: OptionUse, domain: NameKey | undefined, { address, prefix }: AddressRange): void {
  // A network of all addresses has no reverse zone; dnsmasq skips it too.
  const zones = reverseZones(address, prefix) ?? [];
  for (const name of domain === undefined ? zones : [...zones, domain])
    use.draft.upstreams.routes.push({ scope: { kind: 'domain', name }, action: { kind: 'local' } });
}
