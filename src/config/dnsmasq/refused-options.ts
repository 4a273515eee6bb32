/**
 * Options that dnsmasq has and Portolan refuses, by family, each with what it is; and those it takes without effect.
 */
import type { Option, OptionValue } from './option.ts';

/** `name`, `name=` with a value, `name[=]` where it is optional; a short form stands before a bar. */
type Written = string;

const DHCP = 'an option of the DHCP server';
const DHCP_LOG = 'about the log of the DHCP server';
const ADVERTISEMENT = 'an option of router advertisement';
const TFTP = 'an option of the TFTP server';
const DNSSEC = 'an option of DNSSEC validation';
const AUTHORITATIVE = "an option of dnsmasq's authoritative zones";
const CONNECTION_MARKS = 'about the marks of connection tracking';
const CLIENT_IN_QUERY = 'about telling upstream servers who asks';
const FROM_INTERFACES = 'a name made from the addresses of an interface or a range';

const FAMILIES: readonly (readonly [string, readonly Written[]])[] = [
  [
    DHCP,
    [
      ...[
        'F|dhcp-range=',
        'G|dhcp-host=',
        'dhcp-hostsfile=',
        'dhcp-optsfile=',
        'dhcp-hostsdir=',
        'dhcp-optsdir=',
      ],
      ...[
        'tag-if=',
        'j|dhcp-userclass=',
        'dhcp-circuitid=',
        'dhcp-remoteid=',
        'dhcp-subscrid=',
        'dhcp-pxe-vendor=',
      ],
      ...[
        'J|dhcp-ignore=',
        'dhcp-broadcast[=]',
        'K|dhcp-authoritative',
        'l|dhcp-leasefile[=]',
        'M|dhcp-boot=',
      ],
      ...[
        'O|dhcp-option=',
        'dhcp-option-force=',
        'U|dhcp-vendorclass=',
        'X|dhcp-lease-max=',
        'Z|read-ethers',
      ],
      ...['2|no-dhcp-interface=', 'no-dhcpv4-interface=', 'no-dhcpv6-interface=', '3|bootp-dynamic[=]'],
      ...[
        '4|dhcp-mac=',
        'bridge-interface=',
        'shared-network=',
        '5|no-ping',
        '6|dhcp-script=',
        'dhcp-scriptuser=',
      ],
      ...[
        'script-arp',
        '9|leasefile-ro',
        'dhcp-ignore-names[=]',
        'dhcp-no-override',
        'dhcp-match=',
        'dhcp-name-match=',
      ],
      ...['dhcp-alternate-port[=]', 'dhcp-fqdn', 'dhcp-generate-names[=]', 'dhcp-proxy[=]', 'dhcp-relay='],
      ...[
        'pxe-prompt=',
        'pxe-service=',
        'dhcp-sequential-ip',
        'dhcp-ignore-clid',
        'dhcp-client-update',
        'dhcp-duid=',
      ],
      ...['dhcp-ttl=', 'dhcp-reply-delay=', 'dhcp-rapid-commit', 'script-on-renewal', 'dhcp-lease='],
    ],
  ],
  [DHCP_LOG, ['log-dhcp', 'quiet-dhcp', 'quiet-dhcp6']],
  ['a script of the DHCP server in Lua', ['dhcp-luascript=']],
  [ADVERTISEMENT, ['enable-ra', 'ra-param=', 'quiet-ra']],
  [
    TFTP,
    [
      ...['enable-tftp[=]', 'tftp-root=', 'tftp-unique-root[=]', 'tftp-secure', 'tftp-no-fail', 'tftp-max='],
      ...[
        'tftp-mtu=',
        'tftp-no-blocksize',
        'tftp-lowercase',
        'tftp-port-range=',
        'tftp-single-port',
        'quiet-tftp',
      ],
    ],
  ],
  [
    DNSSEC,
    [
      ...['dnssec', 'trust-anchor=', 'dnssec-debug', 'dnssec-check-unsigned[=]', 'dnssec-no-timecheck'],
      ...['dnssec-timestamp=', 'dnssec-limits=', 'proxy-dnssec'],
    ],
  ],
  [
    AUTHORITATIVE,
    ['auth-server=', 'auth-zone=', 'auth-ttl=', 'auth-soa=', 'auth-sec-servers=', 'auth-peer='],
  ],
  ['control by D-Bus', ['1|enable-dbus[=]']],
  ['control by ubus', ['enable-ubus[=]']],
  [CONNECTION_MARKS, ['conntrack', 'connmark-allowlist-enable[=]', 'connmark-allowlist=']],
  ['about filling sets of the packet filter', ['ipset=', 'nftset=']],
  [CLIENT_IN_QUERY, ['add-mac[=]', 'add-subnet[=]', 'add-cpe-id=', 'umbrella[=]']],
  ['about writing packets to a file', ['dumpfile=', 'dumpmask=']],
  ['a program whose output is read as options', ['conf-script=']],
  [FROM_INTERFACES, ['synth-domain=', 'interface-name=', 'dynamic-host=']],
];

export const refusedOptions: readonly Option[] = FAMILIES.flatMap(([what, written]) =>
  written.map((text) => {
    const [, short, name = '', value] = /^(?:(.)\|)?([^[=]+)(\[=\]|=)?$/.exec(text) ?? [];
    return {
      name,
      ...(short === undefined ? {} : { short }),
      takes: takesOf(value, short),
      repeats: 'often',
      means: `Refused: ${what}`,
      standing: { kind: 'refused', what },
    } satisfies Option;
  }),
);

/** `-1` reads no value although `--enable-dbus` may have one. */
function takesOf(value: string | undefined, short: string | undefined): OptionValue {
  if (value === undefined) return 'nothing';
  if (value === '=') return 'value';
  return short === '1' ? 'long' : 'optional';
}

const NO_CLIENT_OPTIONS = 'Portolan never passes EDNS options of clients to upstream servers';

/** The effect they ask for is there without them. */
export const idleOptions: readonly Option[] = ['strip-mac', 'strip-subnet'].map((name) => ({
  name,
  takes: 'nothing',
  repeats: 'often',
  means: 'Without effect: who asks is never told to upstream servers',
  standing: { kind: 'no-effect', why: NO_CLIENT_OPTIONS, check: () => undefined },
}));
