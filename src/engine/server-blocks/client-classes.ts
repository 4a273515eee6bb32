/**
 * The classes of clients of a listener group: by `view`, server blocks may be for some addresses only.
 *
 * A class sees the first block of each zone that is for it. If that depends on more than the address, the handler chain decides.
 */
import type { Handler } from '../../chain/handler.ts';
import {
  type GroupPlan,
  type ServerBlockPlan,
  type SitePlan,
  viewOf,
} from '../../config/server/server-blocks-plan.ts';
import type { BlockChoice, Truth } from '../../contract/block-choice.ts';
import type { ClientViews, ListenerGroupViews, ViewId } from '../../table/types.ts';
import { type AddressRange, matchRange } from '../../wire/address-range.ts';
import { encodeName, ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

export interface ChosenBlock {
  readonly plan: ServerBlockPlan;
  readonly handlers: readonly Handler[];
  /** Undefined: it is for all queries. */
  readonly choice: BlockChoice | undefined;
}

/** `asked`: the handler chain decides. */
export type ZoneChoice = ReadonlyMap<NameKey, SitePlan | 'asked'>;

export interface ClientClass {
  /** Undefined: the clients outside all ranges. */
  readonly range: AddressRange | undefined;
  readonly zones: ZoneChoice;
}

/** Each class has its own list of zones in the table. */
const MAX_RANGES = 256;

/** The longest range counts for a client. The class of all other clients is the last. */
export function classesOf(group: GroupPlan, blocks: readonly ChosenBlock[]): readonly ClientClass[] {
  const all = group.sites.flatMap(({ block }) => blocks[block]?.choice?.ranges ?? []);
  const ranges = [...new Map(all.map((range) => [`${range.address}/${range.prefix}`, range])).values()];
  const isTooMany = ranges.length > MAX_RANGES;
  return [...(isTooMany ? [] : ranges), undefined].map((range) => ({
    range,
    zones: chooseZones(group, blocks, isTooMany ? 'none' : range),
  }));
}

function chooseZones(
  { sites }: GroupPlan,
  blocks: readonly ChosenBlock[],
  range: AddressRange | undefined | 'none',
): ZoneChoice {
  const truthOf = judgeSites(sites, blocks, range);
  const zones = new Map<NameKey, SitePlan | 'asked'>();
  for (const site of sites) {
    const truth = truthOf(site);
    // The first one that may be for the client decides.
    if (truth === false || zones.has(site.zone)) continue;
    zones.set(site.zone, truth === true ? site : 'asked');
  }
  return zones;
}

function judgeSites(
  sites: readonly SitePlan[],
  blocks: readonly ChosenBlock[],
  range: AddressRange | undefined | 'none',
): (site: SitePlan) => Truth {
  const choiceAt = ({ block }: SitePlan) => blocks[block]?.choice;
  const nameAt = ({ zone, block }: SitePlan) => `${zone} ${viewOf(blocks[block]?.plan)}`;
  // Lines about readers' answers are written by the rules of the zone, whatever its view.
  const isLogged = sites.some(({ block }) => blocks[block]?.handlers.some(({ writesLines }) => writesLines));
  const viewed = new Set(sites.filter((site) => choiceAt(site) !== undefined).map(({ zone }) => zone));
  const names = sites.map(nameAt);
  return (site) => {
    const choice = choiceAt(site);
    if (choice === undefined) return viewed.has(site.zone) && isLogged ? 'unknown' : true;
    // Readers count by zone and name of the view.
    const isAlone = names.filter((name) => name === nameAt(site)).length === 1;
    return range === 'none' || isLogged || !isAlone ? 'unknown' : choice.truthFor(range);
  };
}

/** Whether readers know which block of a zone is for a client. @param octets the client's address */
export function areChosenByReaders(
  classes: readonly ClientClass[],
  zone: NameKey,
  octets: Uint8Array,
): boolean {
  const fitting = classes.filter(({ range }) => range === undefined || matchRange(range)(octets));
  const [own] = fitting.toSorted((a, b) => (b.range?.prefix ?? -1) - (a.range?.prefix ?? -1));
  return own?.zones.get(zone) !== 'asked';
}

/** @param chain the view of questions for the handler chain */
export function showClasses(
  classes: readonly ClientClass[],
  chain: ViewId,
  viewOf: (site: SitePlan | 'asked') => ViewId,
): ListenerGroupViews {
  const shown = new Map<string, ClientViews>();
  const show = ({ zones }: ClientClass): ClientViews => {
    const pairs = [
      ...new Map([[ROOT, chain], ...[...zones].map(([zone, site]) => [zone, viewOf(site)] as const)]),
    ];
    // Classes that see the same share its memory.
    const key = pairs.map((pair) => pair.join(' ')).join();
    const known = shown.get(key) ?? {
      kind: 'views',
      // The chain has its own rules for odd queries.
      asksOdd: true,
      zones: pairs.map(([zone, view]) => ({ zone: encodeName(zone), view })),
    };
    shown.set(key, known);
    return known;
  };
  const others = classes.at(-1);
  return {
    prefixes: classes.flatMap((each) =>
      each.range === undefined ? [] : [{ range: each.range, views: show(each) }],
    ),
    others: others === undefined ? { kind: 'asked' } : show(others),
  };
}
