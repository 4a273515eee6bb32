/**
 * A server of the world outside: it knows names below `test.`, and refuses all others, as the one did with which the golden
 * answers were recorded.
 */
import { RCODE, TYPE } from '../../src/wire/types.ts';
import { addressOf, LoopbackUpstream, reply } from '../forward/loopback-upstream.ts';

/** Has this address at every server; each other name below `test.` has the server's own. */
export const SHARED_NAME = { name: 'shared.test', answer: '198.51.100.1' };

/** @param address what this server says of names that not all servers agree on */
export async function startOutsideServer(
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
    const found = name === `${SHARED_NAME.name}.` ? SHARED_NAME.answer : address;
    send(reply(query, { answers: question?.type === TYPE.A ? [addressOf(query, found)] : [] }));
  });
  atEnd(() => server.stop());
  return server;
}
