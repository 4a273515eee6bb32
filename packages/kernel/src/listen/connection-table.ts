/**
 * The open TCP connections of a listener, by client. The table limits their number and the octets that they hold, and
 * decides which ones to close.
 *
 * It always closes a connection of the client that has the most. So a client with few connections keeps them, and a new
 * client gets a place.
 */
import type { ServedConnection } from './served-connection.ts';

/** The part of a connection that the table needs. */
export type HeldConnection = Omit<ServedConnection, 'queries' | 'leave' | 'destroy'>;

/** Limits on connections and on the octets that they hold: unanswered queries, and answers that the client has not read. */
export interface ConnectionTableLimits {
  /** Open connections of all clients. */
  readonly connections: number;
  /** Open connections of one address. */
  readonly connectionsPerClient: number;
  /** How long a connection may be idle; less when few places are left, see `idleTime`. */
  readonly idleMilliseconds: number;
  readonly octetsPerConnection: number;
  readonly octetsPerClient: number;
  /** Octets of all connections together. */
  readonly octets: number;
}

interface ClientConnections<Connection> {
  readonly open: Set<Connection>;
  octets: number;
}

/** The idle time when every place is taken, as a part of the configured one. */
const MIN_IDLE_PART = 0.1;

export class ConnectionTable<Connection extends HeldConnection> {
  #limits: ConnectionTableLimits;
  readonly #clients = new Map<string, ClientConnections<Connection>>();
  #size = 0;
  #octets = 0;

  constructor(limits: ConnectionTableLimits) {
    this.#limits = limits;
  }

  /** Has other limits from now on. */
  limit(limits: ConnectionTableLimits): void {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** Octets held by all connections. */
  get octets(): number {
    return this.#octets;
  }

  /** Whether to close idle connections sooner than usual. */
  get isCrowded(): boolean {
    return this.#size * 2 > this.#limits.connections;
  }

  /**
   * How long connections may be idle now: the configured time while at least half of the places are free; less as more
   * are taken, down to a tenth.
   */
  get idleTime(): number {
    const { connections, idleMilliseconds } = this.#limits;
    const taken = Math.min(1, Math.max(0, (2 * this.#size) / connections - 1));
    return idleMilliseconds * (1 - taken * (1 - MIN_IDLE_PART));
  }

  *[Symbol.iterator](): Generator<Connection> {
    for (const { open } of this.#clients.values()) yield* open;
  }

  /**
   * Makes a place for a connection of this client. If the table is full, it closes the longest idle connection of the
   * client with the most; if the client itself is at its limit, one of its own.
   *
   * @param isFull whether the table is full below its limit, as descriptors are short
   * @returns whether there is a place
   */
  makePlace(address: string, isFull = false): boolean {
    const { connections, connectionsPerClient } = this.#limits;
    const own = this.#clients.get(address)?.open.size ?? 0;
    if (own >= connectionsPerClient) return cutLongestIdle(this.#clients.get(address)?.open ?? []);
    if (this.#size < connections && !isFull) return true;
    let most = 0;
    for (const { open } of this.#clients.values()) most = Math.max(most, open.size);
    if (cutLongestIdle(this.#ofClientsWith(most))) return true;
    // All of theirs are busy: a client with clearly more than the new one loses a busy connection.
    return most > own + 1 && cutLongestIdle(this.#ofClientsWith(most), 'busy ones too');
  }

  *#ofClientsWith(count: number): Generator<Connection> {
    for (const { open } of this.#clients.values()) if (open.size === count) yield* open;
  }

  add(address: string, connection: Connection): void {
    const client = this.#clients.get(address);
    if (client === undefined) this.#clients.set(address, { open: new Set([connection]), octets: 0 });
    else client.open.add(connection);
    this.#size++;
  }

  remove(address: string, connection: Connection): void {
    const client = this.#clients.get(address);
    if (client?.open.delete(connection) !== true) return;
    this.#size--;
    if (client.open.size === 0) this.#clients.delete(address);
  }

  /**
   * Accounts for octets that a connection now holds more, or less. Over a limit, it closes the connection itself, or
   * the one that holds the most of its client's or of all.
   */
  account(address: string, connection: Connection, more: number): void {
    const client = this.#clients.get(address);
    if (client === undefined) return;
    client.octets += more;
    this.#octets += more;
    if (more <= 0) return;
    const { octetsPerConnection, octetsPerClient, octets } = this.#limits;
    if (connection.heldOctets > octetsPerConnection) connection.cut('unread');
    if (client.octets > octetsPerClient) holderOfMost(client.open)?.cut('unread');
    if (this.#octets > octets) holderOfMost(this)?.cut('unread');
  }

  /** Ends the connections that exceed the current idle time. */
  endIdle(): void {
    const idleTime = this.idleTime;
    for (const connection of this) connection.endIfIdleFor(idleTime);
  }
}

/** @returns whether one was closed */
function cutLongestIdle(
  connections: Iterable<HeldConnection>,
  among: 'idle ones' | 'busy ones too' = 'idle ones',
): boolean {
  let longest: HeldConnection | undefined;
  for (const connection of connections) {
    if (among === 'idle ones' && !connection.isIdle) continue;
    if (longest === undefined || connection.lastActive < longest.lastActive) longest = connection;
  }
  longest?.cut('evicted');
  return longest !== undefined;
}

function holderOfMost(connections: Iterable<HeldConnection>): HeldConnection | undefined {
  let most: HeldConnection | undefined;
  for (const connection of connections)
    if (most === undefined || connection.heldOctets > most.heldOctets) most = connection;
  return most;
}
