/**
 * Reactions of upstream doubles that several tests need.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import {
  CLASS,
  type Message,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { React } from './received-query.ts';
import { getQuestion, replyMessage } from './reply.ts';

/** For every query: no reply. */
export const keepSilent: React = () => {};

/** 192.0.2.1 of the name of the question, for an hour. */
const ADDRESS = Uint8Array.of(0xc0, HEADER_OCTETS, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 192, 0, 2, 1);
/** An SOA record of the root with a TTL and minimum of an hour. */
const ROOT_SOA = Uint8Array.from(
  [
    [0, 0, 6, 0, 1, 0, 0, 0x0e, 0x10, 0, 22, 0, 0],
    [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0x0e, 0x10],
  ].flat(),
);
/** EDNS without options, 1232 octets. */
const OPT = Uint8Array.of(0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0);

/** Every name has the address 192.0.2.1 for an hour, of whatever type. For floods: nothing is decoded. */
export const answerAll: React = ({ octets, send }) => {
  const hasEdns = (octets[11] ?? 0) > 0;
  send(writeReply(octets, RCODE.NOERROR, [0, 1, 0, 0, 0, hasEdns ? 1 : 0], ADDRESS, hasEdns ? OPT : []));
};

/** No name exists, for an hour. For floods: nothing is decoded. The reply is one without EDNS. */
export const denyAll: React = ({ octets, send }) =>
  send(writeReply(octets, RCODE.NXDOMAIN, [0, 0, 0, 1, 0, 0], ROOT_SOA));

function writeReply(
  query: Uint8Array,
  rcode: number,
  counts: readonly number[],
  ...records: readonly (Uint8Array | readonly number[])[]
): Uint8Array {
  const end = findQuestionEnd(query);
  const octets = new Uint8Array(end + records.reduce((sum, { length }) => sum + length, 0));
  octets.set(query.subarray(0, end));
  octets.set([0x81, 0x80 | rcode], 2);
  octets.set(counts, 6);
  let at = end;
  for (const record of records) {
    octets.set(record, at);
    at += record.length;
  }
  return octets;
}

function findQuestionEnd(query: Uint8Array): number {
  let at = HEADER_OCTETS;
  while ((query[at] ?? 0) !== 0) at += (query[at] ?? 0) + 1;
  return at + 5;
}

/** A path upstream, as it is at the moment. */
export interface LongPath {
  /** The part of the queries that is lost, from 0 to 1. */
  loss: number;
  /** Until when every reply waits, of `performance.now`. */
  stalledUntil: number;
}

const MIN_DELAY = 5;
const MAX_DELAY = 10;

/** Behind a path that loses queries, and takes from 5 to 10 ms. @param random from 0 to below 1: draws losses and delays */
export function placeBehind(path: LongPath, random: () => number, react: React): React {
  return (received) => {
    const draw = random();
    const share = random();
    if (draw < path.loss) return;
    const stalled = Math.max(0, path.stalledUntil - performance.now());
    received.after(stalled + MIN_DELAY + share * (MAX_DELAY - MIN_DELAY), () => react(received));
  };
}

/** By `name type`, both as they are written: `www.example. A`. */
export type RecordsByQuestion = Readonly<Record<string, readonly RecordData[]>>;

const ZONE_TTL = 300;
/** As servers do that know no EDNS: longer answers over UDP are truncated. */
const UDP_OCTETS = 512;

/** A few names with their data and aliases. All others are denied. */
export function answerFromZone(names: RecordsByQuestion): React {
  return ({ query, over, send }) => {
    const message = answerByNames(names, query);
    send(encodeMessage(message, over === 'udp' ? { limit: UDP_OCTETS } : {}));
  };
}

function answerByNames(names: RecordsByQuestion, query: Message): Message {
  const question = getQuestion(query);
  const answers: ResourceRecord[] = [];
  let at = toKey(question.name);
  for (
    let alias = findRecords(names, at, TYPE.CNAME)[0];
    alias?.data.kind === 'CNAME';
    alias = findRecords(names, at, TYPE.CNAME)[0]
  ) {
    answers.push(alias);
    at = toKey(alias.data.target);
  }
  answers.push(...findRecords(names, at, question.type));
  const exists = Object.keys(names).some((name) => name.startsWith(`${at} `));
  const rcode = exists ? RCODE.NOERROR : RCODE.NXDOMAIN;
  const name = parseName('example.');
  const numbers = { serial: 1, refresh: 2, retry: 3, expire: 4, minimum: ZONE_TTL };
  const soa = { kind: 'SOA', primary: name, mailbox: name, ...numbers } as const;
  const header = { ...query.header, response: true, recursionAvailable: true, rcode };
  const isAnswered = answers.some(({ data }) => typeOfData(data) === question.type);
  const authorities = isAnswered ? [] : [{ name, class: CLASS.IN, ttl: ZONE_TTL, data: soa }];
  return { ...query, header, answers, authorities };
}

function findRecords(names: RecordsByQuestion, name: string, type: number): readonly ResourceRecord[] {
  const data = names[`${name} ${typeName(type)}`] ?? [];
  return data.map((each) => ({ name: parseName(name), class: CLASS.IN, ttl: ZONE_TTL, data: each }));
}

export const makeAddress = (text: string): RecordData => ({
  kind: text.includes(':') ? 'AAAA' : 'A',
  address: text,
});

export const makeTarget = (kind: 'CNAME' | 'PTR', name: string): RecordData => ({
  kind,
  target: parseName(name),
});

/** After so many milliseconds: an address, or the response code of a failure. */
export const answerAfter =
  (milliseconds: number, rcode: number = RCODE.NOERROR): React =>
  ({ query, send, after }) =>
    after(milliseconds, () => send(makeAnswer(query, rcode)));

/** 192.0.2.1 of the name that was asked for, or the response code of a failure. */
export function makeAnswer(query: Message, rcode: number = RCODE.NOERROR): Message {
  const whole = replyMessage(query);
  const answers = rcode === RCODE.NOERROR ? whole.answers : [];
  return { ...whole, header: { ...whole.header, rcode }, answers };
}

/** Behind a path that loses a part of the queries, and the same part of the replies. @param random from 0 to below 1 */
export const loseShare =
  (share: number, random: () => number, react: React): React =>
  (received) => {
    if (random() >= share && random() >= share) react(received);
  };

/**
 * Answers so many queries a second, one after the other. The server stops for a while at `stallAt`; a query that finds its queue full is
 * lost. Times in milliseconds of the clock.
 */
export function answerInTurn(
  clock: Clock,
  {
    perSecond,
    queue,
    stallAt,
    stallFor,
  }: {
    readonly perSecond: number;
    readonly queue: number;
    readonly stallAt: number;
    readonly stallFor: number;
  },
): React {
  let freeAt = 0;
  let queued = 0;
  return ({ query, send, after }) => {
    const now = clock.monotonic();
    const isStalled = now >= stallAt && now < stallAt + stallFor;
    const begin = Math.max(now, freeAt, isStalled ? stallAt + stallFor : 0);
    if (queued >= queue) return;
    freeAt = begin + 1000 / perSecond;
    queued += 1;
    // Whether or not somebody still waits for the reply, the server does its work.
    clock.after(freeAt - now, () => {
      queued -= 1;
    });
    after(freeAt - now, () => send(makeAnswer(query)));
  };
}
