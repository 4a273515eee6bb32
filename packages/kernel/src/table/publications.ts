/**
 * The writer's side of publications and their zones: numbers, records, and the scope. The scope tells readers for which
 * names a publication may know a closest encloser.
 */
import { type BlockBuffer, encodeSettings } from './block.ts';
import { Directory } from './directory.ts';
import { countLabels } from './hash.ts';
import { HEADER, PUBLICATION, SCOPE, SCOPE_FLAG, scopeBit, UNIT_SHIFT, ZONE } from './layout.ts';
import type { WriterMemory } from './memory.ts';
import type { Below, PublicationId, ZoneId, ZoneSettings } from './types.ts';

interface Publication {
  readonly salt: number;
  /** The octet of its record. */
  readonly record: number;
  readonly zones: Map<ZoneId, ZoneSettings>;
  /** Whether one of its nodes ever left names below it to the chain. */
  asks: boolean;
  isDropped: boolean;
}

export class Publications {
  readonly #memory: WriterMemory;
  readonly #directory: Directory;
  readonly #zones: Directory;
  readonly #publications = new Map<PublicationId, Publication>();
  readonly #lastEpochs = new Map<PublicationId, number>();
  readonly #publicationByZone = new Map<ZoneId, PublicationId>();
  readonly #drawSalt: () => number;

  /** @param drawSalt returns a random number of 32 bits, a different one for each publication */
  constructor(memory: WriterMemory, drawSalt: () => number) {
    this.#memory = memory;
    this.#drawSalt = drawSalt;
    this.#directory = new Directory(memory, HEADER.PUBLICATIONS, 'publications', 0);
    this.#zones = new Directory(memory, HEADER.ZONES, 'zones', 1);
  }

  /** @throws RangeError when there are 65,536 */
  define(): PublicationId {
    const { arena, views } = this.#memory;
    const record = arena.take(PUBLICATION.OCTETS);
    const salt = this.#drawSalt();
    views.words.fill(0, record >> 2, (record + PUBLICATION.OCTETS) >> 2);
    // An epoch that no answer has, until the number is known.
    views.atoms[(record + PUBLICATION.EPOCH) >> 2] = -1;
    // Publication ids are made only here.
    const id = this.#directory.add(record) as PublicationId;
    views.atoms[(record + PUBLICATION.SALT) >> 2] = salt;
    views.atoms[(record + PUBLICATION.ID) >> 2] = id;
    // Entries derived from an earlier publication with this number are out of date.
    views.atoms[(record + PUBLICATION.EPOCH) >> 2] = (this.#lastEpochs.get(id) ?? -1) + 1;
    this.#publications.set(id, { salt, record, zones: new Map(), asks: false, isDropped: false });
    return id;
  }

  /** Makes readers skip the publication from now on. */
  hide(id: PublicationId): void {
    const publication = this.#get(id);
    publication.isDropped = true;
    this.#setWord(publication, PUBLICATION.NODES, 0);
    this.#setWord(publication, PUBLICATION.RECORDS, 0);
  }

  /** Ends a publication whose nodes are removed. */
  drop(id: PublicationId): void {
    const publication = this.#get(id);
    for (const zone of publication.zones.keys()) this.removeZone(zone);
    this.#lastEpochs.set(id, this.readEpoch(id));
    this.#publications.delete(id);
    const { arena, reclaimer, views } = this.#memory;
    const scope = (views.words[(publication.record + PUBLICATION.SCOPE) >> 2] ?? 0) << UNIT_SHIFT;
    this.#directory.set(id, 0);
    reclaimer.retire(() => {
      if (scope !== 0) arena.give(scope, SCOPE.OCTETS);
      arena.give(publication.record, PUBLICATION.OCTETS);
      this.#directory.release(id);
    });
  }

  defineZone(buffer: BlockBuffer, settings: ZoneSettings, publication: PublicationId): ZoneId {
    const { zones } = this.#get(publication);
    const block = this.#copySettings(buffer, settings);
    // Zone ids are made only here.
    const id = this.#zones.add(block) as ZoneId;
    zones.set(id, settings);
    this.#publicationByZone.set(id, publication);
    this.#renewScope(this.#get(publication));
    return id;
  }

  changeZone(buffer: BlockBuffer, id: ZoneId, settings: ZoneSettings): void {
    const publication = this.#get(this.ofZone(id));
    const old = this.#zones.get(id);
    const block = this.#copySettings(buffer, settings);
    publication.zones.set(id, settings);
    this.#zones.set(id, block);
    this.#renewScope(publication);
    this.#retireSettings(old);
  }

  /** Removes a zone without nodes. */
  removeZone(id: ZoneId): void {
    const publication = this.#get(this.ofZone(id));
    publication.zones.delete(id);
    this.#publicationByZone.delete(id);
    const old = this.#zones.get(id);
    this.#retireSettings(old);
    this.#memory.reclaimer.retire(() => this.#zones.release(id));
    this.#renewScope(publication);
  }

  /** @throws RangeError when there is no such zone */
  ofZone(id: ZoneId): PublicationId {
    const publication = this.#publicationByZone.get(id);
    if (publication === undefined) throw new RangeError(`no such zone: ${id}`);
    return publication;
  }

  /** A number that rises with each change of the publication. */
  readEpoch(id: PublicationId): number {
    return this.#word(this.#get(id), PUBLICATION.EPOCH);
  }

  /** Call it when a change is complete. */
  raiseEpoch(id: PublicationId): void {
    Atomics.add(this.#memory.views.atoms, (this.#get(id).record + PUBLICATION.EPOCH) >> 2, 1);
  }

  /** Sets the block that says how names are composed from records. @param place 0 for none */
  showRecords(id: PublicationId, place: number): void {
    const publication = this.#get(id);
    if (publication.isDropped) return;
    const had = this.#word(publication, PUBLICATION.RECORDS) !== 0;
    // Readers skip a publication without nodes: the records count as one.
    if (place !== 0 && !had) this.countNodes(id, 1);
    this.#setWord(publication, PUBLICATION.RECORDS, place);
    if (place === 0 && had) this.countNodes(id, -1);
  }

  getSalt(id: PublicationId): number {
    return this.#get(id).salt;
  }

  /** The octet of a publication's record. @throws RangeError if it does not exist */
  getRecordOffset(id: PublicationId): number {
    return this.#get(id).record;
  }

  /** Call it before a node becomes visible. */
  beforeNode(id: PublicationId, labels: number, below: Below): void {
    const publication = this.#get(id);
    if (labels > this.#word(publication, PUBLICATION.MAX_LABELS))
      this.#setWord(publication, PUBLICATION.MAX_LABELS, labels);
    if (below.kind === 'complete' || publication.asks) return;
    publication.asks = true;
    this.#renewScope(publication);
  }

  /** Counts the nodes of a publication: readers skip one without any. */
  countNodes(id: PublicationId, more: number): void {
    const publication = this.#get(id);
    if (publication.isDropped) return;
    this.#setWord(publication, PUBLICATION.NODES, this.#word(publication, PUBLICATION.NODES) + more);
  }

  #get(id: PublicationId): Publication {
    const publication = this.#publications.get(id);
    if (publication === undefined) throw new RangeError(`no such publication: ${id}`);
    return publication;
  }

  #word({ record }: Publication, field: number): number {
    return this.#memory.views.words[(record + field) >> 2] ?? 0;
  }

  #setWord({ record }: Publication, field: number, value: number): void {
    Atomics.store(this.#memory.views.atoms, (record + field) >> 2, value);
  }

  #copySettings(buffer: BlockBuffer, settings: ZoneSettings): number {
    encodeSettings(buffer, settings);
    return this.#memory.copy(buffer);
  }

  #retireSettings(block: number): void {
    const { arena, reclaimer, views } = this.#memory;
    const size = views.words[(block + ZONE.SIZE) >> 2] ?? 0;
    reclaimer.retire(() => arena.give(block, size));
  }

  #renewScope(publication: Publication): void {
    const { arena, reclaimer, views } = this.#memory;
    const zones = [...publication.zones.values()];
    const old = this.#word(publication, PUBLICATION.SCOPE) << UNIT_SHIFT;
    const block = arena.take(SCOPE.OCTETS);
    const word = block >> 2;
    views.words.fill(0, word, word + (SCOPE.OCTETS >> 2));
    const labels = zones.length === 0 ? 0 : Math.min(...zones.map(({ apex }) => countLabels(apex)));
    const flags =
      (zones.some(mayDeny) ? SCOPE_FLAG.DENIES : 0) |
      (publication.asks || zones.some(mayAsk) ? SCOPE_FLAG.ASKS : 0);
    views.words[word] = flags | (labels << 16);
    for (const { apex } of zones) {
      const bit = suffixBit(apex, labels);
      const at = word + (SCOPE.BITS >> 2) + (bit >> 5);
      views.words[at] = (views.words[at] ?? 0) | (1 << (bit & 31));
    }
    this.#setWord(publication, PUBLICATION.SCOPE, block >> UNIT_SHIFT);
    if (old !== 0) reclaimer.retire(() => arena.give(old, SCOPE.OCTETS));
  }
}

const mayDeny = ({ known, missing }: ZoneSettings): boolean => !known || (missing ?? 'deny') === 'deny';
const mayAsk = ({ missing, askWildcards }: ZoneSettings): boolean => missing === 'ask' || askWildcards;

/** The bit of a name's last labels. */
function suffixBit(name: Uint8Array, labels: number): number {
  let at = 0;
  for (let skipped = countLabels(name) - labels; skipped > 0; skipped--) at += (name[at] ?? 0) + 1;
  const [one = 0, two = 0, three = 0, four = 0] = name.subarray(at, at + 4);
  return scopeBit(one | (two << 8) | (three << 16) | (four << 24), name.length - at);
}
