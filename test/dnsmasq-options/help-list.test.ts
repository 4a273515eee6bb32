/**
 * Every option that the real dnsmasq lists is known here, in all its forms and with its intended status.
 */
import type { OptionStanding } from '@portolan/frontends/dnsmasq/settings/option.ts';
import { allOptions, findOption, ownOptions } from '@portolan/frontends/dnsmasq/settings/option-table.ts';
import { describe, expect, it } from 'vitest';
import { describeWithTool, itWithTool } from '../support/tools.ts';
import { askDnsmasq } from './real-dnsmasq.ts';

/** What Portolan does, or takes because its effect is there anyway. */
const TAKEN = `
  resolv-file server local rev-server address strict-order all-servers no-resolv no-poll query-port min-port max-port
  port-limit dns-loop-detect dns-forward-max domain-needed bogus-priv bogus-nxdomain ignore-address alias filterwin2k
  filter-AAAA filter-A filter-rr stop-dns-rebind rebind-localhost-ok rebind-domain-ok
  cache-size no-negcache neg-ttl max-ttl max-cache-ttl min-cache-ttl local-ttl use-stale-cache fast-dns-retry cache-rr
  clear-on-reload no-round-robin
  no-hosts addn-hosts hostsdir expand-hosts domain host-record cname txt-record srv-host ptr-record mx-host mx-target
  localmx selfmx naptr-record caa-record dns-rr localise-queries
  port listen-address interface except-interface bind-interfaces bind-dynamic edns-packet-max max-tcp-connections
  local-service nftset
  keep-in-foreground no-daemon user group pid-file log-facility log-queries log-async log-debug no-ident
  test version help conf-file conf-dir servers-file strip-mac strip-subnet`;

/** What would turn on a feature that Portolan does not have. */
const REFUSED = `
  auth-server auth-zone auth-ttl auth-soa auth-sec-servers auth-peer enable-dbus enable-ubus conntrack
  connmark-allowlist-enable connmark-allowlist ipset add-mac add-subnet add-cpe-id umbrella dumpfile dumpmask
  conf-script synth-domain interface-name dynamic-host
  dnssec proxy-dnssec dhcp-range dhcp-relay enable-tftp script-arp`;

/** What matters only where such a feature is on, beside the options named `dhcp-` and `tftp-`. */
const IGNORED = `
  trust-anchor dnssec-debug dnssec-check-unsigned dnssec-no-timecheck dnssec-timestamp dnssec-limits
  enable-ra ra-param quiet-ra quiet-tftp
  read-ethers no-dhcp-interface no-dhcpv4-interface no-dhcpv6-interface bootp-dynamic bridge-interface shared-network
  no-ping leasefile-ro script-on-renewal tag-if pxe-prompt pxe-service log-dhcp quiet-dhcp quiet-dhcp6`;

function findStanding(name: string): OptionStanding['kind'] | undefined {
  return findOption(name)?.standing.kind;
}

const splitWords = (list: string) => list.trim().split(/\s+/);

interface Listed {
  readonly short: string | undefined;
  readonly name: string;
  readonly takesValue: boolean;
}

/** The form stands in the first 55 columns, cut there if it is longer. */
function listedOptions(help: string): readonly Listed[] {
  return help.split('\n').flatMap((line) => {
    const parts = /^(?:-(.), | {4})--([A-Za-z0-9-]+)(\S*)/.exec(line.slice(0, 55));
    return parts === null ? [] : [{ short: parts[1], name: parts[2] ?? '', takesValue: parts[3] !== '' }];
  });
}

describe('the classes', () => {
  it.each(splitWords(TAKEN))('%s is taken', (name) => {
    expect(findStanding(name)).toMatch(/^(works|no-effect|reading)$/);
  });

  it.each(splitWords(REFUSED))('%s is refused', (name) => {
    expect(findStanding(name)).toBe('refused');
  });

  it.each(splitWords(IGNORED))('%s is ignored', (name) => {
    expect(findStanding(name)).toBe('ignored');
  });

  it('ignores all options of DHCP and TFTP but those that turn them on', () => {
    const own = allOptions.filter(
      ({ name }) => /^(dhcp|tftp)-/.test(name) && findStanding(name) !== 'ignored',
    );
    expect(own.map(({ name }) => name)).toEqual(['dhcp-range', 'dhcp-relay']);
  });

  it('has no option beyond these but those of DHCP and TFTP, and our own', () => {
    const known = new Set([
      ...ownOptions,
      ...splitWords(TAKEN),
      ...splitWords(REFUSED),
      ...splitWords(IGNORED),
    ]);
    const others = allOptions.map(({ name }) => name).filter((name) => !known.has(name));
    expect(others.filter((name) => !/^(dhcp|tftp)-/.test(name))).toEqual([]);
  });

  it('knows each long and each short form once', () => {
    const names = allOptions.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    const shorts = allOptions.flatMap(({ short }) => short ?? []);
    expect(names).toHaveLength(new Set(names).size);
    expect(shorts).toHaveLength(new Set(shorts).size);
  });
});

describeWithTool('dnsmasq', "dnsmasq's own list", () => {
  const listed = listedOptions(askDnsmasq(['--help']).said);

  it('is read whole', () => {
    expect(listed.length).toBeGreaterThan(170);
  });

  it('has no option that is not known here', () => {
    expect(listed.filter(({ name }) => findOption(name) === undefined)).toEqual([]);
  });

  it('has the same short forms', () => {
    const ours = listed.map(({ name }) => ({ name, short: findOption(name)?.short }));
    expect(ours).toEqual(listed.map(({ name, short }) => ({ name, short })));
  });

  it('gives values to the same options', () => {
    // The list does not show that these may have one.
    const silent = new Set(['log-queries', 'local-service', 'dnssec-check-unsigned']);
    const takesValue = (name: string) => findOption(name)?.takes !== 'nothing' && !silent.has(name);
    const ours = listed.map(({ name }) => ({ name, takesValue: takesValue(name) }));
    expect(ours).toEqual(listed.map(({ name, takesValue: theirs }) => ({ name, takesValue: theirs })));
  });
});

/** Each option is a run of dnsmasq. */
const FORMS_TIMEOUT = 60_000;

itWithTool(
  'dnsmasq',
  'values are optional where dnsmasq takes none',
  () => {
    for (const { name, takes } of allOptions) {
      if (takes === 'nothing' || name === 'conf-script' || ownOptions.has(name)) continue;
      const { said } = askDnsmasq(['--test', '--conf-file=-'], `${name}\n`);
      const needsValue = said.includes('missing parameter');
      expect({ name, needsValue }).toEqual({ name, needsValue: takes === 'value' });
    }
  },
  FORMS_TIMEOUT,
);
