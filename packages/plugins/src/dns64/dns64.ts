/**
 * Answers questions for AAAA records by A records whose addresses are put behind a prefix (RFC 6147, RFC 6052), so that clients with only
 * IPv6 reach servers with only IPv4 through a NAT64.
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { CLASS, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler } from '@portolan/kernel/chain/handler.ts';
import { CountFamily } from '@portolan/kernel/chain/handler-counts.ts';
import { anyName, anyNameByFamily } from '@portolan/kernel/chain/match.ts';
import { EMPTY_ANSWER, isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { Dns64Options } from './options.ts';

/** Seconds: the maximum TTL without an SOA record in the denial (RFC 6147 section 5.1.7). */
const MAX_TTL = 600;
const TYPES: ReadonlySet<number> = new Set([TYPE.AAAA]);
/** The place of an address that stays zero (RFC 6052 section 2.2). */
const RESERVED_OCTET = 8;

/** @param lookUp the whole server, for the A records of a name */
export function createDns64Handler(options: Dns64Options, lookUp: Chain, metrics: MetricRegistry): Handler {
  const translated = new CountFamily(
    metrics,
    'coredns_dns64_requests_translated_total',
    'Counter of DNS requests translated by dns64.',
    ['server'],
  ).with();
  return {
    name: 'dns64',
    role: 'other',
    answers: 'unchanged',
    questions: options.servesIpv4 ? anyName(TYPES) : anyNameByFamily(TYPES),
    async handle(query, next) {
      const { type, class: dnsClass } = query.question;
      if (type !== TYPE.AAAA || dnsClass !== CLASS.IN) return await next(query);
      // Read whatever the answer is: readers look up the answers for a family.
      const isForClient = options.servesIpv4 || query.dependOnFamily() === 'ipv6';
      if (!isForClient) return await next(query);
      query.beginComposition();
      const answer = await next(query);
      if (!isTranslated(answer, options)) {
        query.endComposition(false);
        return answer;
      }
      const further = query.furtherQuery({ ...query.question, type: TYPE.A });
      if (further === undefined) {
        query.forbidStoring();
        return { kind: 'servfail', reason: 'too many names for one question' };
      }
      const addresses = await lookUp(further);
      query.endComposition(true);
      query.count(translated);
      return translate(answer, addresses, options);
    },
  };
}

/** Whether an answer leaves room for addresses of IPv4: it has none of its own, and the name may exist. */
function isTranslated(answer: Answer, { translatesAll }: Dns64Options): boolean {
  if (answer.kind === 'drop' || !isResponse(answer)) return false;
  const { rcode, answers } = toWholeAnswer(answer);
  if (rcode === RCODE.NXDOMAIN && answers.length === 0) return false;
  return translatesAll || !answers.some(({ data }) => data.kind === 'AAAA');
}

/** @param denial the answer for AAAA @param found the answer for A */
function translate(denial: Answer, found: Answer, options: Dns64Options): Answer {
  if (denial.kind === 'drop' || found.kind === 'drop') return { kind: 'drop' };
  const { truncated, answers, authorities, additionals } = toWholeAnswer(found);
  const soa = toWholeAnswer(denial).authorities.findLast(({ data }) => data.kind === 'SOA');
  const maxTtl = soa?.ttl ?? MAX_TTL;
  const whole: WholeAnswer = {
    ...EMPTY_ANSWER,
    truncated,
    answers: answers.map((record) => translateRecord(record, maxTtl, options)),
    authorities,
    additionals,
  };
  return whole;
}

function translateRecord(record: ResourceRecord, maxTtl: number, { prefix }: Dns64Options): ResourceRecord {
  const { data, ttl } = record;
  if (data.kind !== 'A') return record;
  const address = embedAddress(data.address, prefix);
  return { ...record, ttl: Math.min(ttl, maxTtl), data: { kind: 'AAAA', address } };
}

/** The address behind the prefix, around the reserved octet. */
export function embedAddress(
  address: string,
  { address: prefix, prefix: bits }: Dns64Options['prefix'],
): string {
  const octets = Uint8Array.from({ length: 16 }, () => 0);
  octets.set((parseAddress(prefix) ?? octets).subarray(0, bits / 8));
  let at = bits / 8;
  for (const octet of parseAddress(address) ?? []) {
    if (at === RESERVED_OCTET) at += 1;
    octets[at] = octet;
    at += 1;
  }
  return formatAddress(octets);
}
