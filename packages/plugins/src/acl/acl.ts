/**
 * Allows or rejects queries by zone, type and the client's address.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRanges } from '@portolan/dns/address-range.ts';
import { EXTENDED_ERROR, extendedError } from '@portolan/dns/extended-error.ts';
import { findClosest } from '@portolan/dns/name.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { CountFamily } from '@portolan/kernel/chain/handler-counts.ts';
import { isWithinAny, type Match, type Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import type { AclOptions, AclPolicy, AclRule } from './options.ts';

interface CompiledRule {
  readonly zones: ReadonlySet<NameKey>;
  readonly policies: readonly CompiledPolicy[];
  /** The types of its policies that reject queries. */
  readonly types: Match['types'];
}

interface CompiledPolicy {
  readonly action: AclPolicy['action'];
  readonly types: Match['types'];
  readonly isClient: AddressMatch | 'all';
}

/** The first rule for the name that has a policy for the query decides. */
export class Acl implements Plugin {
  readonly handler: Handler;
  readonly #rules: readonly CompiledRule[];
  readonly #families: ReturnType<typeof createFamilies>;

  constructor(options: AclOptions, metrics: MetricRegistry) {
    const rules = options.rules.map(compileRule);
    this.#rules = rules;
    this.#families = createFamilies(metrics);
    const allowed = this.#families.allow.with();
    this.handler = {
      name: 'acl',
      role: 'other',
      answers: 'unchanged',
      questions: compileQuestions(rules),
      passing: [allowed],
      handle: (query, next) => {
        const rejection = this.reject(query);
        if (rejection !== undefined) return rejection;
        query.count(allowed);
        return next(query);
      },
    };
  }

  /** What is answered instead of a query, which it counts; undefined: the query is allowed. */
  reject(query: Query): Answer | undefined {
    const { action, zone } = decide(query, this.#rules);
    if (action === 'allow') return undefined;
    query.count(this.#families[action].with({ zone }));
    return responseTo(action);
  }
}

function compileRule({ zones, policies }: AclRule): CompiledRule {
  const compiled = policies.map(compilePolicy);
  const strict = compiled.filter(({ action }) => action !== 'allow').map(({ types }) => types);
  const isAll = strict.includes('all');
  const types = isAll ? 'all' : new Set(strict.flatMap((some) => (some === 'all' ? [] : [...some])));
  return { zones: new Set(zones), policies: compiled, types };
}

function compilePolicy({ action, types, clients }: AclPolicy): CompiledPolicy {
  return {
    action,
    types: types === 'all' ? 'all' : new Set(types),
    isClient: clients === 'all' ? 'all' : matchRanges(clients),
  };
}

function compileQuestions(rules: readonly CompiledRule[]): Questions {
  const strict = rules.filter(({ types }) => types === 'all' || types.size > 0);
  return {
    includes: (name, type) =>
      strict.some(({ zones, types }) => hasType(types, type) && isWithinAny(name, zones)),
    *matches() {
      for (const { zones, types } of strict)
        for (const name of zones) yield { name: { kind: 'suffix', name }, types };
    },
  };
}

const hasType = (types: Match['types'], type: number): boolean => types === 'all' || types.has(type);

interface AclDecision {
  readonly action: AclPolicy['action'];
  /** The zone of the rule, for metrics. */
  readonly zone: string;
}

function decide(query: Query, rules: readonly CompiledRule[]): AclDecision {
  const { type } = query.question;
  for (const { zones, policies } of rules) {
    const zone = findClosest(query.key, (at) => (zones.has(at) ? at : undefined));
    if (zone === undefined) continue;
    const policy = policies.find(({ types, isClient }) => hasType(types, type) && isFrom(query, isClient));
    if (policy !== undefined) return { action: policy.action, zone };
  }
  return { action: 'allow', zone: '' };
}

function createFamilies(metrics: MetricRegistry): Readonly<Record<AclPolicy['action'], CountFamily>> {
  const family = (what: string, ...labels: readonly string[]) =>
    new CountFamily(metrics, `coredns_acl_${what}_requests_total`, `Counter of DNS requests being ${what}.`, [
      'server',
      ...labels,
      'view',
    ]);
  return {
    allow: family('allowed'),
    block: family('blocked', 'zone'),
    filter: family('filtered', 'zone'),
    drop: family('dropped', 'zone'),
  };
}

function isFrom(query: Query, isClient: CompiledPolicy['isClient']): boolean {
  if (isClient === 'all') return true;
  const octets = parseAddress(withoutZone(query.dependOnClient().address));
  return octets !== undefined && isClient(octets);
}

/** `fe80::1%eth0` as `fe80::1`. */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? address;
}

function responseTo(action: AclPolicy['action']): Answer | undefined {
  if (action === 'drop') return { kind: 'drop' };
  if (action === 'block') return refusal(RCODE.REFUSED, EXTENDED_ERROR.BLOCKED);
  return action === 'filter' ? refusal(RCODE.NOERROR, EXTENDED_ERROR.FILTERED) : undefined;
}

/** As CoreDNS sends it: the extended error also goes to clients that sent no OPT record. */
function refusal(rcode: number, reason: number): Answer {
  return {
    ...EMPTY_ANSWER,
    rcode,
    edns: { udpSize: 4096, dnssecOk: true, options: [extendedError(reason)] },
  };
}
