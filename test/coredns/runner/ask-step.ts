/**
 * The step `ask`: one question, once or several times, and the replies.
 */
import { createSocket } from 'node:dgram';
import { connect as connectByHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectByTls } from 'node:tls';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseClass, parseType } from '@portolan/dns/mnemonics.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Edns, type Message, OPCODE, TYPE } from '@portolan/dns/types.ts';
import { encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import { describeRecord, describeReply } from '@portolan/ops/compare/described-reply.ts';
import { isLikeRecord, isSameReply } from '@portolan/ops/compare/judge.ts';
import { call } from '../../listen/grpc-client.ts';
import { makeOption, readRecord } from './record-text.ts';
import type { AskStep, StepResult } from './recorded-case.ts';

/** What the questions of a case share. */
export interface Asking {
  readonly port: number;
  /** Told of the port of each client. */
  readonly onClientPort: (port: number) => void;
  /** Keeps a connection open until the case ends. */
  readonly keep: (close: () => void) => void;
}

const DEFAULT_WAIT_SECONDS = 6;

export async function askQuestion(step: AskStep, id: number, asking: Asking): Promise<StepResult> {
  const packet =
    step.raw === undefined
      ? encodeMessage(makeMessage(step, id))
      : Uint8Array.from(Buffer.from(step.raw, 'hex'));
  const isStream = step.tcp === true || step.tls === true;
  const open = step.grpc === true ? openGrpc : isStream ? openStream : openDatagrams;
  const wait = (step.wait ?? DEFAULT_WAIT_SECONDS) * 1000;
  let channel: Channel | undefined;
  try {
    channel = await open(step, asking);
    if (step.nowait === true) {
      channel.send(packet);
      const { close } = channel;
      asking.keep(close);
      channel = undefined;
      return { sent: true };
    }
    return await askRepeatedly(step, id, packet, { channel, wait });
  } catch (error) {
    return toFailedStep(error);
  } finally {
    channel?.close();
  }
}

async function askRepeatedly(
  step: AskStep,
  id: number,
  packet: Uint8Array,
  { channel, wait }: { readonly channel: Channel; readonly wait: number },
): Promise<StepResult> {
  const results: StepResult[] = [];
  for (let count = 0; count < (step.repeat ?? 1); count += 1) {
    channel.send(packet);
    results.push(await receive(step, id, channel, performance.now() + wait));
  }
  const [first = {}] = results;
  const other = results.findLastIndex((result) => !isSameReply(first, result));
  if (step.collect === true) return { rcode: first['rcode'], firsts: listFirstRecords(results) };
  return other > 0 ? { ...results[other], differs: other } : first;
}

/** Each record that came first, once: a second may have passed between two answers, so TTLs may differ by 1. */
function listFirstRecords(results: readonly StepResult[]): readonly string[] {
  const distinct: string[] = [];
  for (const { answer } of results) {
    const [first] = Array.isArray(answer) ? answer.map(String) : [];
    if (first !== undefined && !distinct.some((record) => isLikeRecord(record, first))) distinct.push(first);
  }
  return distinct.sort();
}

/** The reply to our question; of a transfer all messages as one. */
async function receive(step: AskStep, id: number, channel: Channel, until: number): Promise<StepResult> {
  const answers: string[] = [];
  for (;;) {
    const packet = await channel.receive(until - performance.now());
    const isOurs =
      packet.length >= 12 && (step.raw !== undefined || ((packet[0] ?? 0) << 8) + (packet[1] ?? 0) === id);
    if (!isOurs && channel.isStream) return { error: 'unusable reply' };
    if (!isOurs) continue;
    const message = decodeMessage(packet);
    answers.push(...message.answers.map(describeRecord));
    if (isTransferUnfinished(step, message, answers)) continue;
    return { ...describeReply(message, answers) };
  }
}

function isTransferUnfinished(step: AskStep, { header }: Message, answers: readonly string[]): boolean {
  const isTransfer = step.type === 'AXFR' || step.type === 'IXFR';
  if (!isTransfer || step.tcp !== true || header.rcode !== 0 || !(answers[0] ?? '').includes(' SOA '))
    return false;
  if (answers.length === 1) return step.type !== 'IXFR';
  return !(answers.at(-1) ?? '').includes(' SOA ');
}

function makeMessage(step: AskStep, id: number): Message {
  const { name, rd = true, cd = false, ad = false, aa = false, authority = [] } = step;
  const opcode = OPCODE[(step.opcode ?? 'QUERY') as keyof typeof OPCODE];
  const question =
    name === null
      ? []
      : [
          {
            name: parseName(name),
            type: parseType(step.type ?? 'A') ?? TYPE.A,
            class: parseClass(step.class ?? 'IN') ?? CLASS.IN,
          },
        ];
  return {
    header: {
      id,
      response: false,
      opcode,
      authoritative: aa,
      truncated: false,
      recursionDesired: rd,
      recursionAvailable: false,
      authenticData: ad,
      checkingDisabled: cd,
      rcode: 0,
    },
    questions: question,
    answers: [],
    authorities: authority.map(readRecord),
    additionals: [],
    edns: makeEdns(step),
  };
}

function makeEdns({ edns, do: dnssecOk = false, options = [], version = 0 }: AskStep): Edns | undefined {
  if (edns === undefined && !dnssecOk && options.length === 0 && version === 0) return undefined;
  return {
    version,
    udpSize: edns ?? 1232,
    dnssecOk,
    extendedRcode: 0,
    options: options.map(([kind, value]) => makeOption(kind, value)),
  };
}

interface Channel {
  readonly isStream: boolean;
  send(packet: Uint8Array): void;
  /** The next message. @throws TimeoutError; what the socket failed with */
  receive(milliseconds: number): Promise<Uint8Array>;
  close(): void;
}

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
}

class ClosedError extends Error {
  override readonly name = 'ClosedError';
}

/** A call of gRPC ended without a message. */
class GrpcStatusError extends Error {
  override readonly name = 'GrpcStatusError';
}

function toFailedStep(error: unknown): StepResult {
  if (error instanceof TimeoutError) return { timeout: true };
  if (error instanceof GrpcStatusError) return { error: error.message };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return { error: 'refused' };
  if (error instanceof ClosedError || code !== undefined) return { error: 'closed' };
  throw error;
}

/** Messages that came and those that are waited for. */
class Inbox {
  readonly #messages: Uint8Array[] = [];
  #failure: Error | undefined;
  #wake: () => void = () => {};

  add(message: Uint8Array): void {
    this.#messages.push(message);
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  async next(milliseconds: number): Promise<Uint8Array> {
    const end = performance.now() + milliseconds;
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      if (this.#failure !== undefined) throw this.#failure;
      const rest = end - performance.now();
      if (rest <= 0) throw new TimeoutError('no reply');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** The address that a client of a case sends from. */
function findSourceAddress({ from, to = '127.0.0.1' }: AskStep): string | undefined {
  if (from !== undefined) return from;
  if (to.includes(':')) return '::1';
  return to.startsWith('127.') ? '127.0.0.1' : undefined;
}

function readProxyHeader({ proxy = '' }: AskStep): Buffer {
  return Buffer.from(proxy, 'hex');
}

async function openDatagrams(step: AskStep, { port, onClientPort }: Asking): Promise<Channel> {
  const to = step.to ?? '127.0.0.1';
  const socket = createSocket(to.includes(':') ? 'udp6' : 'udp4');
  const inbox = new Inbox();
  socket.on('message', (message) => inbox.add(message));
  socket.on('error', (error) => inbox.fail(error));
  await new Promise<void>((resolve) => socket.bind({ port: 0, address: findSourceAddress(step) }, resolve));
  onClientPort(socket.address().port);
  await new Promise<void>((resolve) => socket.connect(port, to, () => resolve()));
  return {
    isStream: false,
    send: (packet) => socket.send([readProxyHeader(step), packet]),
    receive: (milliseconds) => inbox.next(milliseconds),
    close: () => socket.close(),
  };
}

async function openStream(step: AskStep, { port, onClientPort }: Asking): Promise<Channel> {
  const host = step.to ?? '127.0.0.1';
  const localAddress = findSourceAddress(step);
  const where = { host, port, ...(localAddress !== undefined && { localAddress }) };
  const plain = connect(where);
  plain.write(readProxyHeader(step));
  const socket: Socket =
    step.tls === true ? connectByTls({ socket: plain, rejectUnauthorized: false }) : plain;
  const inbox = new Inbox();
  const parser = new FrameParser();
  socket.on('error', (error) => inbox.fail(error));
  socket.on('close', () => inbox.fail(new ClosedError('closed')));
  socket.on('data', (chunk) => {
    parser.push(chunk);
    for (let message = parser.next(); message !== undefined; message = parser.next())
      inbox.add(Uint8Array.from(message));
  });
  const ready = step.tls === true ? 'secureConnect' : 'connect';
  await new Promise<void>((resolve, reject) => {
    socket.once(ready, () => resolve());
    socket.once('error', reject);
  });
  onClientPort(plain.localPort ?? 0);
  return {
    isStream: true,
    send: (packet) => socket.write(frame(packet)),
    receive: (milliseconds) => inbox.next(milliseconds),
    close: () => socket.destroy(),
  };
}

async function openGrpc(step: AskStep, { port, onClientPort }: Asking): Promise<Channel> {
  const scheme = step.tls === true ? 'https' : 'http';
  const { to = '127.0.0.1' } = step;
  const session = connectByHttp2(`${scheme}://${formatHost(to)}:${port}`, {
    rejectUnauthorized: false,
  });
  const inbox = new Inbox();
  session.on('error', (error) => inbox.fail(error));
  session.on('close', () => inbox.fail(new ClosedError('closed')));
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('error', reject);
  });
  onClientPort(session.socket?.localPort ?? 0);
  return {
    isStream: true,
    send: (packet) =>
      void call(session, encodeDnsPacket(packet)).then(({ code, messages: [message] }) => {
        if (code === 0 && message !== undefined) inbox.add(message);
        else inbox.fail(new GrpcStatusError(`gRPC status ${code}`));
      }),
    receive: (milliseconds) => inbox.next(milliseconds),
    close: () => session.destroy(),
  };
}
