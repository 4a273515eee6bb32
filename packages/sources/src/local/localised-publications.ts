/**
 * Local names whose addresses depend on the network of the client (`--localise-queries`): per network a publication of the
 * names that its clients see differently. A view for these clients lists it before the publication of all local names.
 */
import { type AddressRange, matchRange, toRangeKey } from '@portolan/dns/address-range.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import type { WireName } from '@portolan/dns/types.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { LocalisedPublication } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { compileNode } from '@portolan/kernel/zone/compile.ts';
import type { LocalNames } from './local-names.ts';
import { LocalPublication, type PublishedNames } from './local-publication.ts';

interface LocalisedNames {
  readonly network: AddressRange;
  readonly publication: LocalPublication;
  /** The published names. */
  names: PublishedNames;
}

/** Names looked at without a pause: less than a millisecond. */
const STRETCH = 500;

const NO_NAMES: PublishedNames = {
  names: () => [],
  has: () => false,
  hasSameNode: () => false,
  compile: () => {
    throw new RangeError('no such name');
  },
};

export class LocalisedPublications {
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #standing = new Map<string, LocalisedNames>();

  constructor(table: TableWriter, log: Log) {
    this.#table = table;
    this.#log = log;
  }

  /** The publications that are complete. */
  list(): readonly LocalisedPublication[] {
    return [...this.#standing.values()].map(({ network, publication }) => ({
      network,
      publication: publication.id,
    }));
  }

  /**
   * Publishes the differences, in steps.
   *
   * @param onShow called when the list has changed, to change the views; returns false if they stay the same
   */
  *replace(
    names: LocalNames,
    networks: readonly AddressRange[],
    onShow: () => boolean,
  ): Generator<void, void> {
    const wanted = new Map(networks.map((network) => [toRangeKey(network), network]));
    const gone = [...this.#standing].filter(([text]) => !wanted.has(text));
    const added: [string, LocalisedNames][] = [];
    for (const [text, network] of wanted) {
      const standing = this.#standing.get(text) ?? this.#make(network);
      const seen = namesSeenFrom(names, network);
      yield* standing.publication.replace(standing.names, seen);
      standing.names = seen;
      this.#table.publicationChanged(standing.publication.id);
      if (!this.#standing.has(text)) added.push([text, standing]);
    }
    if (gone.length === 0 && added.length === 0) return;
    for (const [text] of gone) this.#standing.delete(text);
    for (const [text, standing] of added) this.#standing.set(text, standing);
    if (!onShow()) return;
    for (const [, { publication }] of gone) yield* this.#table.dropPublication(publication.id);
  }

  #make(network: AddressRange): LocalisedNames {
    const publication = new LocalPublication(this.#table, this.#log);
    return { network, publication, names: NO_NAMES };
  }
}

/** The names that clients of a network see differently. */
function namesSeenFrom(names: LocalNames, network: AddressRange): PublishedNames {
  const isNear = matchRange(network);
  const has = (name: WireName) => names.isLocalisedFor(isNear, name);
  return {
    *names() {
      let count = 0;
      for (const name of names.names()) {
        if (has(name)) yield name;
        // Most names are the same for all clients.
        if (++count % STRETCH === 0) yield undefined;
      }
    },
    has,
    // Compare the nodes themselves: these names are few.
    hasSameNode: () => false,
    compile: (name, zone) => compileNode(names.node(keyOfWire(name), isNear), zone),
  };
}
