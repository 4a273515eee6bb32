/**
 * Rules of `rewrite` for the EDNS options of a query.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { Edns, EdnsOption } from '@portolan/dns/types.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { RewriteEdns, RewriteEdnsValue } from './options.ts';
import type { ResponseChange } from './response-changes.ts';

const OPTION = { NSID: 3, SUBNET: 8 } as const;

/** The OPT record that a query without one gets. */
const NEW_EDNS: Edns = { version: 0, udpSize: 4096, dnssecOk: false, extendedRcode: 0, options: [] };

export interface EdnsChange {
  /** The OPT record of the query, which it gets even if the rule does not apply. */
  readonly edns: Edns | undefined;
  readonly applies: boolean;
  /** Changes to make to the response. */
  readonly reverts: readonly ResponseChange[];
}

/** @param edns the OPT record after the earlier rules */
export function changeEdns(rule: RewriteEdns, query: Query, edns: Edns | undefined): EdnsChange {
  const code = toOptionCode(rule);
  const before = edns ?? NEW_EDNS;
  if (rule.action === 'unset') {
    const options = before.options.filter((option) => option.code !== code);
    return { edns: { ...before, options }, applies: true, reverts: [] };
  }
  const data = computeOptionData(rule, query);
  if (data === undefined) return { edns, applies: false, reverts: [] };
  return putOption(rule, { code, data }, before);
}

function putOption(rule: RewriteEdns, option: EdnsOption, edns: Edns): EdnsChange {
  const { options } = edns;
  const at = options.findIndex(({ code }) => code === option.code);
  const present = options[at];
  const changed = (next: readonly EdnsOption[], former: EdnsOption | undefined): EdnsChange => ({
    edns: { ...edns, options: next },
    applies: true,
    reverts: rule.reverts ? [{ kind: 'edns', code: option.code, former }] : [],
  });
  if (present !== undefined && rule.action !== 'append') return changed(options.with(at, option), present);
  if (rule.action === 'replace' || (present !== undefined && !repeatsOption(rule)))
    return { edns, applies: false, reverts: [] };
  return changed([...options, option], undefined);
}

/** Whether `append` adds a second option: as in CoreDNS, only one whose value is fixed. */
function repeatsOption(rule: RewriteEdns): boolean {
  return rule.option === 'nsid' || (rule.option === 'local' && rule.value.kind === 'octets');
}

function toOptionCode(rule: RewriteEdns): number {
  if (rule.option === 'local') return rule.code;
  return rule.option === 'nsid' ? OPTION.NSID : OPTION.SUBNET;
}

/** Undefined: the value is unknown for this query, so the rule does not apply. */
function computeOptionData(rule: RewriteEdns, query: Query): Uint8Array | undefined {
  if (rule.option === 'nsid') return new Uint8Array();
  if (rule.option === 'local') return evaluateOctets(rule.value, query);
  const address = parseAddressWithoutZone(query.dependOnClient().address);
  return address && encodeClientSubnet(address, address.length === 4 ? rule.ipv4Prefix : rule.ipv6Prefix);
}

function evaluateOctets(value: RewriteEdnsValue, query: Query): Uint8Array | undefined {
  if (value.kind === 'octets') return value.octets;
  if (value.kind === 'metadata') return encodeText(query.metadata(value.label));
  const { question } = query;
  switch (value.name) {
    case 'qname':
      return Buffer.from(question.name);
    case 'qtype':
      return sixteenBits(question.type);
    case 'client_ip':
      return parseAddressWithoutZone(query.dependOnClient().address);
    case 'client_port':
      return sixteenBits(query.dependOnClient().port);
    case 'server_ip':
      return parseAddressWithoutZone(query.dependOnClient().localAddress ?? '');
    case 'server_port': {
      const { localPort } = query.dependOnClient();
      return localPort === undefined ? undefined : sixteenBits(localPort);
    }
    case 'protocol':
      return Buffer.from(query.dependOnClient().transport === 'udp' ? 'udp' : 'tcp');
  }
}

function encodeText(text: string | undefined): Uint8Array | undefined {
  return text === undefined || text === '' ? undefined : Buffer.from(text);
}

function sixteenBits(number: number): Uint8Array {
  return Uint8Array.of(number >> 8, number & 0xff);
}

function parseAddressWithoutZone(text: string): Uint8Array | undefined {
  return parseAddress(text.split('%', 1)[0] ?? text);
}

/** The data of a client subnet option (RFC 7871 section 6). */
function encodeClientSubnet(address: Uint8Array, prefix: number): Uint8Array {
  const family = address.length === 4 ? 1 : 2;
  const octets = address.slice(0, Math.ceil(prefix / 8));
  const last = octets.length - 1;
  if (last >= 0) octets[last] = (octets[last] ?? 0) & (0xff << (8 * octets.length - prefix));
  return Uint8Array.of(0, family, prefix, 0, ...octets);
}
