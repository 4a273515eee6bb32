/**
 * Asks a primary server over TCP: for the serial of a zone, for the whole zone, or for its changes.
 */

import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { toKey } from '@portolan/dns/name.ts';
import { ResponseVerifier, signQuery } from '@portolan/dns/tsig.ts';
import { CLASS, type Message, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';
import type { NamedSecret } from '../tsig/options.ts';
import { type KnownRecords, RecordStream, type TransferResult } from './record-stream.ts';

/** Milliseconds without an octet from the primary server. */
const SILENCE = 10_000;
/** Octets of all messages of a transfer: a zone of a few million records. */
const MAX_OCTETS = 512 * 2 ** 20;

/** Why a primary server gave no answer, in CoreDNS's words where it has them. */
export class PrimaryError extends Error {
  override readonly name = 'PrimaryError';
}

export interface FetchOptions {
  readonly origin: NameKey;
  readonly primary: SocketAddress;
  readonly clock: Clock;
  /** Signs the query, and verifies the answer; undefined: neither. */
  readonly key?: NamedSecret | undefined;
}

/** A zone as it is known, to ask for its changes. */
export interface KnownZone extends KnownRecords {
  readonly soa: ResourceRecord;
}

/** @throws PrimaryError, TransferFormError, TsigError, WireError */
export async function fetchSerial(options: FetchOptions): Promise<number> {
  let serial: number | undefined;
  await exchange(options, TYPE.SOA, [], ({ header, answers }) => {
    if (header.rcode !== RCODE.NOERROR) throw new PrimaryError(`rcode ${header.rcode}`);
    for (const { data } of answers) if (data.kind === 'SOA') serial ??= data.serial;
    return true;
  });
  if (serial === undefined) throw new PrimaryError('dns: no SOA');
  return serial;
}

/** @param known asks only for changes of it. @throws PrimaryError, TransferFormError, TsigError, WireError */
export async function fetchZone(options: FetchOptions, known?: KnownZone): Promise<TransferResult> {
  const stream = new RecordStream(known);
  const type = known === undefined ? TYPE.AXFR : TYPE.IXFR;
  await exchange(options, type, known === undefined ? [] : [known.soa], ({ header, answers }) => {
    if (header.rcode !== RCODE.NOERROR) throw new PrimaryError(`dns: bad xfr rcode: ${header.rcode}`);
    stream.push(answers);
    return stream.isComplete;
  });
  return stream.result();
}

/** @param take called with each message of the answer; @returns whether it was the last one */
function exchange(
  { origin, primary, clock, key }: FetchOptions,
  type: number,
  authorities: readonly ResourceRecord[],
  take: (message: Message) => boolean,
): Promise<void> {
  const id = randomInt(2 ** 16);
  const place = formatSocketAddress(primary);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: primary.address, port: primary.port });
    const parser = new FrameParser();
    const seconds = () => Math.floor(clock.now() / 1000);
    const query = writeQuery(origin, type, id, authorities);
    const signed = key && signQuery(query, key, key.algorithm, seconds());
    const verifier = signed && key && new ResponseVerifier(key, key.algorithm, signed.mac);
    let octets = 0;
    let timer: Timer;
    const end = (error?: Error): void => {
      timer.cancel();
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const wait = (): void => {
      timer = clock.after(SILENCE, () => end(new PrimaryError(`read tcp ${place}: i/o timeout`)));
    };
    wait();
    socket.on('connect', () => socket.write(frame(signed?.octets ?? query)));
    socket.on('data', (chunk: Uint8Array) => {
      timer.cancel();
      wait();
      octets += chunk.length;
      try {
        if (octets > MAX_OCTETS) throw new PrimaryError(`a transfer of more than ${MAX_OCTETS} octets`);
        for (const packet of parser.messages(chunk)) {
          const message = decodeMessage(packet);
          checkAnswers(message, id, origin, type);
          verifier?.take(packet, seconds());
          if (!take(message)) continue;
          if (verifier?.isSigned === false) throw new PrimaryError('dns: the last message is not signed');
          end();
          return;
        }
      } catch (error) {
        end(error instanceof Error ? error : new PrimaryError(String(error)));
      }
    });
    socket.on('error', (error) => end(new PrimaryError(describe(error, place))));
    socket.on('close', () => end(new PrimaryError(`read tcp ${place}: EOF`)));
  });
}

function checkAnswers({ header, questions }: Message, id: number, origin: NameKey, type: number): void {
  const [question] = questions;
  // Only the first message of a transfer needs the question.
  const isOther = question !== undefined && (toKey(question.name) !== origin || question.type !== type);
  if (!header.response || header.id !== id || isOther) throw new PrimaryError('dns: id mismatch');
}

function writeQuery(
  origin: NameKey,
  type: number,
  id: number,
  authorities: readonly ResourceRecord[],
): Uint8Array {
  const header = {
    id,
    response: false,
    opcode: 0,
    rcode: 0,
    authoritative: false,
    truncated: false,
    recursionDesired: false,
    recursionAvailable: false,
    authenticData: false,
    checkingDisabled: false,
  };
  const questions = [{ name: origin, type, class: CLASS.IN }];
  return encodeMessage({ header, questions, answers: [], authorities, additionals: [], edns: undefined }, {});
}

const REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ['ECONNREFUSED', 'connect: connection refused'],
  ['EHOSTUNREACH', 'connect: no route to host'],
  ['ENETUNREACH', 'connect: network is unreachable'],
  ['ETIMEDOUT', 'i/o timeout'],
]);

function describe({ code, message }: NodeJS.ErrnoException, place: string): string {
  return `dial tcp ${place}: ${REASONS.get(code) ?? message}`;
}
