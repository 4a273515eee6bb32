import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { decodeSocketAddress, encodeSocketAddress, type SocketAddress } from './addresses.ts';
import { PacketBatch } from './batch.ts';
import { closeDescriptor } from './descriptor.ts';
import { ENVELOPE, readClient } from './envelope.ts';
import { MSG_DONTWAIT, MSG_WAITFORONE } from './linux.ts';
import { SocketReadiness } from './readiness.ts';
import { ReplySender } from './reply.ts';
import { openUdpSocket } from './udp-socket.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const PACKET_OCTETS = 128;

/** A socket that is closed when the test ends. */
function open(address: SocketAddress = LOOPBACK): { fd: number; endpoint: SocketAddress } {
  const socket = openUdpSocket(address, 50);
  onTestFinished(() => closeDescriptor(socket.fd));
  return socket;
}

/** The packets that have arrived at a socket. */
function receiveAll(fd: number): string[] {
  const batch = new PacketBatch(PACKET_OCTETS);
  const texts: string[] = [];
  for (let count = batch.receive(fd, MSG_DONTWAIT); count > 0; count = batch.receive(fd, MSG_DONTWAIT)) {
    for (let index = 0; index < count; index++) texts.push(readPacketText(batch, index));
  }
  return texts;
}

function readPacketText(batch: PacketBatch, index: number): string {
  const start = batch.startAt(index);
  return Buffer.from(batch.octets.subarray(start, start + batch.lengthAt(index))).toString();
}

function answerWith(batch: PacketBatch, index: number, text: string): void {
  batch.octets.set(Buffer.from(text), batch.startAt(index));
  batch.answer(index, text.length);
}

describe('PacketBatch', () => {
  let server: ReturnType<typeof open>;
  let client: ReturnType<typeof open>;
  const sender = new ReplySender();
  let toServer: Uint8Array;

  /** Sends packets to the server. Loopback delivers before the call returns. */
  const send = (texts: readonly string[]): void => {
    for (const text of texts) expect(sender.send(client.fd, toServer, Buffer.from(text))).toBe('sent');
  };

  beforeEach(() => {
    server = open();
    client = open();
    // An envelope addressed to the server, made from a packet that the client sends to itself.
    const batch = new PacketBatch(PACKET_OCTETS);
    toServer = new Uint8Array(ENVELOPE.OCTETS);
    const self = envelopeTo(client.endpoint);
    expect(sender.send(server.fd, self, Buffer.from('hello'))).toBe('sent');
    expect(batch.receive(client.fd, MSG_DONTWAIT)).toBe(1);
    batch.writeEnvelope(0, toServer, 0);
    expect(readClient(toServer)).toEqual(server.endpoint);
  });

  it('sends the answers of the packets that have one, in order, over many batches', () => {
    const batch = new PacketBatch(PACKET_OCTETS);
    const rounds = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 64 }), { maxLength: 8 });
    fc.assert(
      fc.property(rounds, (plan) => {
        for (const [round, answered] of plan.entries()) {
          const names = answered.map((_, index) => `${round}/${index}`);
          send(names);
          expect(batch.receive(server.fd, MSG_WAITFORONE)).toBe(answered.length);
          for (const [index, isAnswered] of answered.entries()) {
            expect(readPacketText(batch, index)).toBe(names[index]);
            if (isAnswered) answerWith(batch, index, `answer to ${names[index]}`);
          }
          batch.send(server.fd);
          expect([batch.refused, batch.blocked]).toEqual([0, 0]);
          expect(receiveAll(client.fd)).toEqual(
            names.filter((_, index) => answered[index]).map((name) => `answer to ${name}`),
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('answers later from the envelope, and unaffected by the batches after', () => {
    const batch = new PacketBatch(PACKET_OCTETS);
    const envelopes = new Uint8Array(3 * ENVELOPE.OCTETS);
    send(['one', 'two', 'three']);
    batch.receive(server.fd, MSG_DONTWAIT);
    batch.writeEnvelope(0, envelopes, 0);
    answerWith(batch, 1, 'at once');
    batch.writeEnvelope(2, envelopes, 2 * ENVELOPE.OCTETS);
    batch.send(server.fd);
    send(['four']);
    batch.receive(server.fd, MSG_DONTWAIT);
    for (const at of [0, 2 * ENVELOPE.OCTETS]) {
      const envelope = envelopes.subarray(at, at + ENVELOPE.OCTETS);
      expect(readClient(envelope)).toEqual(client.endpoint);
      expect(sender.send(server.fd, envelope, Buffer.from(`later ${at}`))).toBe('sent');
    }
    expect(receiveAll(client.fd)).toEqual(['at once', 'later 0', `later ${2 * ENVELOPE.OCTETS}`]);
  });

  it('answers the sender of a packet that has got another client, at once and later', () => {
    const batch = new PacketBatch(PACKET_OCTETS);
    const envelope = new Uint8Array(ENVELOPE.OCTETS);
    const told = { address: '2001:db8::77', port: 4711 };
    const address = encodeSocketAddress(told);
    send(['<one', '<two', 'three']);
    batch.receive(server.fd, MSG_DONTWAIT);
    for (const index of [0, 1]) {
      batch.removeStart(index, 1);
      batch.setClient(index, address, address.length);
      expect(decodeSocketAddress(batch.octets, batch.locateClient(index))).toEqual(told);
    }
    expect([0, 1, 2].map((index) => readPacketText(batch, index))).toEqual(['one', 'two', 'three']);
    batch.writeEnvelope(0, envelope, 0);
    expect(readClient(envelope)).toEqual(told);
    answerWith(batch, 1, 'at once');
    answerWith(batch, 2, 'as usual');
    batch.send(server.fd);
    expect(sender.send(server.fd, envelope, Buffer.from('later'))).toBe('sent');
    expect(receiveAll(client.fd)).toEqual(['at once', 'as usual', 'later']);
    // The next packets have their senders as clients again.
    send(['four']);
    batch.receive(server.fd, MSG_DONTWAIT);
    expect(decodeSocketAddress(batch.octets, batch.locateClient(0))).toEqual(client.endpoint);
    batch.writeEnvelope(0, envelope, 0);
    expect(envelope[ENVELOPE.SENDER_LENGTH]).toBe(0);
  });

  it('tells packets that were cut', () => {
    const batch = new PacketBatch(PACKET_OCTETS);
    send(['x'.repeat(PACKET_OCTETS), 'y'.repeat(PACKET_OCTETS + 1), 'z']);
    expect(batch.receive(server.fd, MSG_DONTWAIT)).toBe(3);
    expect([0, 1, 2].map((index) => batch.isCut(index))).toEqual([false, true, false]);
    expect([0, 1, 2].map((index) => batch.lengthAt(index))).toEqual([128, 128, 1]);
  });

  it('leaves out what the kernel refuses, and sends the rest', () => {
    const batch = new PacketBatch(2 ** 17);
    send(['one', 'two', 'three', 'four']);
    expect(batch.receive(server.fd, MSG_DONTWAIT)).toBe(4);
    answerWith(batch, 0, 'first');
    batch.answer(1, 70_000);
    batch.answer(2, 70_000);
    answerWith(batch, 3, 'last');
    batch.send(server.fd);
    expect([batch.refused, batch.blocked]).toEqual([2, 0]);
    expect(receiveAll(client.fd)).toEqual(['first', 'last']);
  });

  it('waits as long as the socket says, and says why it cannot receive', () => {
    const batch = new PacketBatch(PACKET_OCTETS);
    const start = performance.now();
    expect(batch.receive(server.fd, MSG_WAITFORONE)).toBe(0);
    expect(performance.now() - start).toBeGreaterThanOrEqual(40);
    expect(batch.receive(-1, MSG_DONTWAIT)).toBe(-9);
  });

  it('knows which of several sockets has packets', () => {
    const readiness = new SocketReadiness([client.fd, server.fd]);
    expect(readiness.wait(0)).toBe(0);
    send(['one']);
    expect(readiness.wait(1000)).toBe(1);
    expect([readiness.isReady(0), readiness.isReady(1)]).toEqual([false, true]);
  });
});

function envelopeTo({ port }: SocketAddress): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE.OCTETS);
  envelope.set([2, 0, port >> 8, port & 0xff, 127, 0, 0, 1]);
  envelope[ENVELOPE.NAME_LENGTH] = 16;
  return envelope;
}
