/**
 * Options of unsupported features, by family. Options that turn a feature on are refused. Options that only configure it are
 * accepted without effect.
 */
import type { Option, OptionStanding, OptionValue } from './option.ts';

/** An option name, with `=` for a required value and `[=]` for an optional one; a short form precedes a bar. */
type Written = string;

const DHCP = 'the DHCP server';
const TFTP = 'the TFTP server';
const DNSSEC = 'DNSSEC validation';
const ZONES = "an option of dnsmasq's authoritative zones";
const CONNECTION_MARKS = 'about the marks of connection tracking';
const CLIENT_IN_QUERY = 'about passing on the addresses of clients to upstream servers';
const FROM_INTERFACES = 'a name made from the addresses of an interface or a range';

/** Refused options by feature, with its description. */
const REFUSED: readonly (readonly [what: string, written: readonly Written[]])[] = [
  ['an option that turns on the DHCP server', ['F|dhcp-range=', 'dhcp-relay=']],
  ['an option that turns on the TFTP server', ['enable-tftp[=]']],
  ['a script that is run for changes in the ARP table', ['script-arp']],
  ['an option of DNSSEC validation', ['dnssec', 'proxy-dnssec']],
  [ZONES, ['auth-server=', 'auth-zone=', 'auth-ttl=', 'auth-soa=', 'auth-sec-servers=', 'auth-peer=']],
  ['control by D-Bus', ['1|enable-dbus[=]']],
  ['control by ubus', ['enable-ubus[=]']],
  [CONNECTION_MARKS, ['conntrack', 'connmark-allowlist-enable[=]', 'connmark-allowlist=']],
  ['about filling sets of ipset (nftset fills those of nftables)', ['ipset=']],
  [CLIENT_IN_QUERY, ['add-mac[=]', 'add-subnet[=]', 'add-cpe-id=', 'umbrella[=]']],
  ['about writing packets to a file', ['dumpfile=', 'dumpmask=']],
  ['a program whose output is read as options', ['conf-script=']],
  [FROM_INTERFACES, ['synth-domain=', 'interface-name=', 'dynamic-host=']],
];

/** Ignored options by the feature that they configure. */
const IGNORED: readonly (readonly [feature: string, written: readonly Written[]])[] = [
  [
    DHCP,
    words(`
      G|dhcp-host= dhcp-hostsfile= dhcp-optsfile= dhcp-hostsdir= dhcp-optsdir= tag-if= j|dhcp-userclass= dhcp-circuitid=
      dhcp-remoteid= dhcp-subscrid= dhcp-pxe-vendor= J|dhcp-ignore= dhcp-broadcast[=] K|dhcp-authoritative
      l|dhcp-leasefile[=] M|dhcp-boot= O|dhcp-option= dhcp-option-force= U|dhcp-vendorclass= X|dhcp-lease-max=
      Z|read-ethers 2|no-dhcp-interface= no-dhcpv4-interface= no-dhcpv6-interface= 3|bootp-dynamic[=] 4|dhcp-mac=
      bridge-interface= shared-network= 5|no-ping 6|dhcp-script= dhcp-scriptuser= 9|leasefile-ro dhcp-ignore-names[=]
      dhcp-no-override dhcp-match= dhcp-name-match= dhcp-alternate-port[=] dhcp-fqdn dhcp-generate-names[=] dhcp-proxy[=]
      pxe-prompt= pxe-service= dhcp-sequential-ip dhcp-ignore-clid dhcp-client-update dhcp-duid= dhcp-ttl=
      dhcp-reply-delay= dhcp-rapid-commit script-on-renewal dhcp-lease= log-dhcp quiet-dhcp quiet-dhcp6 dhcp-luascript=
      enable-ra ra-param= quiet-ra`),
  ],
  [
    TFTP,
    words(`
      tftp-root= tftp-unique-root[=] tftp-secure tftp-no-fail tftp-max= tftp-mtu= tftp-no-blocksize tftp-lowercase
      tftp-port-range= tftp-single-port quiet-tftp`),
  ],
  [
    DNSSEC,
    words(`
      trust-anchor= dnssec-debug dnssec-check-unsigned[=] dnssec-no-timecheck dnssec-timestamp= dnssec-limits=`),
  ],
];

export const unsupportedOptions: readonly Option[] = [
  ...REFUSED.flatMap(([what, written]) =>
    written.map((text) => makeOption(text, `Refused: ${what}`, { kind: 'refused', what })),
  ),
  ...IGNORED.flatMap(([feature, written]) =>
    written.map((text) =>
      makeOption(text, `Without effect: it matters only to ${feature}`, {
        kind: 'ignored',
        why: `it matters only to ${feature}, which Portolan does not have`,
      }),
    ),
  ),
];

function words(text: string): readonly Written[] {
  return text.trim().split(/\s+/);
}

function makeOption(written: Written, means: string, standing: OptionStanding): Option {
  const [, short, name = '', value] = /^(?:(.)\|)?([^[=]+)(\[=\]|=)?$/.exec(written) ?? [];
  const option: Option = { name, takes: toOptionValue(value, short), repeats: 'often', means, standing };
  return short === undefined ? option : { ...option, short };
}

/** `-1` never takes a value, although `--enable-dbus` may have one. */
function toOptionValue(value: string | undefined, short: string | undefined): OptionValue {
  if (value === undefined) return 'nothing';
  if (value === '=') return 'value';
  return short === '1' ? 'long' : 'optional';
}

const NO_CLIENT_OPTIONS = 'Portolan never passes EDNS options of clients to upstream servers';

/** Portolan always behaves as with these options. */
export const idleOptions: readonly Option[] = ['strip-mac', 'strip-subnet'].map((name) => ({
  name,
  takes: 'nothing',
  repeats: 'often',
  means: 'Without effect: EDNS options of clients are never passed on to upstream servers',
  standing: { kind: 'no-effect', why: NO_CLIENT_OPTIONS, check: () => undefined },
}));
