/**
 * Reads the rules for clients from their flags.
 */
import { isLabelKey } from '@portolan/corefile/directive/label-selector.ts';
import { parseAddressRange } from '@portolan/dns/address-range.ts';
import {
  ACCESS_ACTIONS,
  type AccessAction,
  type AccessRule,
  type ClientRules,
} from '@portolan/kernel/listen/client-rules.ts';
import { TENANT_RULE, type TenantRules } from '@portolan/kubernetes/publish/tenant-rules.ts';
import { readPrefixes } from './endpoint-ranges.ts';
import type { ServeFlagReader } from './serve-flags.ts';

export function readClientRules(read: ServeFlagReader): ClientRules {
  return {
    access: read
      .texts('access-control')
      .flatMap((text) => text.split(','))
      .flatMap((text) => readAccess(read, text.trim()) ?? []),
    queryRate: read.value('query-rate-limit'),
    responseRate: read.value('response-rate-limit'),
    slip: read.value('rate-limit-slip'),
    prefixLengths: readPrefixLengths(read),
  };
}

/** Reads `10.0.0.0/8=allow`. */
function readAccess(read: ServeFlagReader, text: string): AccessRule | undefined {
  const equals = text.indexOf('=');
  const action = text.slice(equals + 1);
  const range = equals < 0 ? undefined : parseAddressRange(text.slice(0, equals));
  if (range === undefined || !isAction(action)) {
    const remedy = 'Give one such as 10.0.0.0/8=allow; actions are allow, refuse and drop.';
    read.addProblem('--access-control', 'not a prefix and an action', text, remedy);
    return undefined;
  }
  return { clients: range, action };
}

function isAction(text: string): text is AccessAction {
  return (ACCESS_ACTIONS as readonly string[]).includes(text);
}

function readPrefixLengths(read: ServeFlagReader): ClientRules['prefixLengths'] {
  const text = read.text('rate-limit-prefix') ?? '';
  const [, ipv4, ipv6] = /^(\d{1,2}),(\d{1,3})$/.exec(text) ?? [];
  const lengths = { ipv4: Number(ipv4 ?? 0), ipv6: Number(ipv6 ?? 0) };
  if (ipv4 === undefined || lengths.ipv4 > 32 || lengths.ipv6 > 128) {
    const remedy = 'Give bits of IPv4 and of IPv6 addresses, as in 24,56.';
    read.addProblem('--rate-limit-prefix', 'not two numbers of bits', text, remedy);
  }
  return lengths;
}

/** Which services each client sees; undefined: all. @param hasPods whether there is an API server, which has pods */
export function readTenants(read: ServeFlagReader, hasPods: boolean): TenantRules | undefined {
  const text = read.text('tenants');
  read.requireWith('tenants-seen-by', 'tenants', 'tell tenants apart by');
  if (text === undefined) return undefined;
  const colon = text.indexOf(':');
  const label = text.slice(colon + 1);
  if (text.slice(0, Math.max(0, colon)) !== TENANT_RULE || !isLabelKey(label))
    read.addProblem('--tenants', 'not a rule', text, `Give one such as ${TENANT_RULE}:team.`);
  if (!hasPods) read.addProblem('--tenants', 'there is no API server with pods', text, 'Leave it out.');
  const words =
    read
      .text('tenants-seen-by')
      ?.split(',')
      .map((word) => word.trim()) ?? [];
  return { label, seenBy: readPrefixes(read, 'tenants-seen-by', words, '192.0.2.0/28,fd00::7') };
}
