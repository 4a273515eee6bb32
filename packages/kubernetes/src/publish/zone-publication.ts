/**
 * The zones of a cluster in the table: their settings and own names, and how the names of the cluster are composed.
 */
import { encodeName, isWithin } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { ClusterBlock } from '@portolan/kernel/records/cluster-block.ts';
import type { RecordSpace } from '@portolan/kernel/table/record-space.ts';
import type { PublicationId, ZoneId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { NOTHING, Publisher, type Standing } from '@portolan/kernel/zone/publish.ts';
import { toZoneSettings, type Zone } from '@portolan/kernel/zone/zone.ts';
import { OUTCOME } from '../names/outcomes.ts';
import type { ClusterModel } from './model.ts';

interface PublishedZone {
  readonly apex: NameKey;
  readonly id: ZoneId;
  standing: Standing;
}

export interface ZonePublicationSettings {
  readonly publication: PublicationId;
  /** Types that are left out. */
  readonly filteredTypes: ReadonlySet<number>;
  /** The octet of the block that says where clients are, 0 for none. */
  readonly places: () => number;
}

export class ZonePublication {
  readonly #settings: ZonePublicationSettings;
  readonly #model: ClusterModel;
  readonly #table: TableWriter;
  readonly #publisher: Publisher;
  readonly #guard: ItemGuard;
  readonly #zones: readonly PublishedZone[];
  readonly #cluster: ClusterBlock;

  constructor(
    model: ClusterModel,
    { table, space }: { readonly table: TableWriter; readonly space: RecordSpace },
    { clock, log }: { readonly clock: Clock; readonly log: Log },
    settings: ZonePublicationSettings,
  ) {
    this.#settings = settings;
    this.#model = model;
    this.#table = table;
    this.#publisher = new Publisher(table, log, settings.filteredTypes);
    this.#guard = new ItemGuard({
      source: 'kubernetes',
      clock,
      log,
      report: ({ item, problem, error }) =>
        log.error('names not published', {
          of: item,
          reason: error instanceof Error ? (error.stack ?? problem) : problem,
        }),
    });
    this.#zones = model.zones.map((zone) => ({
      apex: zone.apex,
      id: table.defineZone(this.#zoneSettings(zone, false), settings.publication),
      standing: NOTHING,
    }));
    this.#publishOwnNodes();
    this.#cluster = new ClusterBlock(space);
    this.showCluster();
  }

  /** Call it after each change: cached answers that were derived from the cluster are given no more. */
  objectsChanged(): void {
    this.#table.publicationChanged(this.#settings.publication);
  }

  /** Publishes the zones themselves, after the model has remade them. */
  publishZones(known: boolean): void {
    this.#guard.take(
      () => 'the zones',
      () => {
        for (const [index, zone] of this.#model.zones.entries()) {
          const published = this.#zones[index];
          if (published !== undefined) this.#table.changeZone(published.id, this.#zoneSettings(zone, known));
        }
        this.#publishOwnNodes();
      },
    );
    this.objectsChanged();
    this.#table.collect();
  }

  /** Shows readers how the names of the cluster are composed, after a change of the model. */
  showCluster(): void {
    const [own, ...others] = this.#zones;
    if (own === undefined) return;
    const { dialect, ttl, pods, ignoresEmptyServices, domain } = this.#model.options;
    this.#cluster.show({
      domain: encodeName(domain),
      zone: own.id,
      reverseZones: others.map(({ apex, id }) => ({ apex: encodeName(apex), zone: id })),
      ttl,
      pods,
      ignoresEmptyServices,
      isKubeDns: dialect.name === 'kube-dns',
      usesNamespaces: dialect.usesNamespaces,
      selectsByZone: this.#model.options.zones !== undefined,
      hasHttpsRecords: this.#model.options.hasHttpsRecords,
      hasClusterLabels: this.#model.options.clusterLabels !== undefined,
      areEndpointsKnown: this.#model.derived.areEndpointsKnown,
      filteredTypes: this.#settings.filteredTypes,
      outcomes: OUTCOME.zone,
      places: this.#settings.places(),
    });
  }

  /** Shows nothing any more. */
  hide(): void {
    this.#cluster.hide();
  }

  #zoneSettings(zone: Zone, known: boolean) {
    const { dialect, domain } = this.#model.options;
    const askWildcards = dialect.hasWildcards && zone.apex === domain;
    // Upstreams may know other names of the reverse tree.
    const any = zone.apex === domain ? dialect.anyQuestions : 'ask';
    return toZoneSettings(zone, { known, askWildcards, any });
  }

  #publishOwnNodes(): void {
    const nodes = [...this.#model.ownNodes.values()];
    for (const zone of this.#zones) {
      const own = nodes.filter(({ name }) => this.#zones.find(({ apex }) => isWithin(name, apex)) === zone);
      zone.standing = this.#publisher.replace(zone.standing, zone.id, own);
    }
  }
}
