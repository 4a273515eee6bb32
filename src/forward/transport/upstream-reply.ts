/**
 * The reply of an upstream server: the octets that came, where they need not be decoded, or a decoded message.
 */
import type { Message } from '../../wire/types.ts';
import type { RawReply } from './raw-reply.ts';

export interface MessageReply {
  readonly kind: 'message';
  readonly message: Message;
}

/** A `RawReply` is lent: it is valid until the call that hands it over returns. `messageOf` gives what may be kept. */
export type UpstreamReply = RawReply | MessageReply;

/** The reply as a message of its own. */
export function messageOf(reply: UpstreamReply): Message {
  return reply.kind === 'raw' ? reply.decode() : reply.message;
}

/** The whole response code, with the bits that EDNS adds. */
export function rcodeOf(reply: UpstreamReply): number {
  if (reply.kind === 'raw') return reply.rcode;
  const { header, edns } = reply.message;
  return header.rcode | ((edns?.extendedRcode ?? 0) << 4);
}
