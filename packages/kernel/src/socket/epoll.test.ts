import { expect, it } from 'vitest';
import { PacketBatch } from './batch.ts';
import { connectUdp } from './connected-udp.ts';
import { closeDescriptor } from './descriptor.ts';
import { Epoll } from './epoll.ts';
import { MSG_DONTWAIT } from './linux.ts';
import { MessageRow } from './message-row.ts';
import { openUdpSocket } from './udp-socket.ts';

it('says which sockets have packets, until they are read or closed', () => {
  const epoll = new Epoll();
  const [one, other] = [0, 1].map(() => openUdpSocket({ address: '127.0.0.1', port: 0 }, 1));
  if (one === undefined || other === undefined) throw new Error('two sockets');
  expect(epoll.add(one.fd, 7)).toBe(true);
  expect(epoll.add(other.fd, 0xffff_fff0)).toBe(true);
  expect(epoll.wait(0)).toBe(0);
  const senders = [one, other].map(({ endpoint }) =>
    connectUdp({ peer: endpoint, source: undefined, shared: false }),
  );
  const row = new MessageRow(1, 64, 'connected');
  row.setLength(0, 3);
  for (const fd of senders) row.send(fd, 1, { skips: () => true });
  const ready = epoll.wait(1000);
  expect(Array.from({ length: ready }, (_, event) => epoll.tokenAt(event)).sort()).toEqual(
    [7, 0xffff_fff0].sort(),
  );
  expect(new PacketBatch(64).receive(one.fd, MSG_DONTWAIT)).toBe(1);
  expect([epoll.wait(0), epoll.tokenAt(0)]).toEqual([1, 0xffff_fff0]);
  closeDescriptor(other.fd);
  expect(epoll.wait(0)).toBe(0);
  for (const fd of [one.fd, ...senders]) closeDescriptor(fd);
  epoll.close();
  expect(epoll.add(0, 1)).toBe(false);
});
