/**
 * Reactions of upstream servers whose faults are explained: one answers late, another sends queries back, a third fails as it is told.
 */
import { createSocket } from 'node:dgram';
import { ROOT } from '@portolan/dns/name.ts';
import { type Message, RCODE, TYPE } from '@portolan/dns/types.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion, makeAddressRecord, replyMessage } from '@portolan/testing/upstream/reply.ts';

/** Copies of a query that a server sends back: the other one may merge equal questions. */
const COPIES = 3;
/** How often it asks, and the milliseconds between. */
const TRIES = 8;
const PAUSE = 500;
const KNOWN = /(?:^|\.)example\.com\.$/i;
/** The names that do not exist for a server with faults. */
const MISSING = /(?:^|\.)invalid\.$/i;

/** Names below example.com have an address, all others are denied. @param delay milliseconds that a reply takes */
export const answerExample =
  (delay = 0): React =>
  ({ query, send, after }) => {
    const { name } = getQuestion(query);
    const isKnown = KNOWN.test(name) || name === ROOT;
    const message = answerAddress(query, isKnown ? RCODE.NOERROR : RCODE.NXDOMAIN, 30);
    after(delay, () => send(message));
  };

/** Sends each query back to this port, from a socket that closes with the test. */
export function sendBackTo(port: number, atEnd: (close: () => void) => void): React {
  const client = createSocket('udp4').on('error', () => {});
  atEnd(() => client.close());
  return ({ octets, after }) => {
    // As resolvers do, it asks again while it has no answer: the server may not listen yet.
    const sendBack = (tries: number) => {
      if (tries === 0) return;
      for (let copy = 0; copy < COPIES; copy += 1) client.send(octets, port, '127.0.0.1', () => {});
      after(PAUSE, () => sendBack(tries - 1));
    };
    sendBack(TRIES);
  };
}

/** Faults that a test makes and undoes. Without any, every name has an address. */
export class UpstreamFaults {
  /** Milliseconds until the server replies. */
  delay = 0;
  /** The response code of all its replies; undefined: by the name. */
  rcode: number | undefined;
  isSilent = false;
  /** Names that it denies. */
  readonly denied = new Set<string>();

  readonly react: React = ({ query, send, after }) => {
    if (this.isSilent) return;
    const { name } = getQuestion(query);
    const isMissing = MISSING.test(name) || this.denied.has(name.toLowerCase());
    const message = answerAddress(query, this.rcode ?? (isMissing ? RCODE.NXDOMAIN : RCODE.NOERROR), 1);
    if (this.delay === 0) send(message);
    else after(this.delay, () => send(message));
  };
}

/** Without EDNS; only addresses of version 4 exist. */
function answerAddress(query: Message, rcode: number, ttl: number): Message {
  const hasAddress = rcode === RCODE.NOERROR && getQuestion(query).type === TYPE.A;
  const answers = hasAddress ? [makeAddressRecord(query, '192.0.2.1', ttl)] : [];
  const message = replyMessage(query, { answers, edns: undefined });
  return { ...message, header: { ...message.header, rcode } };
}
