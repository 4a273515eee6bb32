/**
 * Answers for services in a federation. The answer is the service of this cluster if it has endpoints, else the federation's name
 * for it in our zone and region. Both are aliases, which are followed.
 */
import { parseName, toParent, tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Questions } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { lookUp } from '@portolan/kernel/zone/lookup.ts';
import { negativeSoa, type Zone } from '@portolan/kernel/zone/zone.ts';
import { federationNode } from '../../dialects/kube-dns/derive.ts';
import type { ClusterPlace } from '../../objects/node-places.ts';
import type { KubernetesNames } from '../../publish/names.ts';
import { type ClusterSource, namesForQuery, toAnswer, visibleNames } from '../kubernetes/kubernetes.ts';
import { type FederatedService, readFederatedName } from './federation-names.ts';

/** A federation that the cluster belongs to, as kube-dns knows it: clusters that offer services under the same names. */
export interface Federation {
  /** One label in lower case: the third of `service.namespace.federation.svc.domain`. */
  readonly name: string;
  /** The domain with the names of services of all its clusters. */
  readonly domain: NameKey;
}

/** The current federations. */
export interface FederationSource {
  /** The cluster's domain. */
  readonly domain: NameKey;
  /** The domain of a federation, if the cluster belongs to it. */
  findDomain(federation: string): NameKey | undefined;
  readonly place: ClusterPlace;
  /** The names of all federations, and all below them. */
  readonly questions: Questions;
}

export interface FederationOptions {
  readonly federations: FederationSource;
  readonly cluster: ClusterSource;
  readonly clock: Clock;
  readonly log: Log;
}

export function createFederationHandler(options: FederationOptions): Handler {
  const { federations, cluster, clock, log } = options;
  const { domain } = federations;
  const { names } = cluster;
  const warnings = new RateLimitedWarnings(log, clock);
  const handle: Handler['handle'] = (query, next) => {
    const asked = readFederatedName(query.key, domain);
    const federation = asked && federations.findDomain(asked.federation);
    const zone = names.findZone(query.key);
    if (asked === undefined || federation === undefined || zone === undefined) return next(query);
    const visible = visibleNames(cluster, query);
    if (isOfCluster(visible, query.key)) return next(query);
    if (!cluster.isKnown) return { kind: 'servfail' };
    if (visible.isServed(asked.namespace, asked.service))
      return answerWith(parseName(`${asked.service}.${asked.namespace}.svc.${domain}`), query, zone, cluster);
    // The answer depends on nodes, which publications do not contain.
    query.forbidStoring();
    const { place } = federations;
    if (place.kind === 'unknown') return { kind: 'servfail' };
    const target = place.kind === 'place' ? nameIn(asked, place, federation) : undefined;
    if (target !== undefined) return answerWith(target, query, zone, cluster);
    const remedy = 'Label a node with topology.kubernetes.io/zone and region.';
    warnings.warn('federation: zone and region of this cluster unknown', { name: query.key, remedy });
    return { kind: 'nodata', aliases: [], soa: negativeSoa(zone), authoritative: true };
  };
  return {
    name: 'federation',
    role: 'other',
    answers: 'unchanged',
    // A getter: the questions change with the federations.
    get questions() {
      return federations.questions;
    },
    handle,
  };
}

/** A namespace may have the name of a federation: its names, and all names below them, take precedence. */
function isOfCluster(names: KubernetesNames, name: NameKey): boolean {
  const above = toParent(name);
  return [name, above].some((one) => one !== undefined && names.findStanding(one) !== undefined);
}

/** `service.namespace.federation.svc.ZONE.REGION.DOMAIN`, if that is a valid name. */
function nameIn(
  { service, namespace, federation }: FederatedService,
  { zone, region }: Extract<ClusterPlace, { kind: 'place' }>,
  domain: NameKey,
): AbsoluteName | undefined {
  return tryParseName(`${service}.${namespace}.${federation}.svc.${zone}.${region}.${domain}`);
}

function answerWith(target: AbsoluteName, query: Query, zone: Zone, cluster: ClusterSource): Answer {
  const { key, question } = query;
  const node = federationNode(key, target);
  const names = namesForQuery(cluster, query);
  const source = { find: (name: NameKey) => (name === key ? node : names.find(name)) };
  return toAnswer(lookUp(source, zone, question));
}
