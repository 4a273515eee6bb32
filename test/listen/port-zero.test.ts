/**
 * Queries from port 0, which no answer can be sent to: the kernel refuses the whole of the `sendmmsg` from there on.
 */
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { encodeSocketAddress } from '../../src/socket/addresses.ts';
import { closeDescriptor } from '../../src/socket/descriptor.ts';
import { ENVELOPE } from '../../src/socket/envelope.ts';
import { batchesAvailable, libc } from '../../src/socket/libc.ts';
import { AF_INET } from '../../src/socket/linux.ts';
import { ReplySender } from '../../src/socket/reply.ts';
import { bundleThread } from '../support/bundle-thread.ts';
import { waitUntil } from '../support/wait-until.ts';
import { portOf, startClient, startUdp } from './scripted-udp.ts';
import { queryFor } from './udp-client.ts';

const SOCK_RAW = 3;
const IPPROTO_UDP = 17;

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

/** A raw socket, or -1 where we have not the right to one. */
function openRawSocket(): number {
  return batchesAvailable() === true ? libc().socket(AF_INET, SOCK_RAW, IPPROTO_UDP) : -1;
}

const probe = openRawSocket();
const mayForge = probe >= 0;
if (mayForge) closeDescriptor(probe);

/** Sends a UDP packet whose source port is 0. */
function forge(fd: number, sender: ReplySender, port: number, payload: Uint8Array): void {
  const envelope = new Uint8Array(ENVELOPE.OCTETS);
  const destination = encodeSocketAddress({ address: '127.0.0.1', port: 0 });
  envelope.set(destination, ENVELOPE.NAME);
  envelope[ENVELOPE.NAME_LENGTH] = destination.length;
  const packet = Buffer.alloc(8 + payload.length);
  packet.writeUInt16BE(port, 2);
  packet.writeUInt16BE(packet.length, 4);
  packet.set(payload, 8);
  expect(sender.send(fd, envelope, packet)).toBe('sent');
}

it.runIf(mayForge)('queries from port 0 cost no other client its answer (needs raw sockets)', async () => {
  const listener = await startUdp({ threadEntry });
  const client = await startClient();
  const sender = new ReplySender();
  const fd = openRawSocket();
  onTestFinished(() => closeDescriptor(fd));
  const port = portOf(listener);
  for (let round = 0; round < 20; round++) {
    const answers: Promise<unknown>[] = [];
    for (let index = 0; index < 20; index++) {
      if (index % 3 === 0) forge(fd, sender, port, queryFor('fast.example', index));
      if (index % 7 === 0) forge(fd, sender, port, queryFor('slow.example', index));
      answers.push(client.ask(index % 5 === 0 ? 'slow.example' : 'fast.example', port, '127.0.0.1'));
    }
    await Promise.all(answers);
  }
  await waitUntil('all packets to be read', () => listener.count().readers[0]?.packets === 20 * (20 + 7 + 3));
  expect(listener.count().readers[0]).toMatchObject({ refused: 20 * 7, blocked: 0, faults: 0 });
  await waitUntil('slow answers to be tried', () => listener.count().slow.unanswered === 0);
  expect(listener.count().slow).toMatchObject({ unsent: 20 * 3, faults: 0 });
  expect(client.strays).toBe(0);
});
