/**
 * Answers for services of a cluster at the addresses that clients outside it reach.
 */
import { addressOfReverseName } from '@portolan/dns/address.ts';
import { isWithin } from '@portolan/dns/name.ts';
import { type NameKey, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { ChangeNotices } from '@portolan/plugins/transfer/change-notices.ts';
import type { TransferableZone, TransferSource } from '@portolan/plugins/transfer/transfer-source.ts';
import { askOutside } from '../kubernetes/ask-outside.ts';
import { type ExposedCluster, Kubernetes } from '../kubernetes/kubernetes-plugin.ts';
import {
  addressRecords,
  aliasRecords,
  type ExternalTtls,
  makeRecord,
  nameIn,
  serviceRecords,
} from './external-records.ts';
import { answerWith, ExternalZone } from './external-zone.ts';
import type { K8sExternalOptions } from './options.ts';
import { type ReachedPort, ServiceFinder } from './reached-services.ts';

export interface K8sExternalDependencies extends Pick<PluginContext, 'find'> {
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
  readonly clock: Clock;
  /** The whole server, for names of load balancers. */
  readonly chain: Chain;
  /** Called for each zone when it has changed, at most once in 5 s. */
  readonly onChange: (zone: NameKey) => void;
}

/** The names of external zones, once their cluster is found. */
interface RunningZones {
  readonly exposed: ExposedCluster;
  readonly finder: ServiceFinder;
  readonly ttls: ExternalTtls;
  /** The longest first. */
  readonly zones: readonly ExternalZone[];
}

export class K8sExternal implements Plugin, TransferSource {
  readonly handler: Handler;
  readonly #options: K8sExternalOptions;
  readonly #dependencies: K8sExternalDependencies;
  readonly #fallthrough: ReadonlySet<NameKey>;
  /** Whether names are denied before services are listed. */
  readonly #deniesUnlisted: boolean;
  readonly #showsAllAliases: boolean;
  #running: RunningZones | undefined;
  readonly #notices: ChangeNotices;
  #unfollow: () => void = () => {};

  constructor(options: K8sExternalOptions, dependencies: K8sExternalDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#fallthrough = new Set(options.fallthrough);
    this.#deniesUnlisted = dependencies.restored.has('external-unlisted');
    this.#showsAllAliases = dependencies.restored.has('external-aliases');
    this.#notices = new ChangeNotices(dependencies.clock, () => {
      for (const zone of options.zones) dependencies.onChange(zone);
    });
    this.handler = {
      name: 'k8s_external',
      role: 'other',
      questions: namesWithin(new Set(options.zones)),
      answers: 'unchanged',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** @throws Error if the block has no `kubernetes` */
  start(): void {
    const kubernetes = this.#dependencies.find(Kubernetes);
    if (kubernetes === undefined) throw new Error('plugin/k8s_external: kubernetes plugin not loaded');
    const { exposed } = kubernetes;
    if (exposed === undefined) throw new TypeError('kubernetes was made without k8s_external');
    const { zones, ttl, hasEndpoints } = this.#options;
    const finder = new ServiceFinder(exposed, hasEndpoints);
    const ttls = { own: ttl, cluster: exposed.ttl };
    const serial = () => this.#serial(exposed);
    const parts = { options: this.#options, ttls, exposed, finder, serial };
    const made = zones.map((zone) => new ExternalZone(zone, parts));
    made.sort((one, other) => other.origin.length - one.origin.length);
    this.#running = { exposed, finder, ttls, zones: made };
    this.#unfollow = exposed.services.onChange(() => this.#notices.changed());
  }

  stop(): void {
    this.#unfollow();
    this.#notices.stop();
  }

  origins(): Iterable<NameKey> {
    return this.#options.zones;
  }

  zoneAt(origin: NameKey): TransferableZone | undefined {
    const running = this.#running;
    const zone = running?.zones.find((each) => each.origin === origin);
    if (running === undefined || zone === undefined || !running.exposed.cluster.isKnown) return undefined;
    const { soa } = zone;
    const serial = soa.data.kind === 'SOA' ? soa.data.serial : undefined;
    return { soa, serial, records: () => zone.records() };
  }

  /** CoreDNS counts only changes after the first list. */
  #serial({ services }: ExposedCluster): number {
    const isOfCoreDns = this.#dependencies.restored.has('external-serial');
    return isOfCoreDns ? services.changed : services.serial(this.#options.hasEndpoints);
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    const zone = this.#running?.zones.find(({ origin }) => isWithin(query.key, origin));
    if (this.#running === undefined || zone === undefined) return next(query);
    // The answer depends on data that is in no publication.
    query.forbidStoring();
    const own = zone.answerOwn(query.key, query.question);
    if (own !== undefined) return own;
    const { type } = query.question;
    const address = type === TYPE.PTR ? addressOfReverseName(query.key) : undefined;
    const answer =
      address === undefined
        ? await this.#answer(this.#running, zone, query)
        : this.#answerPointer(this.#running, zone, query, address);
    if (answer.kind !== 'nxdomain') return answer;
    if (!this.#deniesUnlisted && !this.#running.exposed.cluster.isKnown) return { kind: 'servfail' };
    return isWithinAny(query.key, this.#fallthrough) ? next(query) : answer;
  }

  #answerPointer(
    { finder, ttls }: RunningZones,
    zone: ExternalZone,
    { question }: Query,
    address: string,
  ): Answer {
    const services = finder.at(address);
    const [first = zone.origin] = this.#options.zones;
    const records = services.flatMap(({ namespace, name }): readonly ResourceRecord[] => {
      const target = finder.isShown(namespace) ? nameIn(`${name}.${namespace}`, first) : undefined;
      return target === undefined ? [] : [makeRecord(question.name, ttls.own, { kind: 'PTR', target })];
    });
    if (records.length > 0) return answerWith(records);
    return zone.denial(services.length > 0 ? 'nodata' : 'nxdomain');
  }

  async #answer({ finder, ttls }: RunningZones, zone: ExternalZone, query: Query): Promise<Answer> {
    const { question } = query;
    const { chain } = this.#dependencies;
    const found = finder.find(zone.listRelativeLabels(query.key));
    if (found.kind !== 'found') return zone.denial(found.kind === 'empty' ? 'nodata' : 'nxdomain');
    const { ports } = found;
    switch (question.type) {
      case TYPE.A:
      case TYPE.AAAA: {
        const { records, truncated } = await this.#addresses(query, ports, ttls);
        return records.length === 0 ? zone.denial('nodata') : answerWith(records, [], truncated);
      }
      case TYPE.SRV: {
        const made = serviceRecords(question.name, zone.origin, ports, ttls);
        if (made.records.length === 0) return zone.denial('nodata');
        const outside = made.outside.flatMap((name) =>
          [TYPE.A, TYPE.AAAA].map((type) => askOutside(chain, query, { ...question, name, type })),
        );
        const addresses = (await Promise.all(outside)).flatMap(({ answers = [] }) => answers);
        return answerWith(made.records, [...made.additionals, ...addresses]);
      }
      default:
        return zone.denial('nodata');
    }
  }

  async #addresses(
    query: Query,
    ports: readonly ReachedPort[],
    ttls: ExternalTtls,
  ): Promise<{ readonly records: readonly ResourceRecord[]; readonly truncated: boolean }> {
    const { question } = query;
    const { chain } = this.#dependencies;
    const kind = question.type === TYPE.A ? 'A' : 'AAAA';
    const aliases = aliasRecords(question.name, ports, ttls, this.#showsAllAliases);
    const replies = await Promise.all(
      aliases.map(({ data }) => askOutside(chain, query, { ...question, name: data.target })),
    );
    const own = addressRecords(question.name, ports, kind, ttls);
    return {
      records: [...own, ...aliases, ...replies.flatMap(({ answers = [] }) => answers)],
      truncated: replies.some(({ truncated }) => truncated === true),
    };
  }
}
