/**
 * The reply of an upstream server: the received octets if they need no decoding, or a decoded message.
 */
import type { Message } from '../../wire/types.ts';
import type { RawReply } from './raw-reply.ts';

export interface MessageReply {
  readonly kind: 'message';
  readonly message: Message;
}

/** A `RawReply` is lent: it is valid until the callback returns. `messageOf` makes a message that may be kept. */
export type UpstreamReply = RawReply | MessageReply;

/** The reply as a message in memory of its own. */
export function messageOf(reply: UpstreamReply): Message {
  return reply.kind === 'raw' ? reply.decode() : reply.message;
}

/** The whole response code, with the bits from EDNS. */
export function rcodeOf(reply: UpstreamReply): number {
  if (reply.kind === 'raw') return reply.rcode;
  const { header, edns } = reply.message;
  return header.rcode | ((edns?.extendedRcode ?? 0) << 4);
}
