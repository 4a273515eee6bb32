/**
 * How a reader has answers composed that no node holds: what a composer takes, and what it says.
 *
 * The table knows names in wire form, but not what the records of a publication mean. `records/` has the composers of a
 * Kubernetes cluster and of hosts files.
 */
import type { TableViews } from './memory.ts';

/**
 * NEXT: the records do not have the name, but name nodes and other publications may. MADE: as RECORDS, for a name that is
 * no object's. ASK: only the handler chain can answer. HELD: as RECORDS, for a name that could have a node as well.
 */
export const COMPOSED = { NEXT: 0, RECORDS: 1, MADE: 2, NODATA: 3, NXDOMAIN: 4, ASK: 5, HELD: 6 } as const;

/** A key whose octets can be read four at a time. */
export interface KeyOctets {
  /** The octets from this one on, the first one lowest. More than belong to the key may be read. */
  wordAt(at: number): number;
}

/** The name and the type of a question, the name in lower case. */
export interface Sought extends KeyOctets {
  readonly name: Uint8Array;
  /** Octets of the name. */
  readonly nameLength: number;
  /** The unsalted hash of the name. */
  readonly hash: number;
  /** Labels of the name, the root's not counted. */
  readonly labels: number;
  /** Where each label starts, from the left; the root's is the last. */
  readonly labelStarts: Uint8Array;
  readonly type: number;
}

/** Records that follow a question. */
export interface ComposedRecords {
  readonly octets: Uint8Array;
  /** Exactly those octets. */
  readonly view: DataView;
  readonly length: number;
  readonly answers: number;
  readonly additionals: number;
  /** Whether a record of the answer section was left out. */
  readonly isCut: boolean;
  /** Whether a record of the additional section was left out. */
  readonly isWithoutAdditionals: boolean;
}

/** Composes answers from the records of publications. It allocates nothing and waits for nothing. */
export interface Composer {
  readonly composition: ComposedRecords;
  /** The zone that the answer is from. */
  readonly zone: number;
  /** The outcome of the answer. */
  readonly outcome: number;
  /** Leading labels of the name that lie below the last name that exists. */
  readonly missing: number;
  /** Whether the name lies below an object that exists, such as a service. */
  readonly isBelowObject: boolean;
  /** Whether the source of the answer has lost it. */
  readonly isStale: boolean;
  /**
   * @param block the octet of the block that `RecordSpace.show` shows
   * @param publication that has the records
   * @param salt of the publication
   * @param origin where the records will lie in the message
   * @param limit octets that they may have
   * @param rotates whether addresses start at a random one
   * @param packet has the socket address of the client from octet `client` on
   * @returns of `COMPOSED`
   */
  compose(
    block: number,
    publication: number,
    salt: number,
    sought: Sought,
    origin: number,
    limit: number,
    rotates: boolean,
    packet: Uint8Array,
    client: number,
  ): number;
}

/** @param keys those of the hash; @param sought the question that is asked most */
export type MakeComposer = (views: TableViews, keys: Int32Array, sought: Sought) => Composer;
