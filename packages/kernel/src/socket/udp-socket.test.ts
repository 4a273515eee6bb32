import { createSocket } from 'node:dgram';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SocketAddress } from './addresses.ts';
import { PacketBatch } from './batch.ts';
import { type BoundSocket, closeDescriptor } from './descriptor.ts';
import { MSG_DONTWAIT } from './linux.ts';
import { PortInUseError, SocketError } from './socket-error.ts';
import {
  countKernelDrops,
  leavePortGroup,
  openUdpSocket,
  probeUdpPort,
  rejoinPortGroup,
} from './udp-socket.ts';

function open(endpoint: SocketAddress): BoundSocket {
  const socket = openUdpSocket(endpoint, 50);
  onTestFinished(() => closeDescriptor(socket.fd));
  return socket;
}

/** Sends packets from `count` ports, and waits until the kernel has all of them. */
async function sendFromManyPorts(count: number, { address, port }: SocketAddress): Promise<void> {
  const kind = address.includes(':') ? 'udp6' : 'udp4';
  const sockets = Array.from({ length: count }, () => createSocket(kind));
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) =>
          socket.send('query', port, address, () => socket.close(() => resolve())),
        ),
    ),
  );
}

function countQueued({ fd }: BoundSocket): number {
  const batch = new PacketBatch(128);
  let total = 0;
  for (let count = batch.receive(fd, MSG_DONTWAIT); count > 0; count = batch.receive(fd, MSG_DONTWAIT)) {
    total += count;
  }
  return total;
}

describe('UDP sockets', () => {
  it('share a port until one leaves its group, which then keeps what is queued', async () => {
    const one = open({ address: '127.0.0.1', port: 0 });
    const other = open(one.endpoint);
    await sendFromManyPorts(100, one.endpoint);
    const shares = [countQueued(one), countQueued(other)];
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares[0]).toBe(100 - (shares[1] ?? 0));
    await sendFromManyPorts(100, one.endpoint);
    leavePortGroup(one);
    await sendFromManyPorts(100, one.endpoint);
    const queued = countQueued(one);
    expect(queued).toBeGreaterThan(0);
    expect(queued + countQueued(other)).toBe(200);
    expect(queued).toBeLessThan(100);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.2'],
    ['::1', '::1'],
    ['::', '::1'],
  ])('on %s come back to their group, and are sent packets to %s again', async (address, target) => {
    const one = open({ address, port: 0 });
    const { port } = one.endpoint;
    const other = open(one.endpoint);
    const endpoint = { address: target, port };
    leavePortGroup(one);
    await sendFromManyPorts(50, endpoint);
    expect([countQueued(one), countQueued(other)]).toEqual([0, 50]);
    rejoinPortGroup(one, 50);
    await sendFromManyPorts(100, endpoint);
    const shares = [countQueued(one), countQueued(other)];
    expect(Math.min(...shares)).toBeGreaterThan(0);
    expect(shares[0]).toBe(100 - (shares[1] ?? 0));
  });

  it.each(['127.0.0.1', '0.0.0.0', '::1', '::'])('are refused a held port on %s', (address) => {
    const { endpoint } = open({ address, port: 0 });
    expect(() => probeUdpPort(endpoint)).toThrow(PortInUseError);
    expect(() => probeUdpPort(endpoint)).toThrow('join it with --takeover');
  });

  it('cannot join a port that its holder does not share', async () => {
    const holder = createSocket('udp4');
    await new Promise<void>((resolve) => holder.bind(0, '127.0.0.1', resolve));
    onTestFinished(() => void holder.close());
    const joining = { address: '127.0.0.1', port: holder.address().port };
    expect(() => openUdpSocket(joining, 50)).toThrow('stop that one first');
  });

  it('need an address of this machine', () => {
    const endpoint = { address: '192.0.2.1', port: 5353 };
    expect(() => probeUdpPort(endpoint)).toThrow(SocketError);
    expect(() => probeUdpPort(endpoint)).toThrow(
      'cannot bind: 192.0.2.1:5353 (EADDRNOTAVAIL); no interface of this machine has the address',
    );
  });

  it('tell how many packets the kernel dropped', async () => {
    const socket = open({ address: '127.0.0.1', port: 0 });
    expect(countKernelDrops(socket.fd)).toBe(0);
    const sender = createSocket('udp4');
    onTestFinished(() => void sender.close());
    const packet = Buffer.alloc(8192);
    let sent = 0;
    while (countKernelDrops(socket.fd) === 0 && sent < 10_000) {
      await new Promise<void>((resolve) =>
        sender.send(packet, socket.endpoint.port, '127.0.0.1', () => resolve()),
      );
      sent++;
    }
    expect(countQueued(socket) + countKernelDrops(socket.fd)).toBe(sent);
    expect(countKernelDrops(socket.fd)).toBe(1);
  });
});
