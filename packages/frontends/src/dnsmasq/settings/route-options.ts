/**
 * Options that route queries: `server`, `local`, `address` and `rev-server`.
 */
import type { NameScope } from '@portolan/plugins/local-names/name-scopes.ts';
import { readAddress } from './addresses.ts';
import type { DnsmasqRoute, RouteAction } from './dnsmasq-plan.ts';
import { readName, readPlainName } from './names.ts';
import { parseDigits } from './numbers.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import { type Option, type OptionUse, repeatable } from './option.ts';
import { cut, cutAll, withoutLeadSpaces } from './pieces.ts';
import { reverseZones } from './reverse-zones.ts';
import { readUpstreamAddress } from './upstream-address.ts';

export const routeOptions: readonly Option[] = [
  repeatable(
    'server',
    { short: 'S', shows: '=[/<domain>/...]<address>', means: 'Ask this server, or ask it for these domains' },
    (use, value) => addRoutes(use, value, readServerAction),
  ),
  repeatable(
    'local',
    { shows: '=/<domain>/', means: 'Never forward questions for this domain' },
    (use, value) => addRoutes(use, value, readServerAction),
  ),
  repeatable(
    'address',
    {
      short: 'A',
      shows: '=/<domain>/[<address>]',
      means: 'Answer all names of this domain with the address',
    },
    (use, value) => addRoutes(use, value, readAddressAction),
  ),
  repeatable(
    'rev-server',
    { shows: '=<address>[/<prefix>][,<server>]', means: 'Ask this server for the names of these addresses' },
    addReverseRoutes,
  ),
];

const SERVER_REMEDY = 'Give an address such as 10.0.0.10 or 10.0.0.10#5353, or # for the ordinary servers.';

function addRoutes(
  use: OptionUse,
  value: string,
  readAction: (use: OptionUse, text: string) => RouteAction | undefined,
): void {
  const text = unescapeText(value);
  const hasDomains = text.startsWith('/');
  if (hasDomains && addDomainRoute(use, text, readAction)) return;
  // Slashes enclose the domains; the action follows the last slash. If there is no second slash, the text is both.
  const pieces = hasDomains ? cutAll(text.slice(1), '/') : [text];
  const last = pieces.at(-1) ?? '';
  const action: RouteAction | undefined = last === '' ? LOCAL : readAction(use, last);
  if (action === undefined) return;
  const domains = pieces.length > 1 ? pieces.slice(0, -1) : pieces;
  const scopes = hasDomains ? domains.map(scopeReader(use)) : [ALL];
  for (const scope of scopes) if (scope !== undefined) use.draft.upstreams.routes.push({ scope, action });
}

/**
 * Adds the route of `/domain/action` for a canonical domain, the form of nearly all lines in long lists.
 *
 * @returns whether the value has this form
 */
function addDomainRoute(
  use: OptionUse,
  text: string,
  readAction: (use: OptionUse, text: string) => RouteAction | undefined,
): boolean {
  const end = text.lastIndexOf('/');
  const name = readPlainName(text.slice(1, end));
  if (name === undefined) return false;
  const action = end === text.length - 1 ? LOCAL : readAction(use, withoutLeadSpaces(text.slice(end + 1)));
  if (action !== undefined) use.draft.upstreams.routes.push({ scope: { kind: 'domain', name }, action });
  return true;
}

const ALL: NameScope = { kind: 'all' };
const LOCAL: RouteAction = { kind: 'local' };
const NULL_ADDRESS: RouteAction = { kind: 'null-address' };

function scopeReader(use: OptionUse): (domain: string) => NameScope | undefined {
  return (domain) => {
    if (domain === '') return { kind: 'plain-names' };
    if (domain === '#' || domain === '*') return ALL;
    const isSuffix = domain.startsWith('*');
    const text = isSuffix ? domain.slice(1) : domain.replace(/^\.+/, '');
    if (text === '' || text === '.') return ALL;
    // The suffix `.example.com` is not a name because of its first dot; the rest must be one.
    const reading = readName(isSuffix ? text.replace(/^\./, '') : text);
    if (reading.kind === 'name' && isSuffix)
      return { kind: 'suffix', text: (text.startsWith('.') ? '.' : '') + reading.name.slice(0, -1) };
    if (reading.kind === 'name') return { kind: 'domain', name: reading.name };
    const shown = textOfOctets(domain);
    if (reading.kind === 'bad') use.refuse(reading.why, 'Give a domain between two slashes.', shown);
    else use.note(`No question is within ${JSON.stringify(shown)}, since ${reading.why}: it is left out.`);
    return undefined;
  };
}

function readServerAction(use: OptionUse, text: string): RouteAction | undefined {
  if (text === '#') return { kind: 'default' };
  const reading = readUpstreamAddress(text);
  if (reading.kind === 'server') return { kind: 'forward', server: reading.server };
  use.refuse(reading.fault, SERVER_REMEDY, reading.value);
  return undefined;
}

function readAddressAction(use: OptionUse, text: string): RouteAction | undefined {
  if (text === '#') return NULL_ADDRESS;
  // Blocklists repeat one address: share its action.
  const last = use.draft.upstreams.routes.at(-1)?.action;
  if (last?.kind === 'address' && last.address === text) return last;
  const address = readAddress(text);
  if (address !== undefined) return { kind: 'address', address };
  const remedy = 'Give one such as 10.0.0.10 or 2001:db8::1, # for the null addresses, or none for NXDOMAIN.';
  use.refuse('not an IP address', remedy, textOfOctets(text));
  return undefined;
}

function addReverseRoutes(use: OptionUse, value: string): void {
  const [network, serverText] = cut(unescapeText(value), ',');
  const [addressText, prefixText] = cut(network, '/');
  const address = readAddress(addressText);
  if (address === undefined) {
    use.refuse('not an IP address', 'Give a network such as 10.1.0.0/16.', textOfOctets(addressText));
    return;
  }
  const zones = reverseZones(address, prefixText === undefined ? undefined : parseDigits(prefixText));
  if (zones === undefined) {
    use.refuse('not a length of a prefix', 'Give one from 1 to 32, or to 128 for IPv6.', prefixText);
    return;
  }
  const action: RouteAction | undefined =
    serverText === undefined ? { kind: 'local' } : readServerAction(use, serverText);
  if (action !== undefined) use.draft.upstreams.routes.push(...zones.map((name) => makeRoute(name, action)));
}

function makeRoute(name: Extract<NameScope, { kind: 'domain' }>['name'], action: RouteAction): DnsmasqRoute {
  return { scope: { kind: 'domain', name }, action };
}
