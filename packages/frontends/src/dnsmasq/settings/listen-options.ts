/**
 * Options for listening addresses and interfaces, and for limits on queries.
 */
import { MAX_UDP_SIZE, MIN_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { readAddress } from './addresses.ts';
import { PORT, readNumber, SECONDS } from './numbers.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable, single } from './option.ts';
import { cutAll } from './pieces.ts';

const whereOptions: readonly Option[] = [
  single(
    'port',
    { short: 'p', shows: '=<port>', means: 'Listen on this port; 0 turns DNS off' },
    (use, value) => {
      use.draft.listen.port = readNumber(use, value, PORT) ?? use.draft.listen.port;
    },
  ),
  repeatable(
    'listen-address',
    { short: 'a', shows: '=<address>[,...]', means: 'Listen on these addresses' },
    addAddresses,
  ),
  repeatable(
    'interface',
    { short: 'i', shows: '=<interface>[,...]', means: 'Listen on these interfaces' },
    (use, value) => {
      use.draft.listen.interfaces ??= [];
      use.draft.listen.interfaces.push(...namesIn(value));
    },
  ),
  repeatable(
    'except-interface',
    { short: 'I', shows: '=<interface>[,...]', means: 'Do not listen on these interfaces' },
    (use, value) => {
      use.draft.listen.exceptInterfaces.push(...namesIn(value));
    },
  ),
  flag('bind-interfaces', { short: 'z', means: 'Bind only to the interfaces in use' }, (draft) => {
    draft.listen.bindsInterfaces = true;
  }),
  flag('bind-dynamic', { means: 'Bind to the interfaces in use and to those that come' }, (draft) => {
    draft.listen.bindsDynamic = true;
  }),
];

export const listenOptions: readonly Option[] = [
  ...whereOptions,
  {
    name: 'local-service',
    takes: 'optional',
    repeats: 'once',
    shows: '[=net|host]',
    means: 'Answer only clients of directly connected networks',
    standing: { kind: 'works', apply: readLocalService },
  },
  single(
    'edns-packet-max',
    { short: 'P', shows: '=<octets>', means: 'The largest UDP packet of EDNS' },
    (use, value) => {
      const octets = readNumber(use, value, { ...PORT, of: 'a number of octets' });
      if (octets === undefined) return;
      if (octets < MIN_UDP_SIZE) use.note(`${MIN_UDP_SIZE} octets are the minimum, as in dnsmasq.`);
      if (octets > MAX_UDP_SIZE)
        use.note(
          `${MAX_UDP_SIZE} octets are the maximum: larger answers over UDP serve attacks by amplification.`,
        );
      use.draft.listen.ednsPacketMax = Math.min(Math.max(octets, MIN_UDP_SIZE), MAX_UDP_SIZE);
    },
  ),
  single(
    'max-tcp-connections',
    { shows: '=<connections>', means: 'TCP connections at once' },
    (use, value) => {
      const connections = readNumber(use, value, { ...SECONDS, min: 1, of: 'a number of connections' });
      use.draft.listen.maxTcpConnections = connections ?? use.draft.listen.maxTcpConnections;
    },
  ),
];

/** An empty name adds no interface: only loopback, which is always included, remains. */
function namesIn(value: string): readonly string[] {
  return cutAll(value)
    .filter((name) => name !== '')
    .map(textOfOctets);
}

function addAddresses(use: OptionUse, value: string): void {
  for (const text of cutAll(value)) {
    const address = readAddress(unescapeText(text));
    if (address !== undefined) use.draft.listen.addresses.push(address);
    else use.refuse('not an IP address', 'Give one such as 127.0.0.1 or ::1.', textOfOctets(text));
  }
}

function readLocalService(use: OptionUse): void {
  const { listen } = use.draft;
  const service = use.value ?? 'net';
  if (service === 'net') listen.localService = 'network';
  // If the command line and a file give both, the wider scope wins.
  else if (service === 'host') listen.localService = listen.localService === 'network' ? 'network' : 'host';
  else use.refuse('unknown', 'Give net or host.');
}
