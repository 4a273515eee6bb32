import { expect, it } from 'vitest';
import { closeDescriptor } from './descriptor.ts';
import { countPortSharers } from './port-sharers.ts';
import { type Spread, steerPort } from './port-steering.ts';
import { countReceived, openClients, openSharing } from './testing/shared-port.ts';
import { openUdpSocket } from './udp-socket.ts';

const CLIENTS = 24;

it.each([
  ['udp4', '127.0.0.1', '127.0.0.1'],
  ['udp6', '::1', '::1'],
  ['udp4', '0.0.0.0', '127.0.0.1'],
  ['udp6', '::', '::1'],
] as const)('says which socket gets a packet: %s on %s', async (family, bound, asked) => {
  const sockets = openSharing(bound, 3);
  const clients = await openClients(family, CLIENTS);
  const without = await countReceived(clients, sockets, asked);
  expect(without.reduce((sum, count) => sum + count)).toBe(CLIENTS);
  const spread = async (how: Spread) => {
    expect(sockets.map(({ fd }) => steerPort(fd, how))).toEqual([0, 0, 0]);
    return countReceived(clients, sockets, asked);
  };
  expect(await spread({ kind: 'by client' })).toEqual(without);
  expect(await spread({ kind: 'first', sockets: 1 })).toEqual([CLIENTS, 0, 0]);
  const two = await spread({ kind: 'first', sockets: 2 });
  expect(two[2]).toBe(0);
  expect((two[0] ?? 0) + (two[1] ?? 0)).toBe(CLIENTS);
  // One socket gets all packets with a probability of 2^-23.
  expect(two).not.toContain(CLIENTS);
  // A socket that joins later is the last: it gets no packets until the program selects it.
  const later = openUdpSocket({ address: bound, port: sockets[0]?.endpoint.port ?? 0 }, 1);
  const withLater = await countReceived(clients, [...sockets, later], asked);
  expect(withLater.slice(2)).toEqual([0, 0]);
  closeDescriptor(later.fd);
  expect(await spread({ kind: 'by client' })).toEqual(without);
});

it('is refused for what is no socket', () => {
  expect(steerPort(-1, { kind: 'first', sockets: 1 })).toBeGreaterThan(0);
});

it.each(['127.0.0.1', '::1', '0.0.0.0', '::', '127.3.2.1'])('counts the sockets of a port: %s', (address) => {
  const [first] = openSharing(address, 3);
  if (first === undefined) throw new Error('a socket');
  expect(countPortSharers(first.endpoint)).toBe(3);
  const another = openUdpSocket(first.endpoint, 1);
  expect(countPortSharers(first.endpoint)).toBe(4);
  closeDescriptor(another.fd);
  expect(countPortSharers(first.endpoint)).toBe(3);
});
