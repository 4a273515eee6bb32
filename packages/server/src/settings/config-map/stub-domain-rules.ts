/**
 * Forwarding rules for the servers in kube-dns's ConfigMap.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { defaultRule, type ForwardRule } from '@portolan/kernel/forward/forward-plan.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { KubeDnsConfig } from './config-map.ts';

/** One rule per stub domain with servers; as in kube-dns, an empty list makes no rule. */
export function stubDomainRules({ stubDomains }: KubeDnsConfig): readonly ForwardRule[] {
  return stubDomains.flatMap(({ domain, servers }) =>
    servers.length === 0 ? [] : [domainRule(domain, servers)],
  );
}

/** Sends the names of a domain to these servers. */
export function domainRule(name: NameKey, servers: readonly UpstreamAddress[]): ForwardRule {
  return { ...defaultRule(servers), names: [{ kind: 'domain', name }] };
}
