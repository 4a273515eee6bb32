/**
 * An outside server: it knows names below `test.` and refuses all others, as did the server used for recording the golden
 * answers.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { decodeMessage } from '@portolan/dns/message.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';

/** All names in here have this address at every server; each other name below `test.` has the server's own. */
export const SHARED_DOMAIN = { name: 'shared.test', answer: '198.51.100.1' };

/** Where stub servers are asked that are named, since their names come without a port. */
export const NAMED_SERVER = { address: '127.0.0.77', port: 53 };

/** Other tests do the same at the same time; whose server answers makes no difference. */
const SHARED = { type: 'udp4', reuseAddr: true } as const;

/** Whether we may serve there: as root, and where the system lets others. */
export const mayServeDnsPort = await tryToBind();

async function tryToBind(): Promise<boolean> {
  const socket = createSocket(SHARED);
  const bound = new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(NAMED_SERVER.port, NAMED_SERVER.address, () => resolve(true));
  });
  const isBound = await bound;
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return isBound;
}

/** Answers every question for an address with this one, by UDP alone. */
export async function startNamedServer(
  address: string,
  atEnd: (stop: () => Promise<void>) => void,
): Promise<void> {
  const socket = createSocket(SHARED);
  socket.on('message', (packet, client) => {
    const query = decodeMessage(packet);
    socket.send(reply(query, { answers: [makeAddressRecord(query, address)] }), client.port, client.address);
  });
  socket.bind(NAMED_SERVER.port, NAMED_SERVER.address);
  await once(socket, 'listening');
  atEnd(() => new Promise<void>((resolve) => socket.close(() => resolve())));
}

/** @param address what this server says of names that not all servers agree on */
export async function startExternalServer(
  address: string,
  atEnd: (stop: () => Promise<void>) => void,
): Promise<LoopbackUpstream> {
  const server = await LoopbackUpstream.start(({ query, send }) => {
    const [question] = query.questions;
    const name = question?.name.toLowerCase() ?? '';
    if (!name.endsWith('.test.')) {
      send(reply(query, { answers: [], header: { ...query.header, response: true, rcode: RCODE.REFUSED } }));
      return;
    }
    const found = name.endsWith(`.${SHARED_DOMAIN.name}.`) ? SHARED_DOMAIN.answer : address;
    send(reply(query, { answers: question?.type === TYPE.A ? [makeAddressRecord(query, found)] : [] }));
  });
  atEnd(() => server.stop());
  return server;
}
