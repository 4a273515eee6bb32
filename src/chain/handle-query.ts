/**
 * The slow path from a query packet to a response packet, for queries that the table cannot answer.
 */
import type { Log } from '../base/log.ts';
import { encodeMessage } from '../wire/message.ts';
import { type AnswerableQuery, parseQuery, respond } from '../wire/query.ts';
import { DEFAULT_UDP_SIZE, maxResponseOctets } from '../wire/response-size.ts';
import { type EdnsOption, type Message, RCODE } from '../wire/types.ts';
import type { Answer } from './answer.ts';
import type { Chain } from './handler.ts';
import { type Client, Query } from './query.ts';
import { explainResponse, replyOf } from './response.ts';

export interface HandleQueryOptions {
  /** Whether responses carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Maximum size of UDP responses in octets, also sent in our OPT records. Default: 1232. */
  readonly udpSize?: number;
  /** Whether responses carry extended errors of our own. Those of upstream servers are always passed on. Default: no. */
  readonly sendsExtendedErrors?: boolean | undefined;
  readonly log: Log;
}

/** The response to a packet, no longer than the client takes; undefined: send none. Never throws. */
export type HandleQuery = (packet: Uint8Array, client: Client) => Promise<Uint8Array | undefined>;

export function createHandleQuery(chain: Chain, options: HandleQueryOptions): HandleQuery {
  return async (packet, client) => {
    try {
      return await answerPacket(chain, options, packet, client);
    } catch (error) {
      // The code below does not throw on purpose. Other queries must still be served.
      options.log.error('packet not answered', { reason: String(error), client: client.address });
      return undefined;
    }
  };
}

async function answerPacket(
  chain: Chain,
  options: HandleQueryOptions,
  packet: Uint8Array,
  client: Client,
): Promise<Uint8Array | undefined> {
  const { recursionAvailable, udpSize = DEFAULT_UDP_SIZE } = options;
  const parsed = parseQuery(packet);
  if (parsed.kind === 'drop') return undefined;
  const limit = maxResponseOctets(client.transport, parsed.edns?.udpSize ?? 0, udpSize);
  const encode = (message: Message) => encodeMessage(message, { limit });
  if (parsed.kind === 'error') return encode(respond(parsed, { rcode: parsed.rcode, udpSize }));
  try {
    const answer = await chain(new Query(parsed.question, parsed, client));
    if (answer.kind === 'drop') return undefined;
    const message = respond(parsed, { ...replyOf(answer), recursionAvailable, udpSize });
    if (message.edns === undefined) return encode(message);
    const edns = { ...message.edns, options: ownOptionsOf(answer) };
    const sending = { options: edns.options, sendsOwn: options.sendsExtendedErrors === true };
    return explainResponse(encode({ ...message, edns }), limit, answer, sending);
  } catch (error) {
    logFailure(options.log, parsed, error);
    return encode(respond(parsed, { rcode: RCODE.SERVFAIL, recursionAvailable, udpSize }));
  }
}

/** EDNS options that a handler sends. */
function ownOptionsOf(answer: Answer): readonly EdnsOption[] {
  return answer.kind === 'message' ? (answer.edns?.options ?? []) : [];
}

function logFailure(log: Log, { question }: AnswerableQuery, error: unknown): void {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log.error('internal error', { name: question.name, type: question.type, reason });
}
