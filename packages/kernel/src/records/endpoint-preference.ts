/**
 * Which endpoints of a headless service a client prefers: those on its node or in its zone. The rules are those of kube-proxy
 * (KEP-2433, KEP-3015): hints count only if all ready endpoints of the address family have them, and if there is none for the
 * client, it gets all endpoints. Where a service asks for it by `trafficDistribution`, the zones and nodes of the endpoints
 * themselves take the place of hints that nobody has set.
 */
import type { TableViews } from '../table/memory.ts';
import { isAtPlace, placesAt, toBit } from './endpoint-places.ts';
import { DISTRIBUTION, PLACES, PLACES_FLAG, SECTION } from './layout.ts';
import type { SectionFilter, SectionWalk } from './record-finder.ts';

/** All endpoints, or those in the client's zone or on its node. */
const PREFERS = { ALL: -1, ZONE: 0, NODE: 1 } as const;

/** What is read of a service. */
export interface PreferringService {
  /** The octet of its entry. */
  readonly entry: number;
  /** Of `DISTRIBUTION`. */
  readonly distribution: number;
}

export class EndpointPreference {
  readonly #views: TableViews;
  readonly #walk: SectionWalk;
  /** The words of the client's zone and node, 0: not known. */
  zone = 0;
  node = 0;
  /** What was decided for each family, of `PREFERS`. */
  #ofIpv4: number = PREFERS.ALL;
  #ofIpv6: number = PREFERS.ALL;

  constructor(views: TableViews, walk: SectionWalk) {
    this.#views = views;
    this.#walk = walk;
  }

  /**
   * Decides for a service.
   *
   * @param filter selects the sections that count
   * @returns whether it leaves any endpoint out
   */
  decide(service: PreferringService, filter: SectionFilter): boolean {
    this.#ofIpv4 = this.#decideFor(service, 4, filter);
    this.#ofIpv6 = this.#decideFor(service, 16, filter);
    return this.#ofIpv4 !== PREFERS.ALL || this.#ofIpv6 !== PREFERS.ALL;
  }

  /** Whether the answer of a service may depend on the client: some endpoints have hints, or the service prefers by itself. */
  mayDecide({ entry, distribution }: PreferringService): boolean {
    const walk = this.#walk;
    for (walk.begin(entry); walk.next(); ) {
      if (this.#readyIn(walk.section) === 0) continue;
      const places = placesAt(this.#views, walk.section);
      if (places !== 0 && (distribution !== DISTRIBUTION.NONE || this.#isHinted(places))) return true;
    }
    return false;
  }

  #isHinted(places: number): boolean {
    const flags = this.#views.atoms[(places + PLACES.FLAGS) >> 2] ?? 0;
    return (flags & (PLACES_FLAG.NODES_HINTED | PLACES_FLAG.ZONES_HINTED)) !== 0;
  }

  /** Whether an endpoint is one that the client prefers. */
  includes(section: number, endpoint: number): boolean {
    const kind = this.#readAddressLength(section) === 4 ? this.#ofIpv4 : this.#ofIpv6;
    if (kind === PREFERS.ALL) return true;
    const places = placesAt(this.#views, section);
    // The slice was replaced after the decision.
    if (places === 0) return true;
    const word = kind === PREFERS.NODE ? this.node : this.zone;
    return isAtPlace(this.#views, section, places, endpoint, kind, word);
  }

  /** How many ready endpoints of a section the client prefers. */
  count(section: number): number {
    const ready = this.#readyIn(section);
    if ((this.#readAddressLength(section) === 4 ? this.#ofIpv4 : this.#ofIpv6) === PREFERS.ALL) return ready;
    let count = 0;
    for (let endpoint = 0; endpoint < ready; endpoint++) if (this.includes(section, endpoint)) count++;
    return count;
  }

  /** @param octets of an address of the family */
  #decideFor(service: PreferringService, octets: number, filter: SectionFilter): number {
    const { distribution, entry } = service;
    const walk = this.#walk;
    const { atoms } = this.#views;
    let flags = -1;
    let zones = 0;
    let nodes = 0;
    for (walk.begin(entry); walk.next() && flags !== 0; ) {
      const { section } = walk;
      if (
        this.#readAddressLength(section) !== octets ||
        this.#readyIn(section) === 0 ||
        !filter.includes(section)
      )
        continue;
      const places = placesAt(this.#views, section);
      if (places === 0) return PREFERS.ALL;
      flags &= atoms[(places + PLACES.FLAGS) >> 2] ?? 0;
      zones |= atoms[(places + PLACES.ZONES) >> 2] ?? 0;
      nodes |= atoms[(places + PLACES.NODES) >> 2] ?? 0;
    }
    if (flags === -1) return PREFERS.ALL;
    const { NODES_HINTED, NODES_KNOWN, ZONES_HINTED, ZONES_KNOWN } = PLACES_FLAG;
    const nodesNeeded = distribution === DISTRIBUTION.NODE ? NODES_HINTED | NODES_KNOWN : NODES_HINTED;
    const zonesNeeded = distribution === DISTRIBUTION.NONE ? ZONES_HINTED : ZONES_HINTED | ZONES_KNOWN;
    const { node, zone } = this;
    if (node !== 0 && (flags & nodesNeeded) !== 0 && (nodes & toBit(node)) !== 0)
      if (this.#has(entry, octets, filter, PREFERS.NODE, node)) return PREFERS.NODE;
    if (zone !== 0 && (flags & zonesNeeded) !== 0 && (zones & toBit(zone)) !== 0)
      if (this.#has(entry, octets, filter, PREFERS.ZONE, zone)) return PREFERS.ZONE;
    return PREFERS.ALL;
  }

  /** Whether an endpoint is at a place: it looks no further than to the first one. */
  #has(entry: number, octets: number, filter: SectionFilter, kind: number, word: number): boolean {
    const walk = this.#walk;
    const { atoms } = this.#views;
    for (walk.begin(entry); walk.next(); ) {
      const { section } = walk;
      if (this.#readAddressLength(section) !== octets || !filter.includes(section)) continue;
      const places = placesAt(this.#views, section);
      const bits = places === 0 ? 0 : (atoms[(places + PLACES.ZONES + kind * 4) >> 2] ?? 0);
      if ((bits & toBit(word)) === 0) continue;
      const ready = this.#readyIn(section);
      for (let endpoint = 0; endpoint < ready; endpoint++)
        if (isAtPlace(this.#views, section, places, endpoint, kind, word)) return true;
    }
    return false;
  }

  #readAddressLength(section: number): number {
    return ((this.#views.atoms[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff;
  }

  #readyIn(section: number): number {
    return (this.#views.atoms[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
  }
}
