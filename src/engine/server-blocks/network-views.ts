/**
 * The names that clients see: the same for all of them, or by their network.
 *
 * Clients of a network with localised names have a view of their own, which shows these names first. All views of the block share
 * one cache: answers from upstream do not depend on the client.
 */
import type { Log } from '../../base/log.ts';
import type { ClientsPlan } from '../../config/server/server-blocks-plan.ts';
import type { LocalisedPublication } from '../../table/types.ts';
import {
  type ClientViews,
  DEFAULT_VIEW,
  type PublicationId,
  type ViewId,
  type ViewSettings,
} from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { parseAddress } from '../../wire/address.ts';
import { type AddressMatch, matchRanges } from '../../wire/address-range.ts';
import { encodeName, ROOT } from '../../wire/name.ts';

/** The block as clients see it. */
export interface ShownBlock {
  readonly settings: ViewSettings;
  readonly clients: ClientsPlan | undefined;
  readonly localised: readonly LocalisedPublication[];
}

const EVERY_CLIENT: AddressMatch = () => true;

export class NetworkViews {
  readonly #table: TableWriter;
  readonly #log: Log;
  /** The views of networks, by the publication that they show first. */
  readonly #views = new Map<PublicationId, ViewId>();
  #shown: ShownBlock | undefined;
  #isServed = EVERY_CLIENT;
  /** Queries of strangers go to the main thread until it has logged one of them; from then on readers drop them. */
  #hasWarned = false;

  constructor(table: TableWriter, log: Log) {
    this.#table = table;
    this.#log = log;
  }

  /** @throws TableFullError; the view of every client is still complete then */
  show(shown: ShownBlock): void {
    const { settings, clients, localised } = shown;
    this.#table.changeView(DEFAULT_VIEW, settings);
    for (const { publication } of localised) this.#showFirst(publication, settings);
    this.#shown = shown;
    this.#isServed = clients?.servesOnlyNetworks === true ? matchRanges(clients.networks) : EVERY_CLIENT;
    this.#showRoot(shown);
    const listed = new Set(localised.map(({ publication }) => publication));
    for (const [publication, view] of this.#views) {
      if (listed.has(publication)) continue;
      this.#views.delete(publication);
      this.#table.removeView(view);
    }
  }

  /** Whether a client gets an answer. @param address may end in a zone */
  admits(address: string): boolean {
    if (this.#isServed === EVERY_CLIENT) return true;
    const [plain = ''] = address.split('%');
    const octets = parseAddress(plain);
    if (octets !== undefined && this.#isServed(octets)) return true;
    if (!this.#hasWarned) this.#warn(address);
    return false;
  }

  #warn(address: string): void {
    this.#hasWarned = true;
    this.#log.warn(`ignoring query from non-local network ${address} (logged only once)`);
    if (this.#shown !== undefined) this.#showRoot(this.#shown);
  }

  #showFirst(publication: PublicationId, settings: ViewSettings): void {
    const own = { ...settings, publications: [publication, ...settings.publications] };
    const view = this.#views.get(publication);
    if (view === undefined) this.#views.set(publication, this.#table.defineView(own, DEFAULT_VIEW));
    else this.#table.changeView(view, own);
  }

  #showRoot({ clients, localised }: ShownBlock): void {
    if (clients === undefined) {
      this.#table.showViews(undefined);
      return;
    }
    const allNames = viewOfAllNames(DEFAULT_VIEW);
    const strangers = { kind: this.#hasWarned ? 'dropped' : 'asked' } as const;
    const networks = clients.networks.map((range) => ({ range, views: allNames }));
    const near = localised.map(({ network, publication }) => ({
      range: network,
      views: viewOfAllNames(this.#views.get(publication) ?? DEFAULT_VIEW),
    }));
    this.#table.showViews([
      {
        // Of two equal ranges the last one counts.
        prefixes: [...networks, ...near],
        others: clients.servesOnlyNetworks ? strangers : allNames,
      },
    ]);
  }
}

function viewOfAllNames(view: ViewId): ClientViews {
  return { kind: 'views', zones: [{ zone: encodeName(ROOT), view }] };
}
