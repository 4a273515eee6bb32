import { createSocket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeSocketAddress } from './addresses.ts';
import { PacketBatch } from './batch.ts';
import { type LimitedClient, limitClients, MAX_LIMITED_CLIENTS } from './client-filter.ts';
import { closeDescriptor } from './descriptor.ts';
import { MSG_DONTWAIT } from './linux.ts';
import { openUdpSocket } from './udp-socket.ts';

function clientAt(address: string, share: number): LimitedClient {
  const isIpv6 = address.includes(':');
  const encoded = encodeSocketAddress({ address, port: 0 });
  return {
    address: isIpv6 ? encoded.slice(8, 24) : encoded.slice(4, 8),
    share,
  };
}

/** A server socket, and a function that sends it packets from an address and returns how many it accepted. */
function open(address: string) {
  const { fd, endpoint } = openUdpSocket({ address, port: 0 }, 50);
  onTestFinished(() => closeDescriptor(fd));
  const take = async (from: string, packets: number): Promise<number> => {
    const socket = createSocket(from.includes(':') ? 'udp6' : 'udp4');
    onTestFinished(() => void socket.close());
    await new Promise<void>((resolve) => socket.bind(0, from, resolve));
    const batch = new PacketBatch(64);
    let taken = 0;
    for (let sent = 0; sent < packets; sent++) {
      await new Promise((resolve) => socket.send('query', endpoint.port, address, resolve));
      taken += Math.max(0, batch.receive(fd, MSG_DONTWAIT));
    }
    return taken;
  };
  return { fd, take };
}

const PACKETS = 400;
/** A filter that passes one in 8 stays within these bounds almost surely (6 standard deviations). */
const MIN = 10;
const MAX = 90;

describe('a filter of clients', () => {
  it('lets a part of the packets of a limited client through, and all of others', async () => {
    const { fd, take } = open('127.0.0.1');
    expect(limitClients(fd, [clientAt('127.0.0.66', 8)])).toBe(true);
    const taken = await take('127.0.0.66', PACKETS);
    expect(taken).toBeGreaterThan(MIN);
    expect(taken).toBeLessThan(MAX);
    expect(await take('127.0.0.67', 100)).toBe(100);
    expect(limitClients(fd, [])).toBe(true);
    expect(await take('127.0.0.66', 100)).toBe(100);
  });

  it('knows as many clients as it may, each with a share of its own', async () => {
    const { fd, take } = open('127.0.0.1');
    const clients = Array.from({ length: MAX_LIMITED_CLIENTS }, (_, index) =>
      clientAt(`127.0.1.${index + 1}`, index === 0 ? 1 : 2 ** 16),
    );
    expect(limitClients(fd, clients)).toBe(true);
    expect(await take('127.0.1.1', 50)).toBe(50);
    expect(await take('127.0.1.2', 50)).toBeLessThan(5);
    expect(await take(`127.0.1.${MAX_LIMITED_CLIENTS}`, 50)).toBeLessThan(5);
    expect(await take('127.0.1.100', 50)).toBe(50);
  });

  it('compares all of an IPv6 address', async () => {
    const { fd, take } = open('::1');
    for (const other of ['::2', '1::1', '0:0:1::1', '::1:0:0:1']) {
      expect(limitClients(fd, [clientAt(other, 2 ** 16)])).toBe(true);
      expect(await take('::1', 20)).toBe(20);
    }
    const many = Array.from({ length: MAX_LIMITED_CLIENTS - 1 }, (_, index) => clientAt(`fd00::${index}`, 8));
    expect(limitClients(fd, [...many, clientAt('::1', 2 ** 16)])).toBe(true);
    expect(await take('::1', 50)).toBeLessThan(5);
  });
});
