/**
 * The zones that catalog zones list: fetched, reset, moved between catalogs and dropped as the catalogs change (RFC 9432).
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { isWithinAny } from '@portolan/kernel/chain/match.ts';
import { type CatalogMember, readCatalog } from './catalog.ts';
import type { FetchedZone, FollowedZone } from './followed-zone.ts';
import type { SecondaryZone } from './options.ts';

export interface CatalogMembersOptions {
  /** The zones that the Corefile names: no catalog takes them over. */
  readonly isNamed: (zone: NameKey) => boolean;
  /** What a zone of the former plan has fetched. */
  readonly formerAt: (zone: NameKey) => FetchedZone | undefined;
  readonly makeZone: (plan: SecondaryZone, fetched: FetchedZone | undefined) => FollowedZone;
  readonly log: Log;
}

interface Member {
  readonly catalog: NameKey;
  readonly id: string;
  readonly zone: FollowedZone;
}

type Catalog = ReadonlyMap<NameKey, CatalogMember>;

/** Zones of all catalogs: each has its names in memory. */
const MAX_MEMBERS = 100_000;

export class CatalogMembers {
  readonly #options: CatalogMembersOptions;
  readonly #members = new Map<NameKey, Member>();
  /** The catalogs as they were read last. */
  readonly #catalogs = new Map<NameKey, Catalog>();
  #isStopped = false;

  constructor(options: CatalogMembersOptions) {
    this.#options = options;
  }

  get(zone: NameKey): FollowedZone | undefined {
    return this.#members.get(zone)?.zone;
  }

  *zones(): Iterable<FollowedZone> {
    for (const { zone } of this.#members.values()) yield zone;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { zone } of this.#members.values()) zone.stop();
  }

  /** Takes over what a catalog lists now. @param catalog with names that `readCatalog` takes */
  follow({ plan, served: names }: FollowedZone): void {
    const { log } = this.#options;
    const { origin, catalog } = plan;
    if (catalog === undefined || names === undefined || this.#isStopped) return;
    const listed = readCatalog(names);
    const taken = [...listed.values()].filter(({ zone }) => isWithinAny(zone, new Set(catalog.within)));
    if (taken.length < listed.size)
      log.warn(
        `plugin/secondary: Skipped ${listed.size - taken.length} member zones from catalog ${origin}: outside configured member zones`,
      );
    for (const member of taken) this.#take(member, plan);
    const kept = new Set(taken.map(({ zone }) => zone));
    for (const [zone, member] of this.#members)
      if (member.catalog === origin && !kept.has(zone)) this.#drop(zone, member);
    this.#catalogs.set(origin, listed);
    log.info(`plugin/secondary: Parsed catalog zone ${origin} with ${listed.size} member zones`);
  }

  #take(listed: CatalogMember, plan: SecondaryZone): void {
    const { log, isNamed, formerAt } = this.#options;
    const { origin } = plan;
    const { zone, id } = listed;
    const before = this.#members.get(zone);
    if (before === undefined && !isNamed(zone) && this.#members.size < MAX_MEMBERS) {
      this.#put(listed, plan, formerAt(zone));
      log.info(`plugin/secondary: Added catalog member zone ${zone} from catalog ${origin}`);
      return;
    }
    if (before === undefined || (before.catalog !== origin && !this.#mayMove(zone, before.catalog, origin))) {
      const reason = before !== undefined || isNamed(zone) ? 'zone already exists' : 'too many member zones';
      log.warn(`plugin/secondary: Skipping catalog member zone ${zone} from ${origin}: ${reason}`);
      return;
    }
    if (before.catalog === origin && before.id === id) return;
    // Under another label the zone starts over (RFC 9432 section 5.4).
    this.#put(listed, plan, before.id === id ? before.zone.fetched : undefined);
    log.info(`plugin/secondary: Reset catalog member zone ${zone} from ${before.catalog} to ${origin}`);
  }

  /** Whether the catalog that has a zone gives it to another one (RFC 9432 section 4.3.1). */
  #mayMove(zone: NameKey, from: NameKey, to: NameKey): boolean {
    return this.#catalogs.get(from)?.get(zone)?.newOwner === to;
  }

  #put({ zone: origin, id }: CatalogMember, plan: SecondaryZone, fetched: FetchedZone | undefined): void {
    const { primaries, key } = plan;
    const zone = this.#options.makeZone({ origin, primaries, key }, fetched);
    // Only now: what both have fetched ends with the last of them.
    this.#members.get(origin)?.zone.stop();
    this.#members.set(origin, { catalog: plan.origin, id, zone });
    zone.start();
  }

  #drop(zone: NameKey, member: Member): void {
    member.zone.stop();
    this.#members.delete(zone);
    this.#options.log.info(
      `plugin/secondary: Removed catalog member zone ${zone} from catalog ${member.catalog}`,
    );
  }
}
