/**
 * Answers for the names of the cluster, from its objects.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS, type Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { ClientQuery } from '@portolan/kernel/contract/name-owner.ts';
import { DEFAULT_PUBLICATION } from '@portolan/kernel/table/types.ts';
import { lookUp, type ZoneAnswer } from '@portolan/kernel/zone/lookup.ts';
import { findRecordSet, type NameSource } from '@portolan/kernel/zone/node.ts';
import { toRecords } from '@portolan/kernel/zone/record-set.ts';
import type { KubernetesNames } from '../../publish/names.ts';
import type { Tenants } from '../../publish/tenants.ts';

export interface ClusterSource {
  readonly names: KubernetesNames;
  /** Whether the zones may deny names. */
  readonly isKnown: boolean;
  /** Whether the source of a name has lost it. */
  isStale(name: NameKey): boolean;
  /** Decides which clients see which names; undefined: all see all. */
  readonly tenants?: Tenants | undefined;
  /** The names as a client at an address sees them. @param findAddress called only if they depend on it */
  namesFor(findAddress: () => string): NameSource;
  /** As `namesFor`, with all endpoints of services. */
  visibleNames(findAddress: () => string): KubernetesNames;
}

/** The names as the client of a query sees them. An answer that depends on the client is neither stored nor cached. */
export function namesForQuery(cluster: Pick<ClusterSource, 'namesFor'>, query: Query): NameSource {
  return cluster.namesFor(() => findClient(query));
}

/** As `namesForQuery`, with all endpoints of services. */
export function visibleNames(
  cluster: Pick<ClusterSource, 'visibleNames'>,
  query: ClientQuery,
): KubernetesNames {
  return cluster.visibleNames(() => findClient(query));
}

function findClient(query: ClientQuery): string {
  query.forbidCaching();
  return query.dependOnClient().address;
}

/** @param exceptions names in the zones that the handlers behind answer. Default: none */
export function createKubernetesHandler(
  cluster: ClusterSource,
  exceptions: Questions = NO_QUESTIONS,
): Handler {
  const { names } = cluster;
  const handle: Handler['handle'] = async (query, next) => {
    const zone = names.findZone(query.key);
    if (zone === undefined || exceptions.includes(query.key, query.question.type)) return next(query);
    const visible = visibleNames(cluster, query);
    if (!cluster.isKnown) return answerWhileUnknown(visible, query);
    const found = toAnswer(lookUp(namesForQuery(cluster, query), zone, query.question));
    const answer = markStale(found, cluster.isStale(query.key));
    if (!visible.mayBelongToOthers(zone, query.key)) return answer;
    const other = await next(query);
    return other.kind === 'refused' && names.ownsAll(zone) ? answer : other;
  };
  const parts = {
    name: 'kubernetes',
    explainedBy: 'cluster',
    answers: 'unchanged',
    questions: {
      includes: (name) => names.findZone(name) !== undefined,
      matches: () => names.apexes.map((name) => ({ name: { kind: 'suffix', name }, types: 'all' })),
    },
    handle,
  } satisfies Omit<Handler, 'role'>;
  // Readers do not know which names a client sees.
  if (cluster.tenants !== undefined) return { ...parts, role: 'other' };
  // The zones of a cluster are in the table's first publication.
  return { ...parts, role: 'publisher', publication: DEFAULT_PUBLICATION, unpublished: exceptions };
}

/** Answers only for names that are known to exist. */
export function answerWhileUnknown(names: KubernetesNames, { key, question }: Query): Answer {
  const node = names.findStanding(key);
  const set = node && findRecordSet(node, question.type);
  if (set === undefined || set.additional === 'elsewhere')
    return { kind: 'servfail', extendedError: EXTENDED_ERROR.NOT_READY };
  const additionals = set.additional.flatMap((named) => toRecords(named.name, named.set));
  return { kind: 'records', records: toRecords(question.name, set), additionals, authoritative: true };
}

/** @param isStale whether the answer is from names that their source has lost */
export function markStale(answer: Answer, isStale: boolean): Answer {
  if (!isStale || answer.kind !== 'records') return answer;
  return { ...answer, extendedError: EXTENDED_ERROR.STALE_ANSWER };
}

export function toAnswer(answer: ZoneAnswer): Answer {
  switch (answer.kind) {
    case 'records':
    case 'alias':
      return { ...answer, authoritative: true };
    case 'nodata':
      return { ...answer, aliases: [], authoritative: true };
    case 'nxdomain':
      return { ...answer, aliases: [] };
  }
}
