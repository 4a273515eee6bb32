import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { encodeSocketAddress } from './addresses.ts';
import { closeDescriptor } from './descriptor.ts';
import { ENVELOPE } from './envelope.ts';
import { MSG_DONTWAIT } from './linux.ts';
import { HEADER, HEADER_WORDS, MessageRow } from './message-row.ts';
import { openUdpSocket } from './udp-socket.ts';

function envelopeTo(port: number): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE.OCTETS);
  const name = encodeSocketAddress({ address: '127.0.0.1', port });
  envelope.set(name);
  envelope[ENVELOPE.NAME_LENGTH] = name.length;
  return envelope;
}

it('sends what the kernel takes, asks what becomes of the rest, and receives as many as it holds', async () => {
  const { fd, endpoint } = openUdpSocket({ address: '127.0.0.1', port: 0 }, 50);
  onTestFinished(() => closeDescriptor(fd));
  const peer = createSocket('udp4');
  onTestFinished(() => void peer.close());
  const heard: string[] = [];
  peer.on('message', (message: Buffer, { port }: RemoteInfo) => {
    heard.push(message.toString());
    peer.send(message, port, '127.0.0.1');
  });
  peer.bind(0, '127.0.0.1');
  await once(peer, 'listening');
  const row = new MessageRow(4, 10, 'any');
  // The kernel refuses to send to port 0.
  for (const [seat, port] of [peer.address().port, 0, peer.address().port].entries()) {
    row.address(seat, envelopeTo(port));
    row.octets[row.packetAt(seat)] = 0x61 + seat;
    row.setLength(seat, 1);
  }
  const refused: [number, string][] = [];
  const left = row.send(fd, 3, {
    skips(index) {
      refused.push([index, refused.length === 0 ? 'again' : 'left out']);
      return refused.length > 1;
    },
  });
  expect(left).toBe(0);
  expect(refused).toEqual([
    [1, 'again'],
    [1, 'left out'],
  ]);
  const back = new MessageRow(1, 10, 'any');
  const echoed: string[] = [];
  while (echoed.length < 2) {
    back.setLength(0, back.packetSize);
    back.words[HEADER.NAME_LENGTH] = 28;
    if (back.receive(fd, MSG_DONTWAIT) === 1)
      echoed.push(String.fromCharCode(back.octets[back.packets] ?? 0) + back.words[HEADER.RECEIVED]);
    await new Promise(setImmediate);
  }
  expect(heard).toEqual(['a', 'c']);
  expect(echoed).toEqual(['a1', 'c1']);
  expect(back.receive(fd, MSG_DONTWAIT)).toBeLessThan(0);
  expect([HEADER_WORDS, endpoint.address]).toEqual([16, '127.0.0.1']);
});
