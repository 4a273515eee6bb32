/**
 * What `portolan serve` knows without asking anybody: hosts files of `--hosts`, and what a file of dnsmasq's options says.
 */
import type { DnsmasqPlan } from '../../config/dnsmasq/plan.ts';
import { hostsOnly } from '../../sources/local/local-plan.ts';
import type { Interfaces } from '../dnsmasq/interface-choice.ts';
import { DNSMASQ_HOSTS, makeLocalTerms } from '../dnsmasq/local-terms.ts';
import type { LocalTerms } from '../local-side.ts';

/** @param ttl seconds, where the options of dnsmasq are not given */
export function makeServeLocalTerms(
  hosts: readonly string[],
  dnsmasq: DnsmasqPlan | undefined,
  ttl: number,
  interfaces: Interfaces,
): LocalTerms {
  if (dnsmasq !== undefined) {
    const terms = makeLocalTerms(dnsmasq, interfaces);
    return { ...terms, hostsPaths: [...hosts, ...terms.hostsPaths] };
  }
  return {
    names: hostsOnly(ttl),
    hostsPaths: hosts,
    format: DNSMASQ_HOSTS,
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
