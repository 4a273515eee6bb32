/**
 * An upstream server that works, answers late, sends queries back, or is not there.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';

export interface Upstream {
  readonly port: number;
  /** Milliseconds until it replies. */
  delay: number;
  /** The port of the server that it sends queries back to. */
  loopsTo: number | undefined;
  /** Also more than once. */
  stop(): void;
}

/** Copies of a query that it sends back: a server may merge equal questions. */
const COPIES = 3;
/** How often it asks, and the milliseconds between. */
const TRIES = 8;
const PAUSE = 500;
const KNOWN = /(?:^|\.)example\.com\.$/i;
const ADDRESS = '127.0.0.1';

/** It has an address for names below example.com, and denies all others. */
export async function startUpstream(): Promise<Upstream> {
  const socket = await open();
  const client = await open();
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    for (const each of [socket, client]) each.removeAllListeners('message').close();
  };
  const upstream: Upstream = { port: socket.address().port, delay: 0, loopsTo: undefined, stop };
  // As resolvers do, it asks again while it has no answer: the server may not listen yet.
  const sendBack = (packet: Buffer, to: number, tries = TRIES) => {
    if (isOver || tries === 0) return;
    for (let copy = 0; copy < COPIES; copy += 1) client.send(packet, to, ADDRESS, () => {});
    setTimeout(() => sendBack(packet, to, tries - 1), PAUSE).unref();
  };
  socket.on('message', (packet, { port, address }) => {
    if (upstream.loopsTo !== undefined) {
      sendBack(packet, upstream.loopsTo);
      return;
    }
    const reply = replyTo(packet);
    setTimeout(() => {
      if (!isOver) socket.send(reply, port, address, () => {});
    }, upstream.delay).unref();
  });
  return upstream;
}

/** A port that refuses all packets. */
export async function findClosedPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

async function open(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, ADDRESS);
  socket.on('error', () => {});
  await once(socket, 'listening');
  return socket;
}

function replyTo(packet: Uint8Array): Uint8Array {
  const query = decodeMessage(packet);
  const [question] = query.questions;
  const name = question?.name ?? ROOT;
  const isKnown = KNOWN.test(name) || name === ROOT;
  const answers =
    isKnown && question?.type === TYPE.A
      ? [{ name, class: CLASS.IN, ttl: 30, data: { kind: 'A', address: '192.0.2.1' } as const }]
      : [];
  const header = {
    ...query.header,
    response: true,
    recursionAvailable: true,
    rcode: isKnown ? RCODE.NOERROR : RCODE.NXDOMAIN,
  };
  return encodeMessage({ ...query, header, answers, edns: undefined });
}
