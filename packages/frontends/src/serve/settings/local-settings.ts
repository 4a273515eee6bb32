/**
 * The local names of `portolan serve`: hosts files of `--hosts`, and those of a file of dnsmasq options.
 */
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import type { LocalSettings } from '@portolan/plugins/local-names/local-handlers.ts';
import { hostsOnly } from '@portolan/sources/local/local-plan.ts';
import type { DnsmasqPlan } from '../../dnsmasq/settings/dnsmasq-plan.ts';
import { DNSMASQ_HOSTS } from '../../dnsmasq/settings/hosts-manner.ts';
import { makeLocalSettings } from '../../dnsmasq/settings/local-settings.ts';

/** @param ttl in seconds, if there are no dnsmasq options */
export function makeServeLocalSettings(
  hosts: readonly string[],
  dnsmasq: DnsmasqPlan | undefined,
  ttl: number,
  interfaces: Interfaces,
): LocalSettings {
  if (dnsmasq !== undefined) {
    const settings = makeLocalSettings(dnsmasq, interfaces);
    return { ...settings, hostsPaths: [...hosts, ...settings.hostsPaths] };
  }
  return {
    names: hostsOnly(ttl),
    hostsPaths: hosts,
    manner: DNSMASQ_HOSTS,
    questions: {
      routes: [],
      keepsPlainNames: false,
      keepsPrivateReverse: false,
      keepsWindowsQuestions: false,
      ttl,
    },
    replies: {
      bogusNxdomain: [],
      aliases: [],
      rebind: { stops: false, allowsLocalhost: false, allowedDomains: [] },
    },
  };
}
