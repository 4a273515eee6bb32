/**
 * A server that is asked by gRPC.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { findMeaning } from '@portolan/kernel/base/system-errors.ts';
import { makeGrpcRequest } from '@portolan/kernel/forward/transport/grpc-request.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import { GRPC_PROTOCOLS, RequestTransport } from '@portolan/kernel/forward/transport/request-transport.ts';
import type { TlsPeer } from '@portolan/kernel/forward/transport/tls-socket.ts';
import type { Exchange } from '@portolan/kernel/forward/transport/transport.ts';
import type { GrpcPlace } from './options.ts';
import type { OrderedServer } from './server-order.ts';

/** Milliseconds for which a server that has failed is asked last. */
const REST = 5000;

/** A server has not replied. */
export class GrpcServerError extends Error {
  override readonly name = 'GrpcServerError';
}

export class GrpcServer implements OrderedServer {
  /** In logs and metrics: its address and port, or its path. */
  readonly name: string;
  readonly #transport: RequestTransport;
  readonly #clock: Clock;
  #inFlight = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #onIdle: () => void = () => {};

  /** @param tls undefined: connections are not encrypted */
  constructor(place: GrpcPlace, tls: TlsPeer | undefined, clock: Clock) {
    this.name = place.kind === 'unix' ? `unix://${place.path}` : formatSocketAddress(place);
    this.#clock = clock;
    this.#transport = new RequestTransport({
      place: place.kind === 'unix' ? { path: place.path } : { host: place.address, port: place.port },
      tls,
      protocols: GRPC_PROTOCOLS,
      makeRequest: makeGrpcRequest,
      clock,
    });
  }

  get isResting(): boolean {
    return this.#clock.monotonic() < this.#restsUntil;
  }

  /** @param milliseconds for the reply. @throws GrpcServerError */
  async ask(query: QueryMessage, milliseconds: number): Promise<Message> {
    this.#inFlight += 1;
    try {
      const reply = await this.#exchange(query, milliseconds);
      this.#restsUntil = Number.NEGATIVE_INFINITY;
      return reply;
    } catch (error) {
      this.#restsUntil = this.#clock.monotonic() + REST;
      throw error;
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle();
    }
  }

  /** Closes its connections after the last reply. */
  async stop(): Promise<void> {
    if (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    this.#transport.close();
  }

  #exchange(query: QueryMessage, milliseconds: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => reject(new GrpcServerError(what));
      let exchange: Exchange | undefined;
      const timer = this.#clock.after(milliseconds, () => {
        exchange?.overdue();
        exchange?.cancel();
        fail('rpc error: code = DeadlineExceeded desc = context deadline exceeded');
      });
      exchange = this.#transport.ask(query, {
        replied: (reply) => {
          timer.cancel();
          resolve(reply);
        },
        heard() {},
        failed: (code) => {
          timer.cancel();
          fail(describeFailure(this.name, code));
        },
      });
    });
  }
}

/** Where CoreDNS has words for it, in these. */
function describeFailure(server: string, code: string): string {
  const meaning = findMeaning(code);
  if (meaning === undefined) return `${server}: ${code}`;
  return `rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp ${server}: connect: ${meaning}"`;
}
