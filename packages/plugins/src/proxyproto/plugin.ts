/**
 * `proxyproto`: the addresses of clients from the headers of proxies.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseCidr, parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import {
  PROXY_POLICIES,
  type ProxyPolicy,
  type ProxyProtocolPlan,
  type ProxySessionsPlan,
} from '@portolan/kernel/listen/proxy-protocol/proxy-policy.ts';

const DEFAULT_SESSIONS = 10_240;
const SESSIONS_REMEDY = 'Write udp_session_tracking DURATION [NUMBER], as in udp_session_tracking 28s 10240.';

/** `proxyproto { allow CIDR…; default POLICY; udp_session_tracking DURATION [NUMBER] }`. Source: plugin/proxyproto of CoreDNS 1.14.7. */
export const proxyproto = definePlugin({
  name: 'proxyproto',
  syntax: [
    'proxyproto {',
    '    allow ADDRESS/BITS…',
    `    default ${PROXY_POLICIES.join('|')}`,
    '    udp_session_tracking DURATION [NUMBER]',
    '}',
  ],
  read(cursor): ProxyProtocolPlan {
    const trusted: AddressRange[] = [];
    let others: ProxyPolicy | undefined;
    let sessions: ProxySessionsPlan | undefined;
    cursor.eachUse(() => {
      if (cursor.remainingArguments().length > 0)
        throw cursor.argumentError('Write its settings in its block.');
      cursor.properties(
        {
          allow: () => void trusted.push(...readRanges(cursor)),
          default: () => {
            others = readPolicy(cursor);
          },
          udp_session_tracking: () => {
            sessions = readSessions(cursor);
          },
        },
        (name) =>
          cursor.error(`unknown option '${name}'`, 'Known here: allow, default, udp_session_tracking.'),
      );
    });
    return { trusted, others: others ?? (trusted.length > 0 ? 'ignore' : 'use'), sessions };
  },
});

function readRanges(cursor: DirectiveCursor): readonly AddressRange[] {
  return cursor.remainingArguments().map((text) => {
    const range = parseCidr(text);
    if (range.kind === 'bad')
      throw cursor.bareError(`${text}: ${range.fault}`, 'Write a range, as in 192.0.2.0/24 or 192.0.2.1/32.');
    return range.value;
  });
}

function readPolicy(cursor: DirectiveCursor): ProxyPolicy {
  const words = cursor.remainingArguments();
  const policy = PROXY_POLICIES.find((known) => known === words[0]?.toLowerCase());
  if (policy === undefined || words.length > 1)
    throw cursor.argumentError(`Name one of ${PROXY_POLICIES.join(', ')}.`);
  return policy;
}

/** Without a duration above 0 there are no sessions. */
function readSessions(cursor: DirectiveCursor): ProxySessionsPlan | undefined {
  const words = cursor.remainingArguments();
  const [text, number = String(DEFAULT_SESSIONS)] = words;
  if (text === undefined || words.length > 2) throw cursor.argumentError(SESSIONS_REMEDY);
  const duration = parseGoDuration(text);
  if (duration.kind === 'bad')
    throw cursor.bareError(
      `udp_session_tracking: invalid duration ${JSON.stringify(text)}: ${duration.fault}`,
      SESSIONS_REMEDY,
    );
  const max = parseInteger(number);
  if (max.kind === 'bad' || max.value <= 0)
    throw cursor.bareError(
      `udp_session_tracking: invalid max sessions ${JSON.stringify(number)}: must be a positive integer`,
      SESSIONS_REMEDY,
    );
  return duration.value > 0 ? { milliseconds: duration.value, max: max.value } : undefined;
}
