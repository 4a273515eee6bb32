import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { frame } from '@portolan/dns/frames.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { connectTcp, stateOfConnection } from '../../socket/connected-tcp.ts';
import { closeDescriptor } from '../../socket/descriptor.ts';
import { batchesAvailable } from '../../socket/libc.ts';
import { UpstreamStream } from './upstream-stream.ts';

/** A stream to a loopback server, and the server's end of it. */
async function connect(): Promise<{ readonly stream: UpstreamStream; readonly peer: Socket }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const fd = connectTcp({ address, port });
  onTestFinished(() => closeDescriptor(fd));
  const [peer] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => void peer.destroy());
  peer.setNoDelay(true);
  expect(stateOfConnection(fd)).toBe('open');
  return { stream: new UpstreamStream(fd, 0), peer };
}

const message = fc.uint8Array({ maxLength: 2000 });

it.runIf(batchesAvailable() === true)('takes messages out of the stream, however it is cut', async () => {
  const { stream, peer } = await connect();
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 10 }),
      async (messages, sizes) => {
        const octets = Buffer.concat(messages.map((each) => frame(each)));
        const received: Uint8Array[] = [];
        const receive = () => {
          expect(stream.receive(0)).toBe(0);
          while (stream.next())
            received.push(stream.octets.slice(stream.start, stream.start + stream.length));
        };
        for (let [at, piece] = [0, 0]; at < octets.length; piece += 1) {
          const size = sizes[piece % sizes.length] ?? 1;
          peer.write(octets.subarray(at, at + size));
          at += size;
          await setImmediate();
          receive();
        }
        while (received.length < messages.length) {
          await setImmediate();
          receive();
        }
        expect(received).toEqual(messages);
      },
    ),
  );
});

it.runIf(batchesAvailable() === true)('says when the server has closed the connection', async () => {
  const { stream, peer } = await connect();
  peer.end();
  let errno = 0;
  while (errno === 0) {
    await setImmediate();
    errno = stream.receive(0);
  }
  expect([errno, stateOfConnection(stream.fd)]).toEqual([104, 'ended']);
});
