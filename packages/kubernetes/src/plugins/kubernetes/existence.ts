/**
 * Which names of a cluster exist: by the DNS standards, or as CoreDNS takes it where deviations are restored.
 */
import { type NameKey, type Question, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { ZoneAnswer } from '@portolan/kernel/zone/lookup.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';

/** What makes a name exist. CoreDNS looks up services, not names: only services, pods and zones exist for it. */
export interface ExistenceRules {
  /** Whether a name exists that has names below it, or records of other types. */
  readonly bySubtree: boolean;
  /** Whether a name that does not exist does not exist for SOA either: CoreDNS never looks up names for it. */
  readonly ofAllTypes: boolean;
}

/** A question, with the zone of the cluster that contains its name. */
export interface ExistenceQuestion {
  readonly zone: Zone;
  readonly key: NameKey;
  readonly type: Question['type'];
  /** The zone of services; all others are of the reverse tree. */
  readonly domain: NameKey;
}

/** @param answer by the DNS standards */
export function toExistingAnswer(
  answer: ZoneAnswer,
  question: ExistenceQuestion,
  { bySubtree, ofAllTypes }: ExistenceRules,
): ZoneAnswer {
  const { zone, type } = question;
  if (answer.kind !== 'nodata' && answer.kind !== 'nxdomain') return answer;
  if (type === TYPE.SOA) return ofAllTypes ? answer : { kind: 'nodata', soa: answer.soa };
  if (bySubtree || answer.kind === 'nxdomain' || isFound(question)) return answer;
  return { kind: 'nxdomain', soa: answer.soa, authoritative: zone.authoritativeNxdomain };
}

/** Whether CoreDNS considers a name without records of the type as existing. */
function isFound({ zone, key, type, domain }: ExistenceQuestion): boolean {
  if (key === zone.apex) return type !== TYPE.TXT;
  if (zone.apex !== domain || key === `dns.${domain}` || key === `dns-version.${domain}`) return false;
  return !PROTOCOL_OF_SERVICE.test(key.slice(0, -domain.length));
}

/** `_tcp.web.default.svc.` */
const PROTOCOL_OF_SERVICE = /^_[^.]+\.[^.]+\.[^.]+\.svc\.$/;

/**
 * The answer before the cluster was listed. The serial of its zone is 0, and SERVFAIL has the form of a denial.
 *
 * @param answer the answer from current knowledge
 * @param soa the SOA record of the zone as the client knows it
 */
export function denyWhileUnknown(answer: Answer, soa: ResourceRecord): Answer {
  if (soa.data.kind !== 'SOA') return answer;
  const unlisted = { ...soa, data: { ...soa.data, serial: 0 } };
  if (answer.kind === 'records' && answer.records[0]?.data.kind === 'SOA')
    return { ...answer, records: [unlisted] };
  if (answer.kind !== 'servfail') return answer;
  return { ...EMPTY_ANSWER, authoritative: true, rcode: RCODE.SERVFAIL, authorities: [unlisted] };
}
