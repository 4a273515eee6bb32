/**
 * The two sets of rules for answers from keys.
 */
import { isWithin, parseKey } from '@portolan/dns/name.ts';
import { type AbsoluteName, type NameKey, TYPE } from '@portolan/dns/types.ts';
import type { ServiceRules } from '../names/services.ts';
import { answerAsCoreDns, type CoreDnsRules } from './coredns-rules.ts';
import type { Evaluation, ServiceAnswer } from './evaluation.ts';
import { answerAsSkyDns, answerReverseAsSkyDns } from './skydns-rules.ts';

export interface ZoneRules extends ServiceRules {
  /** @param question within the zone; any type except SOA */
  answer(evaluation: Evaluation, zone: NameKey, question: QuestionOfRules): ServiceAnswer;
}

export interface QuestionOfRules {
  readonly name: AbsoluteName;
  readonly type: number;
}

export interface CoreDnsSettings extends CoreDnsRules {
  /** Seconds. */
  readonly minLease: number;
  readonly maxLease: number;
}

export interface SkyDnsDefaults {
  /** Seconds, for records without a TTL. */
  readonly ttl: number;
  readonly priority: number;
}

const COREDNS_TTL = 300;
const DEFAULT_PRIORITY = 10;
const REVERSE_ZONES = ['in-addr.arpa.', 'ip6.arpa.'].map(parseKey);

export function makeCoreDnsRules({ minLease, maxLease, ...rules }: CoreDnsSettings): ZoneRules {
  return {
    ttls: { defaultTtl: COREDNS_TTL, defaultPriority: DEFAULT_PRIORITY, minLease, maxLease },
    skipsBadValues: false,
    answer: (evaluation, zone, question) => answerAsCoreDns(evaluation, zone, question, rules),
  };
}

export function makeSkyDnsRules({ ttl, priority }: SkyDnsDefaults): ZoneRules {
  return {
    ttls: { defaultTtl: ttl, defaultPriority: priority, minLease: 1, maxLease: 2 ** 31 - 1 },
    skipsBadValues: true,
    answer: (evaluation, zone, question) =>
      isReverseZone(zone)
        ? question.type === TYPE.PTR
          ? answerReverseAsSkyDns(evaluation, question)
          : { kind: 'nxdomain' }
        : answerAsSkyDns(evaluation, zone, question, { ttl }),
  };
}

/** Whether a zone is a reverse zone. */
export function isReverseZone(zone: NameKey): boolean {
  return REVERSE_ZONES.some((reverse) => isWithin(zone, reverse));
}
