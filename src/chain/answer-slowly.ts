/**
 * The slow way from a packet to a packet: for whatever the table cannot answer.
 */
import type { Log } from '../ground/log.ts';
import { encodeMessage } from '../wire/message.ts';
import { DEFAULT_UDP_SIZE, type Query as ParsedQuery, parseQuery, respond, udpLimit } from '../wire/query.ts';
import { type Message, RCODE } from '../wire/types.ts';
import type { Chain } from './chain.ts';
import { type Client, Query } from './query.ts';
import { replyOf } from './response.ts';

export interface SlowAnswerOptions {
  /** Whether responses carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** What UDP responses may have at most, in octets, and what our OPT records say. Default: 1232. */
  readonly udpSize?: number;
  readonly log: Log;
}

/** The response to a packet; nothing if there is to be none. Never throws. */
export type AnswerSlowly = (packet: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;

export function createAnswerSlowly(chain: Chain, options: SlowAnswerOptions): AnswerSlowly {
  return async (packet, client) => {
    try {
      return await answerPacket(chain, options, packet, client);
    } catch (error) {
      // Nothing below throws on purpose; whatever it is, the others are served on.
      options.log.error('packet not answered', { reason: String(error), client: client.address });
      return undefined;
    }
  };
}

async function answerPacket(
  chain: Chain,
  options: SlowAnswerOptions,
  packet: Uint8Array,
  client: Client,
): Promise<Uint8Array | undefined> {
  const { recursionAvailable, udpSize = DEFAULT_UDP_SIZE } = options;
  const parsed = parseQuery(packet);
  if (parsed.kind === 'drop') return undefined;
  const limit = client.transport === 'udp' ? udpLimit(parsed.edns, udpSize) : undefined;
  const encode = (message: Message) => encodeMessage(message, limit === undefined ? {} : { limit });
  if (parsed.kind === 'error') return encode(respond(parsed, { rcode: parsed.rcode, udpSize }));
  try {
    const answer = await chain(new Query(parsed.question, parsed, client));
    if (answer.kind === 'drop') return undefined;
    return encode(respond(parsed, { ...replyOf(answer), recursionAvailable, udpSize }));
  } catch (error) {
    logFailure(options.log, parsed, error);
    return encode(respond(parsed, { rcode: RCODE.SERVFAIL, recursionAvailable, udpSize }));
  }
}

function logFailure(log: Log, { question }: ParsedQuery, error: unknown): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log.error('query failed inside', { name: question.name, type: question.type, reason });
}
