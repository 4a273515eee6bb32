/**
 * Where the endpoints of a section are, as the last part of its record: see `layout.ts`.
 */
import type { TableViews } from '../table/memory.ts';
import type { PlacesDraft, PlacesOfKind, SliceDraft } from './drafts.ts';
import { PLACES, PLACES_FLAG, SECTION, SECTION_HAS_PLACES } from './layout.ts';

/** The zones or nodes of ready endpoints, a list for each. */
interface WordsOfKind {
  readonly words: readonly (readonly number[])[];
  readonly isHinted: boolean;
  readonly isKnown: boolean;
}

/**
 * The words of the part for some ready endpoints of a draft.
 *
 * @param at where the part will begin in its section, in octets
 * @returns undefined if no endpoint has a place
 */
export function encodePlaces(
  draft: SliceDraft,
  ready: readonly number[],
  at: number,
): readonly number[] | undefined {
  const numbers = ready.map((endpoint) => draft.placeNumbers.items[endpoint] ?? -1);
  const { zones: ofZones, nodes: ofNodes }: PlacesDraft = draft.places;
  const zones = listWords(ofZones, numbers);
  const nodes = listWords(ofNodes, numbers);
  if ([zones, nodes].every(({ words }) => words.every((list) => list.length === 0))) return undefined;
  const flags =
    (zones.isHinted ? PLACES_FLAG.ZONES_HINTED : 0) |
    (zones.isKnown ? PLACES_FLAG.ZONES_KNOWN : 0) |
    (nodes.isHinted ? PLACES_FLAG.NODES_HINTED : 0) |
    (nodes.isKnown ? PLACES_FLAG.NODES_KNOWN : 0);
  const lists: number[] = [];
  const listsAt = at + PLACES.WORDS + ready.length * 8;
  const put = (words: readonly number[]): number => {
    if (words.length < 2) return words[0] ?? 0;
    const place = listsAt + lists.length * 4;
    lists.push(words.length, ...words);
    return -place;
  };
  const pairs = zones.words.flatMap((list, index) => [put(list), put(nodes.words[index] ?? [])]);
  return [flags, toBits(zones), toBits(nodes), ...pairs, ...lists];
}

/** @param numbers of the places of ready endpoints, -1 for none */
function listWords(kind: PlacesOfKind, numbers: readonly number[]): WordsOfKind {
  // As kube-proxy: hints count only if all have them.
  const isHinted = numbers.every((number) => kind.isHinted(number));
  const words = numbers.map((number) => kind.listWords(number, isHinted));
  return { words, isHinted, isKnown: words.every((list) => list.length > 0) };
}

const toBits = ({ words }: WordsOfKind): number => words.flat().reduce((bits, word) => bits | toBit(word), 0);

/** The bit that a section has for a word. */
export const toBit = (word: number): number => 1 << (word & 31);

/** The octet of the places of a section, or 0. */
export function placesAt({ atoms }: TableViews, section: number): number {
  if (((atoms[(section + SECTION.SHAPE) >> 2] ?? 0) & SECTION_HAS_PLACES) === 0) return 0;
  const last = section + (atoms[(section + SECTION.SIZE) >> 2] ?? 0) - 4;
  return section + (atoms[last >> 2] ?? 0);
}

/**
 * Whether an endpoint is in a zone, or on a node.
 *
 * @param places the octet of the places of its section
 * @param kind 0: the zone; 1: the node
 */
export function isAtPlace(
  { atoms }: TableViews,
  section: number,
  places: number,
  endpoint: number,
  kind: number,
  word: number,
): boolean {
  const own = atoms[((places + PLACES.WORDS) >> 2) + endpoint * 2 + kind] ?? 0;
  if (own >= 0) return own === word;
  const list = (section - own) >> 2;
  for (let left = atoms[list] ?? 0, at = list + 1; left > 0; left--, at++)
    if (atoms[at] === word) return true;
  return false;
}
