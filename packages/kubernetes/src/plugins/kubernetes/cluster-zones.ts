/**
 * The zones of a `kubernetes` in a Corefile. Names are derived from the cluster's objects, in several zones, with rules for
 * namespaces and fall through.
 */
import { isWithin, labelsBelow, toKey } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, type Question, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { lookUp, type ZoneAnswer } from '@portolan/kernel/zone/lookup.ts';
import type { NameSource } from '@portolan/kernel/zone/node.ts';
import { negativeSoa, type Zone } from '@portolan/kernel/zone/zone.ts';
import type { TransferableZone } from '@portolan/plugins/transfer/transfer-source.ts';
import type { Cluster } from '../../publish/cluster.ts';
import { askOutside } from './ask-outside.ts';
import { denyWhileUnknown, type ExistenceRules, toExistingAnswer } from './existence.ts';
import { isReverse } from './followed-cluster.ts';
import { answerWhileUnknown, markStale, namesForQuery, toAnswer, visibleNames } from './kubernetes.ts';
import type { KubernetesOptions } from './options.ts';
import { TransferredZone } from './transferred-zone.ts';
import { translateZone, type ZoneTranslation } from './zone-translation.ts';

export interface ClusterZonesOptions {
  readonly options: KubernetesOptions;
  readonly cluster: Cluster;
  /** The domain that the names of the cluster are derived for. */
  readonly domain: NameKey;
  /** The whole server: for aliases that leave the zones. */
  readonly chain: Chain;
  /** The deviations in which answers are those of CoreDNS. Default: none. */
  readonly restored?: RestoredDeviations;
}

interface TranslatedZone extends ZoneTranslation {
  readonly apex: NameKey;
}

const NO_NAMES: NameSource = { find: () => undefined };
/** Maximum length of an alias chain that is followed for one question. */
const MAX_ALIASES = 8;

export class ClusterZones {
  readonly #cluster: Cluster;
  readonly #domain: NameKey;
  readonly #chain: Chain;
  /** The longest first. */
  readonly #zones: readonly TranslatedZone[];
  readonly #ttl: number;
  readonly #namespaces: ReadonlySet<string>;
  readonly #selectsNamespaces: boolean;
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #existence: ExistenceRules;
  /** Whether names fall through before the cluster was listed. */
  readonly #passesUnlisted: boolean;
  /** Whether SERVFAIL before the cluster was listed has the form of a denial. */
  readonly #deniesUnlisted: boolean;
  /** Whether the addresses of name servers have no TTL in a transferred zone. */
  readonly #transfersWithoutTtls: boolean;

  constructor({ options, cluster, domain, chain, restored = NOTHING_RESTORED }: ClusterZonesOptions) {
    this.#cluster = cluster;
    this.#domain = domain;
    this.#chain = chain;
    this.#ttl = options.ttl;
    this.#namespaces = new Set(options.namespaces);
    this.#selectsNamespaces = options.namespaceLabels !== undefined;
    this.#fallthrough = new Set(options.fallthrough);
    this.#existence = {
      bySubtree: !restored.has('name-exists'),
      ofAllTypes: !restored.has('type-has-no-say'),
    };
    this.#passesUnlisted = restored.has('unreached-cluster');
    this.#deniesUnlisted = restored.has('not-listed-yet');
    this.#transfersWithoutTtls = restored.has('transferred-ttls');
    const { apexes } = cluster.names;
    this.#zones = options.zones
      .map((apex) => ({ apex, ...translateZone(apex, apexes.includes(apex) ? apex : domain) }))
      .sort((one, other) => other.apex.length - one.apex.length);
  }

  async handle(query: Query, next: Next): Promise<Answer> {
    const zone = this.#zones.find(({ apex }) => isWithin(query.key, apex));
    if (zone === undefined) return next(query);
    const { type } = query.question;
    if (type === TYPE.AXFR || type === TYPE.IXFR) return { kind: 'refused' };
    const answer = await this.#answer(zone, query, query.question, 0);
    const isMissing =
      answer.kind === 'nxdomain' ||
      (answer.kind === 'nodata' && this.#existence.bySubtree && this.#isOnlyAbove(zone, query)) ||
      (this.#passesUnlisted && !this.#cluster.isKnown && isFailure(answer));
    return isMissing && isWithinAny(query.key, this.#fallthrough) ? next(query) : answer;
  }

  /**
   * A zone with the names of services, for transfers; undefined: none has this origin, the cluster is not listed, or the client does not
   * see all of it.
   *
   * @param client its address
   */
  zoneAt(origin: NameKey, client: string): TransferableZone | undefined {
    const zone = this.#zones.find(({ apex }) => apex === origin);
    if (zone === undefined || isReverse(origin) || !this.#cluster.isKnown) return undefined;
    if (this.#cluster.tenants?.findSight(client) !== undefined) return undefined;
    const { names, contents } = this.#cluster;
    const own = names.findZone(toKey(zone.toCluster(origin)));
    if (own === undefined) return undefined;
    const found = lookUp(names, own, { name: own.apex, type: TYPE.NS, class: CLASS.IN });
    const { records = [], additionals = [] } = found.kind === 'records' ? found : {};
    // CoreDNS gives these addresses without a TTL here.
    const servers = [
      ...records,
      ...additionals.map((each) => (this.#transfersWithoutTtls ? { ...each, ttl: 0 } : each)),
    ];
    const [soa] = zone.fromCluster([negativeSoa(own)]);
    const isShown = (namespace: string) => this.#isExposed(namespace);
    const parts = { apex: origin, ttl: this.#ttl, contents, isShown };
    const transferred = new TransferredZone({ ...parts, nameServers: zone.fromCluster(servers) });
    const take = () => {
      this.#cluster.noteTransfer();
      return transferred.records();
    };
    return { soa, serial: own.soa.serial, records: take };
  }

  async #answer(zone: TranslatedZone, query: Query, question: Question, aliases: number): Promise<Answer> {
    const asked = { ...question, name: zone.toCluster(question.name) };
    const key = toKey(asked.name);
    const { names } = this.#cluster;
    const own = names.findZone(key);
    if (own === undefined) return { kind: 'servfail' };
    if (!this.#cluster.isKnown) return this.#answerWhileUnknown(zone, own, query.about(asked));
    const looked = this.#isHidden(key)
      ? lookUp(NO_NAMES, own, asked)
      : this.#withoutHidden(lookUp(namesForQuery(this.#cluster, query), own, asked), own, asked);
    const { type } = asked;
    const found = toExistingAnswer(looked, { zone: own, key, type, domain: this.#domain }, this.#existence);
    if (found.kind === 'alias') return this.#follow(zone, query, question, found, aliases);
    return this.#present(zone, markStale(toAnswer(found), this.#cluster.isStale(key)));
  }

  #answerWhileUnknown({ fromCluster }: TranslatedZone, own: Zone, query: Query): Answer {
    const answer = answerWhileUnknown(visibleNames(this.#cluster, query), query);
    const [soa] = this.#deniesUnlisted ? fromCluster([negativeSoa(own)]) : [];
    return soa === undefined ? answer : denyWhileUnknown(answer, soa);
  }

  /**
   * Whether a name of the reverse tree exists only because of names below it: others may know it. SOA is not asked of them, as in
   * CoreDNS: the zone is ours.
   */
  #isOnlyAbove({ toCluster }: TranslatedZone, query: Query): boolean {
    const { question } = query;
    if (question.type === TYPE.SOA) return false;
    const key = toKey(toCluster(question.name));
    if (isWithin(key, this.#domain)) return false;
    return visibleNames(this.#cluster, query).findStanding(key) === undefined;
  }

  #isHidden(key: NameKey): boolean {
    if (!isWithin(key, this.#domain)) return false;
    const [namespace, kind] = labelsBelow(key, this.#domain).slice(-2);
    return (kind === 'svc' || kind === 'pod') && namespace !== undefined && !this.#isExposed(namespace);
  }

  #isExposed(namespace: string): boolean {
    if (this.#selectsNamespaces) return this.#cluster.hasNamespace(namespace);
    return this.#namespaces.size === 0 || this.#namespaces.has(namespace);
  }

  /** Removes pointers to names in hidden namespaces, and a name server without an address. */
  #withoutHidden(answer: ZoneAnswer, zone: Zone, asked: Question): ZoneAnswer {
    if (answer.kind !== 'records') return answer;
    const isShown = ({ data }: ResourceRecord) => {
      if (data.kind === 'NS') return answer.additionals.length > 0;
      if (data.kind !== 'PTR' || this.#namespaces.size === 0) return true;
      const namespace = labelsBelow(data.target, this.#domain).at(-2);
      return namespace !== undefined && this.#namespaces.has(namespace);
    };
    const records = answer.records.filter(isShown);
    if (records.length > 0) return { ...answer, records };
    return asked.type === TYPE.NS
      ? { kind: 'nodata', soa: negativeSoa(zone) }
      : lookUp(NO_NAMES, zone, asked);
  }

  async #follow(
    zone: TranslatedZone,
    query: Query,
    question: Question,
    { records, target, soa }: Extract<ZoneAnswer, { kind: 'alias' }>,
    aliases: number,
  ): Promise<Answer> {
    const own = zone.fromCluster(records);
    const further = { ...question, name: target };
    if (!isWithin(toKey(target), zone.apex)) {
      const { answers = [], truncated = false } = await askOutside(this.#chain, query, further);
      const records = [...own, ...answers];
      return { kind: 'records', records, additionals: [], authoritative: true, truncated };
    }
    const end = aliases < MAX_ALIASES ? await this.#answer(zone, query, further, aliases + 1) : undefined;
    if (end?.kind === 'records') return { ...end, records: [...own, ...end.records] };
    // Inside the zone an alias is shown only together with an answer.
    return this.#present(zone, { kind: 'nodata', aliases: [], soa, authoritative: true });
  }

  #present({ fromCluster }: TranslatedZone, answer: Answer): Answer {
    if (answer.kind === 'records')
      return {
        ...answer,
        records: fromCluster(answer.records),
        additionals: fromCluster(answer.additionals),
      };
    if ((answer.kind === 'nodata' || answer.kind === 'nxdomain') && answer.soa !== undefined)
      return { ...answer, soa: fromCluster([answer.soa])[0] };
    return answer;
  }
}

function isFailure(answer: Answer): boolean {
  return answer.kind === 'servfail' || (answer.kind === 'message' && answer.rcode === RCODE.SERVFAIL);
}
