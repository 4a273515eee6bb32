/**
 * The classes of clients of a listener group. By `view`, server blocks may be for some addresses only; by their network, clients may see
 * names of their own, or get no answer.
 *
 * A class sees the first block of each zone that is for it. If that depends on more than the address, the handler chain decides.
 */
import { type AddressRange, matchRange, toRangeKey, uniteRanges } from '@portolan/dns/address-range.ts';
import { encodeName, ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Handler } from '../../chain/handler.ts';
import type { BlockChoice, Truth } from '../../contract/block-choice.ts';
import {
  type GroupPlan,
  getViewName,
  type ServerBlockPlan,
  type SitePlan,
} from '../../plan/server-blocks-plan.ts';
import type {
  ClientViews,
  ListenerGroupViews,
  LocalisedPublication,
  PublicationId,
  ViewId,
} from '../../table/types.ts';

export interface ChosenBlock {
  readonly plan: ServerBlockPlan;
  readonly handlers: readonly Handler[];
  /** Undefined: it is for all queries. */
  readonly choice: BlockChoice | undefined;
  /** The names that only clients of a network see, now. */
  localised(): readonly LocalisedPublication[];
}

export interface ChosenSite {
  readonly site: SitePlan;
  /** Shown before the publications of the block; undefined: only these are shown. */
  readonly first: PublicationId | undefined;
}

/** `asked`: the handler chain decides. */
export type ZoneChoice = ReadonlyMap<NameKey, ChosenSite | 'asked'>;

export interface ClientClass {
  /** Undefined: the clients outside all ranges. */
  readonly range: AddressRange | undefined;
  readonly zones: ZoneChoice;
}

/** Each class has its own list of zones in the table. */
const MAX_RANGES = 256;

/** The longest range counts for a client. The class of all other clients is the last. */
export function createClientClasses(
  group: GroupPlan,
  blocks: readonly ChosenBlock[],
): readonly ClientClass[] {
  const all = group.sites.flatMap(({ block }) => blocks[block] ?? []);
  const chosen = uniteRanges(all.flatMap(({ choice }) => choice?.ranges ?? []));
  const isTooMany = chosen.length > MAX_RANGES;
  const networks = all.flatMap(({ plan, localised }) => [
    ...(plan.clients?.networks ?? []),
    ...localised().map(({ network }) => network),
  ]);
  const ranges = uniteRanges([...(isTooMany ? [] : chosen), ...networks]);
  return [...ranges, undefined].map((range) => ({
    range,
    zones: chooseZones(group, blocks, range, isTooMany),
  }));
}

/** @param isUnjudged whether the chain judges which of several blocks is for a client */
function chooseZones(
  { sites }: GroupPlan,
  blocks: readonly ChosenBlock[],
  range: AddressRange | undefined,
  isUnjudged: boolean,
): ZoneChoice {
  const judgeSite = judgeSites(sites, blocks, isUnjudged ? 'none' : range);
  const zones = new Map<NameKey, ChosenSite | 'asked'>();
  for (const site of sites) {
    const truth = judgeSite(site);
    // The first one that may be for the client decides.
    if (truth === false || zones.has(site.zone)) continue;
    const first = range && findLocalised(blocks[site.block], range);
    zones.set(site.zone, truth === true ? { site, first } : 'asked');
  }
  return zones;
}

function findLocalised(block: ChosenBlock | undefined, range: AddressRange): PublicationId | undefined {
  return block?.localised().findLast(({ network }) => toRangeKey(network) === toRangeKey(range))?.publication;
}

function judgeSites(
  sites: readonly SitePlan[],
  blocks: readonly ChosenBlock[],
  range: AddressRange | undefined | 'none',
): (site: SitePlan) => Truth {
  const choiceAt = ({ block }: SitePlan) => blocks[block]?.choice;
  const nameAt = ({ zone, block }: SitePlan) => `${zone} ${getViewName(blocks[block]?.plan)}`;
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

export interface ShownClasses {
  readonly viewFor: (chosen: ChosenSite | 'asked') => ViewId;
  /** The view of names outside all zones; undefined: there are no such names. */
  readonly outside: ViewId | undefined;
  /** Whether the chain has rules of its own for malformed packets, and packets without exactly one question. */
  readonly asksOdd: boolean;
  /** What readers do with clients outside all ranges; undefined: answer them. */
  readonly strangers: 'asked' | 'dropped' | undefined;
}

export function showClasses(
  classes: readonly ClientClass[],
  { viewFor, outside, asksOdd, strangers }: ShownClasses,
): ListenerGroupViews {
  const shown = new Map<string, ClientViews>();
  const show = ({ zones }: ClientClass): ClientViews => {
    const views = new Map<NameKey, ViewId>(outside === undefined ? [] : [[ROOT, outside]]);
    for (const [zone, chosen] of zones) views.set(zone, viewFor(chosen));
    const pairs = [...views];
    // Classes that see the same share its memory.
    const key = pairs.map((pair) => pair.join(' ')).join();
    const known = shown.get(key) ?? {
      kind: 'views',
      asksOdd,
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
    others: strangers !== undefined || others === undefined ? { kind: strangers ?? 'asked' } : show(others),
  };
}
