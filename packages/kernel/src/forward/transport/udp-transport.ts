/**
 * Queries over UDP, from connected sockets with random ports of the system's choice.
 *
 * An off-path forger must guess both port and id (RFC 5452). While there are few queries, each has its own socket.
 * Above that rate, queries share a pool: each socket serves a bounded number of queries for a bounded time, and each
 * query uses a random one. Up to 32 simultaneous queries share a socket, because one system call then sends them all.
 *
 * A socket that receives packets which only a forger can have sent is closed. Its queries fail with
 * `FORGERY_SUSPECTED`, to be repeated over TCP. The same holds for a query whose reply does not preserve the case of
 * its name.
 */
import { randomInt } from 'node:crypto';
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRanges } from '@portolan/dns/address-range.ts';
import type { Message } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import { openQuerySocket, type QuerySocket } from '../../socket/query-socket.ts';
import { CaseSupport, mixCase } from './name-case.ts';
import { Outstanding, type OutstandingQuery } from './outstanding.ts';
import type { QueryMessage } from './query-message.ts';
import { continueBy } from './taken-over-exchange.ts';
import {
  type DirectServer,
  type DroppedPackets,
  type Exchange,
  type ExchangeEvents,
  type Transport,
  toErrorCode,
} from './transport.ts';

/** The UDP source ports of queries. */
export type SourcePorts =
  | { readonly kind: 'any' }
  | { readonly kind: 'range'; readonly min: number; readonly max: number }
  | { readonly kind: 'fixed'; readonly port: number };

export interface UdpTransportOptions {
  readonly peer: SocketAddress;
  /** The source address; undefined: the system's choice. */
  readonly sourceAddress: string | undefined;
  readonly sourcePorts: SourcePorts;
  /** Octets of the largest reply; a larger one counts as truncated. */
  readonly maxReply: number;
  /** Replies with such an address are ignored; the wait continues. */
  readonly ignoredAddresses: readonly AddressRange[];
  /** Whether to send names in random case, as long as the server preserves it. */
  readonly mixesCase: boolean;
  readonly clock: Clock;
}

const SOCKETS = 16;
const QUERIES_PER_SOCKET = 256;
const MILLISECONDS_PER_SOCKET = 5_000;
const QUERIES_IN_A_ROW = 32;
/** Up to this many queries a second, each has its own socket; and the maximum of such sockets. */
const SINGLE_PER_SECOND = 200;
const MAX_SINGLE = 256;
/** Suspicious packets that a socket may receive. */
const MAX_SUSPICIOUS = 3;
/** Ports to try in a range, since some may be in use. */
const PORT_TRIES = 16;

interface Seat {
  readonly socket: QuerySocket;
  readonly outstanding: Outstanding<UdpExchange>;
  readonly retireAt: number;
  uses: number;
  retired: boolean;
}

/** The error code of queries whose socket was closed because of suspicious packets. */
export const FORGERY_SUSPECTED = 'forgery suspected';

const NO_EXCHANGE: Exchange = { overdue() {}, cancel() {} };

export class UdpTransport implements Transport {
  readonly direct: DirectServer | undefined;
  readonly dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  readonly #options: UdpTransportOptions;
  readonly #case = new CaseSupport();
  readonly #isForged: (reply: Message) => boolean;
  readonly #seats: (Seat | undefined)[];
  /** Retired, but with replies outstanding. */
  readonly #leaving = new Set<Seat>();
  #current: Seat | undefined;
  #inRow = 0;
  #rowAt = 0;
  #sweep: Timer | undefined;
  #secondAt = 0;
  #inSecond = 0;
  #inSecondBefore = 0;

  constructor(options: UdpTransportOptions) {
    this.#options = options;
    const { peer, sourceAddress, sourcePorts, ignoredAddresses, mixesCase } = options;
    this.#isForged = recogniseForged(ignoredAddresses);
    this.#seats = Array.from({ length: sourcePorts.kind === 'fixed' ? 1 : SOCKETS }, () => undefined);
    const isAny = sourcePorts.kind === 'any' && sourceAddress === undefined;
    if (isAny && ignoredAddresses.length === 0 && !mixesCase)
      this.direct = { peer, stream: undefined, takeOver: continueBy(this) };
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    let seat: Seat;
    const now = this.#options.clock.monotonic();
    try {
      seat = this.#isQuiet(now) ? this.#singleSeat(now) : this.#pickSeat(now);
    } catch (error) {
      // An old socket is better than no socket.
      const old = this.#seats.find((each) => each !== undefined);
      if (old === undefined) {
        events.failed(toErrorCode(error));
        return NO_EXCHANGE;
      }
      seat = old;
    }
    const sent = this.#options.mixesCase && this.#case.isUsed(now) ? mixCase(query) : query;
    const exchange = new UdpExchange(sent, events, seat, this);
    if (!seat.outstanding.admit(exchange)) {
      events.failed('no free message id');
      return NO_EXCHANGE;
    }
    seat.uses += 1;
    seat.socket.send(sent.octets, exchange.id);
    return exchange;
  }

  /** Call it when a query of a seat is finished. @internal for `UdpExchange` */
  settle(seat: Seat): void {
    if (!seat.retired || seat.outstanding.size > 0) return;
    // It may be settled twice: when its last query ends, and after the packet that ended it.
    if (this.#leaving.delete(seat)) seat.socket.close();
  }

  /** Records whether a reply preserved the case. @internal for `UdpExchange` */
  noteCase(query: QueryMessage, isKept: boolean): void {
    if (isKept) this.#case.noteKept();
    else this.#case.noteChanged(query, this.#options.clock.monotonic());
  }

  close(): void {
    this.#sweep?.cancel();
    for (const seat of [...this.#seats, ...this.#leaving]) seat?.socket.close();
    this.#seats.fill(undefined);
    this.#leaving.clear();
    this.#current = undefined;
  }

  /** Counts a query. Returns whether the rate is low enough for one socket per query. */
  #isQuiet(now: number): boolean {
    if (now - this.#secondAt >= 1000) {
      this.#inSecondBefore = now - this.#secondAt < 2000 ? this.#inSecond : 0;
      this.#inSecond = 0;
      this.#secondAt = now;
    }
    this.#inSecond += 1;
    const isFixed = this.#options.sourcePorts.kind === 'fixed';
    const isFew = Math.max(this.#inSecond, this.#inSecondBefore) <= SINGLE_PER_SECOND;
    return isFew && !isFixed && this.#leaving.size < MAX_SINGLE;
  }

  /** A socket for one query, which closes after it. */
  #singleSeat(now: number): Seat {
    const seat = this.#openSeat(now, 1);
    seat.retired = true;
    this.#leaving.add(seat);
    return seat;
  }

  #pickSeat(now: number): Seat {
    const current = this.#current;
    if (current !== undefined && now - this.#rowAt < 1 && this.#inRow < QUERIES_IN_A_ROW) {
      this.#inRow += 1;
      return current;
    }
    const index = this.#seats.length === 1 ? 0 : randomInt(this.#seats.length);
    const seat = this.#freshSeat(index, now);
    this.#current = seat;
    this.#inRow = 1;
    this.#rowAt = now;
    return seat;
  }

  #freshSeat(index: number, now: number): Seat {
    const old = this.#seats[index];
    const isFixed = this.#options.sourcePorts.kind === 'fixed';
    if (old !== undefined && (isFixed || (old.uses < QUERIES_PER_SOCKET && now < old.retireAt))) return old;
    const seat = this.#openSeat(now);
    this.#seats[index] = seat;
    if (old !== undefined) this.#retire(old);
    this.#sweep ??= this.#options.clock.after(MILLISECONDS_PER_SOCKET, () => this.#sweepSeats());
    return seat;
  }

  /** Closes sockets at the end of their time, so that an idle server holds no sockets. */
  #sweepSeats(): void {
    this.#sweep = undefined;
    const now = this.#options.clock.monotonic();
    for (const [index, seat] of this.#seats.entries()) {
      if (seat === undefined || now < seat.retireAt) continue;
      this.#seats[index] = undefined;
      this.#retire(seat);
    }
    if (this.#seats.some((seat) => seat !== undefined))
      this.#sweep = this.#options.clock.after(MILLISECONDS_PER_SOCKET, () => this.#sweepSeats());
  }

  #retire(seat: Seat): void {
    seat.retired = true;
    if (this.#current === seat) this.#current = undefined;
    this.#leaving.add(seat);
    this.settle(seat);
  }

  /** Gives up a socket that a forger has found. */
  #abandon(seat: Seat): void {
    const index = this.#seats.indexOf(seat);
    if (index >= 0) this.#seats[index] = undefined;
    const exchanges = seat.outstanding.takeAll();
    this.#retire(seat);
    for (const { events } of exchanges) events.failed(FORGERY_SUSPECTED);
  }

  #openSeat(now: number, places?: number): Seat {
    const outstanding = new Outstanding<UdpExchange>(this.dropped, this.#isForged, places);
    const socket = this.#openSocket(
      (octets, start, length, isCut) => {
        outstanding.receive(octets, start, length, isCut);
        if (outstanding.suspicious > MAX_SUSPICIOUS) this.#abandon(seat);
        else this.settle(seat);
      },
      (code, id) => {
        const refused = id === undefined ? outstanding.takeAll() : [outstanding.take(id)];
        for (const exchange of refused) exchange?.events.failed(code);
        this.settle(seat);
      },
    );
    const seat: Seat = {
      socket,
      outstanding,
      retireAt: now + MILLISECONDS_PER_SOCKET,
      uses: 0,
      retired: false,
    };
    return seat;
  }

  #openSocket(
    onPacket: (octets: Uint8Array, start: number, length: number, isCut: boolean) => void,
    onError: (code: string, id: number | undefined) => void,
  ): QuerySocket {
    const { peer, sourceAddress, sourcePorts, maxReply } = this.#options;
    const open = (port: number | undefined) =>
      openQuerySocket({
        peer,
        source:
          port === undefined && sourceAddress === undefined
            ? undefined
            : { address: sourceAddress ?? anyAddress(peer), port: port ?? 0 },
        shared: sourcePorts.kind === 'fixed',
        replyOctets: maxReply,
        onPacket,
        onError,
      });
    if (sourcePorts.kind === 'any') return open(undefined);
    if (sourcePorts.kind === 'fixed') return open(sourcePorts.port);
    for (let turn = 1; ; turn += 1) {
      try {
        return open(randomInt(sourcePorts.min, sourcePorts.max + 1));
      } catch (error) {
        if (turn === PORT_TRIES) throw error;
      }
    }
  }
}

class UdpExchange implements Exchange, OutstandingQuery {
  readonly query: QueryMessage;
  readonly events: ExchangeEvents;
  id = 0;
  readonly #seat: Seat;
  readonly #transport: UdpTransport;

  constructor(query: QueryMessage, events: ExchangeEvents, seat: Seat, transport: UdpTransport) {
    this.query = query;
    this.events = events;
    this.#seat = seat;
    this.#transport = transport;
  }

  judgeCase(isKept: boolean): void {
    this.#transport.noteCase(this.query, isKept);
    if (!isKept) this.events.failed(FORGERY_SUSPECTED);
  }

  /** The next query uses another random socket anyway. */
  overdue(): void {}

  cancel(): void {
    this.#seat.outstanding.remove(this);
    this.#transport.settle(this.#seat);
  }
}

function anyAddress(peer: SocketAddress): string {
  return peer.address.includes(':') ? '::' : '0.0.0.0';
}

function recogniseForged(ranges: readonly AddressRange[]): (reply: Message) => boolean {
  if (ranges.length === 0) return () => false;
  const isIgnored = matchRanges(ranges);
  return (reply) =>
    reply.answers.some(({ data }) => {
      const octets = data.kind === 'A' || data.kind === 'AAAA' ? parseAddress(data.address) : undefined;
      return octets !== undefined && isIgnored(octets);
    });
}
