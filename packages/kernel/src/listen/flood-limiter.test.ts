import { describe, expect, it } from 'vitest';
import { decodeSocketAddress, encodeSocketAddress } from '../socket/addresses.ts';
import { BATCH_PACKETS } from '../socket/batch.ts';
import { type LimitedClient, MAX_LIMITED_CLIENTS } from '../socket/client-filter.ts';
import { OverloadGuard } from './overload-guard.ts';

const FLOODER = '10.0.0.66';

/** A socket whose buffer is filling up, its guard, and the limits set in the kernel. */
class FloodedSocket {
  isFillingUp = true;
  hasFilters = true;
  limited: readonly LimitedClient[] = [];
  readonly told: string[] = [];
  readonly guard = new OverloadGuard({
    isFillingUp: () => this.isFillingUp,
    limit: (clients) => {
      this.limited = clients.map((client) => ({ ...client }));
      return this.hasFilters;
    },
    onLimited: (octets, client, share) =>
      this.told.push(`${decodeSocketAddress(octets, client).address} ${share}`),
  });
  #now = 0;

  /** Receives full batches from these clients in turn; the last packet of each is from `other`. */
  take(batches: number, clients: readonly string[], other: string | undefined): void {
    for (let batch = 0; batch < batches; batch++) {
      this.guard.beginBatch(BATCH_PACKETS, this.#now);
      for (let packet = 0; packet < BATCH_PACKETS; packet++) {
        const isLast = packet === BATCH_PACKETS - 1 && other !== undefined;
        const address = (isLast ? other : clients[packet % clients.length]) ?? '';
        this.guard.admits(encodeSocketAddress({ address, port: 1024 + packet }), 0);
      }
    }
  }

  wait(milliseconds: number): void {
    this.#now += milliseconds;
  }

  review(): void {
    this.guard.review(this.#now);
  }

  get shares(): readonly number[] {
    return this.limited.map(({ share }) => share);
  }
}

describe('a client that floods beside others', () => {
  it.each([FLOODER, 'fd00::66'])('is limited by the kernel: %s', (flooder) => {
    const socket = new FloodedSocket();
    // The limiter first sees the other client at the end of the first batch.
    socket.take(8, [flooder], '10.0.0.1');
    expect(socket.limited).toEqual([]);
    socket.take(1, [flooder], '10.0.0.1');
    expect(socket.told).toEqual([`${flooder} 16`]);
    expect(socket.limited[0]?.address).toHaveLength(flooder.includes(':') ? 16 : 4);
  });

  it('is limited more where that is not enough, once the limit can show', () => {
    const socket = new FloodedSocket();
    socket.take(60, [FLOODER], '10.0.0.1');
    expect(socket.shares).toEqual([16]);
    for (const share of [64, 256, 256]) {
      socket.wait(100);
      socket.take(60, [FLOODER], '10.0.0.1');
      expect(socket.shares).toEqual([share]);
    }
  });

  it('is limited for as long as it floods', () => {
    const socket = new FloodedSocket();
    socket.take(9, [FLOODER], '10.0.0.1');
    socket.isFillingUp = false;
    for (let second = 0; second < 5; second++) {
      // A sixteenth of 10,240 packets a second.
      socket.take(10, [FLOODER], undefined);
      socket.wait(1000);
      socket.review();
      expect(socket.shares).toEqual([16]);
    }
    // A sixteenth of 9,216 packets a second.
    socket.take(9, [FLOODER], undefined);
    socket.wait(1000);
    expect(socket.guard.isLimiting).toBe(true);
    socket.review();
    expect(socket.limited).toEqual([]);
    expect(socket.guard.isLimiting).toBe(false);
  });

  it('is let go of when nothing comes any more, and at the end', () => {
    const silent = new FloodedSocket();
    silent.take(9, [FLOODER], '10.0.0.1');
    silent.wait(1000);
    silent.review();
    expect(silent.limited).toEqual([]);
    const ending = new FloodedSocket();
    ending.take(9, [FLOODER], '10.0.0.1');
    ending.guard.end();
    expect(ending.limited).toEqual([]);
  });

  it('is one of a few that are limited at once', () => {
    const socket = new FloodedSocket();
    for (let client = 0; client < MAX_LIMITED_CLIENTS + 8; client++) {
      socket.take(20, [`10.0.2.${client}`], '10.0.0.1');
      socket.wait(100);
    }
    expect(socket.limited).toHaveLength(MAX_LIMITED_CLIENTS);
  });
});

describe('nobody is limited', () => {
  it('who is alone', () => {
    const socket = new FloodedSocket();
    socket.take(1000, [FLOODER], undefined);
    expect(socket.told).toEqual([]);
  });

  it('while the buffer is not filling up', () => {
    const socket = new FloodedSocket();
    socket.isFillingUp = false;
    socket.take(1000, [FLOODER], '10.0.0.1');
    expect(socket.told).toEqual([]);
  });

  it('for a burst now and then', () => {
    const socket = new FloodedSocket();
    for (let burst = 0; burst < 20; burst++) {
      socket.take(7, [FLOODER], '10.0.0.1');
      socket.wait(1000);
    }
    expect(socket.told).toEqual([]);
  });

  it('of many clients that ask alike', () => {
    const socket = new FloodedSocket();
    const clients = Array.from({ length: 16 }, (_, index) => `10.0.1.${index}`);
    socket.take(1000, clients, '10.0.0.1');
    expect(socket.told).toEqual([]);
  });

  it('where the kernel has no filters, which is asked for once', () => {
    const socket = new FloodedSocket();
    socket.hasFilters = false;
    socket.take(1000, [FLOODER], '10.0.0.1');
    expect(socket.told).toEqual([]);
    expect(socket.guard.isLimiting).toBe(false);
  });
});
