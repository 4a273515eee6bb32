/**
 * Converts dnsmasq's options for local names, question rules and reply filters to the settings of the plugin `local-names`.
 */
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import type { LocalSettings } from '@portolan/plugins/local-names/local-handlers.ts';
import type { QuestionRules } from '@portolan/plugins/local-names/question-rules.ts';
import type { LocalNamesPlan, RangeDomain } from '@portolan/sources/local/local-plan.ts';
import { computeBounds } from './addresses.ts';
import type { DnsmasqPlan, SynthesisedDomain } from './dnsmasq-plan.ts';
import { DNSMASQ_HOSTS } from './hosts-manner.ts';

/** @param interfaces of this machine, for the domains of their networks */
export function makeLocalSettings(plan: DnsmasqPlan, interfaces: Interfaces): LocalSettings {
  const { local, filters } = plan;
  return {
    names: localNamesPlan(plan, interfaces),
    // Files first, then watched folders, in dnsmasq's reading order.
    hostsPaths: [...local.hostsFiles, ...local.hostsFolders],
    manner: DNSMASQ_HOSTS,
    questions: toQuestionRules(plan),
    replies: filters,
  };
}

function localNamesPlan({ local }: DnsmasqPlan, interfaces: Interfaces): LocalNamesPlan {
  return {
    ...local,
    rangeDomains: local.rangeDomains.flatMap((range) => toRangeDomains(range, interfaces)),
  };
}

function toQuestionRules({ upstreams, filters, local }: DnsmasqPlan): QuestionRules {
  const { routes, keepsPlainNames, keepsPrivateReverse } = upstreams;
  const { windows: keepsWindowsQuestions } = filters;
  return { routes, keepsPlainNames, keepsPrivateReverse, keepsWindowsQuestions, ttl: local.ttl };
}

function toRangeDomains({ domain, of }: SynthesisedDomain, interfaces: Interfaces): readonly RangeDomain[] {
  if (of.kind === 'range') return [{ domain, first: of.first, last: of.last }];
  return (interfaces[of.interface] ?? []).flatMap(({ cidr }) => {
    const [address, prefix] = (cidr ?? '').split('/');
    if (address === undefined || prefix === undefined) return [];
    return [{ domain, ...computeBounds({ address, prefix: Number(prefix) }) }];
  });
}
