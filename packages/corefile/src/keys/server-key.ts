/**
 * The keys of server blocks: `[scheme://]zone[:port]`.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { CorefileFindings } from '../syntax/findings.ts';
import type { BlockNode } from '../syntax/syntax-tree.ts';
import type { Position, Token } from '../syntax/token.ts';
import {
  isReverseZone,
  normalizeName,
  parseZone,
  quoteGo,
  type Scheme,
  splitHostPort,
  splitScheme,
} from './zone-name.ts';

/** A zone that a server block serves, with scheme and port. */
export interface ServerKey {
  readonly scheme: Scheme;
  readonly zone: NameKey;
  /** The zone in CoreDNS's form: in lower case, with a final dot. */
  readonly shown: string;
  /** An integer; `checkListeners` checks its range. */
  readonly port: number;
  readonly position: Position;
}

/** The default ports of schemes; the command line sets that of `dns`. */
const PORTS: Readonly<Record<Exclude<Scheme, 'dns'>, number>> = {
  tls: 853,
  quic: 853,
  grpc: 443,
  https: 443,
  https3: 443,
};

/** The preferred syntax of RFC 1035 section 2.3.1, as CoreDNS tests it. */
const PREFERRED_NAME = /^(?:[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+$/;

/** @param defaultPort for zones without scheme and port */
export function readServerKeys(
  block: BlockNode,
  defaultPort: number,
  findings: CorefileFindings,
): readonly ServerKey[] {
  return block.keys.flatMap((key) => readKey(key, defaultPort, findings));
}

function readKey(key: Token, defaultPort: number, findings: CorefileFindings): readonly ServerKey[] {
  const { scheme, rest } = splitScheme(key.text);
  const split = splitHostPort(rest);
  if (split.kind === 'bad') {
    findings.problems.push({
      phase: 'set-up',
      message: `error inspecting server blocks: ${split.fault}`,
      position: key.position,
      remedy: 'Write a key as a zone, with its port behind a colon: example.org:53.',
    });
    return [];
  }
  const port = split.port === '' ? (scheme === 'dns' ? defaultPort : PORTS[scheme]) : Number(split.port);
  return split.zones.flatMap((text) => {
    const zone = parseZone(text);
    if (zone === undefined) return [];
    const shown = normalizeName(text);
    if (!followsPreferredSyntax(shown)) warnOfZone(key, split.port !== '', shown, findings);
    return [{ scheme, zone, shown, port, position: key.position }];
  });
}

/** Whether a zone has the preferred syntax of RFC 1035 section 2.3.1; reverse zones and the root are exempt. */
export function followsPreferredSyntax(shown: string): boolean {
  return shown === '.' || isReverseZone(shown) || REVERSE_ROOT.test(shown) || PREFERRED_NAME.test(shown);
}

const REVERSE_ROOT = /^(?:in-addr|ip6)\.arpa\.$/;

function warnOfZone(
  { text, position }: Token,
  hasPort: boolean,
  shown: string,
  findings: CorefileFindings,
): void {
  const warning = `Domain ${quoteGo(shown)} does not follow RFC1035 preferred syntax`;
  const hint = findHint(text, hasPort);
  findings.warn(position, hint === undefined ? `${warning}.` : `${warning}: ${hint}`);
}

/** A hint about the intended form of a wrong key. @param hasPort whether a port behind a colon was understood */
function findHint(whole: string, hasPort: boolean): string | undefined {
  const text = hasPort && !isIpv6(whole) ? whole.slice(0, whole.lastIndexOf(':')) : whole;
  if (/^[a-z0-9+.-]*:\/\//i.test(text))
    return 'the scheme is not known and taken as part of the name. Known are dns, tls, quic, grpc, https and https3.';
  if (/\s/.test(text)) return 'a variable is not split into words. Use one variable for each zone.';
  if (/\/\d+$/.test(text)) return 'it is no range of addresses. Write one as 10.0.0.0/8.';
  if (/^\d+\.\d+\.\d+\.\d+$/.test(text) || isIpv6(text))
    return `an address is an ordinary name here. For its reverse zone write ${text}/${text.includes(':') ? 128 : 32}.`;
  if (!hasPort && /:[^:]*$/.test(text)) return 'what stands behind the colon is no number of a port.';
  if (/(?:^|\.)\*(?:\.|$)/.test(text))
    return 'an asterisk is no wildcard here, but a label of its own. A zone has all names below it: leave the asterisk out.';
  if (/[^\x20-\x7e]/.test(text))
    return 'clients ask for such a name in its ASCII form, which begins with xn--.';
  return undefined;
}

const isIpv6 = (text: string): boolean => /^[0-9a-f:]*::[0-9a-f:]*$/i.test(text);
