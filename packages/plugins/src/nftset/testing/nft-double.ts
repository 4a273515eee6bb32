/**
 * The kernel's side of netlink for sets of nftables: transactions, generations, elements that expire.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { EEXIST, EINVAL, ENOENT } from '@portolan/kernel/socket/linux.ts';
import {
  encodeAttribute,
  encodeNest,
  encodeNetlinkMessage,
  type NetlinkMessage,
  NLM_F_EXCL,
  NLMSG_ERROR,
  parseAttributes,
  parseNetlinkMessages,
} from '@portolan/kernel/socket/netlink-message.ts';
import { NetlinkError } from '@portolan/kernel/socket/netlink-socket.ts';
import type { NftSocket } from '../nft-sets.ts';

const BATCH_BEGIN = 0x10;
const GET_GENERATION = 0x0a10;
const GET_SET = 0x0a0a;
const NEW_ELEMENTS = 0x0a0c;
const GET_ELEMENTS = 0x0a0d;
const DELETE_ELEMENTS = 0x0a0e;
const FLAG_TIMEOUT = 0x10;

export interface SetDouble {
  readonly keyType: 'ipv4' | 'ipv6' | 'mark';
  readonly hasTimeout: boolean;
  /** Until when, by the hexadecimal octets of addresses: milliseconds; Infinity: it stays. */
  readonly elements: Map<string, number>;
}

const KEY_TYPES = { ipv4: 7, ipv6: 8, mark: 19 };

export class NftDouble implements NftSocket {
  /** By their names in any table. */
  readonly sets = new Map<string, SetDouble>();
  /** Requests so far. */
  requests = 0;
  generation = 1;
  /** Every request fails with it; 0: none does. */
  errno = 0;
  /** The kernel works on requests only once this resolves. */
  busy: Promise<void> = Promise.resolve();
  isGone = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  addSet(name: string, keyType: SetDouble['keyType'], hasTimeout: boolean): SetDouble {
    const set: SetDouble = { keyType, hasTimeout, elements: new Map() };
    this.sets.set(name, set);
    this.generation += 1;
    return set;
  }

  async exchange(request: Uint8Array): Promise<readonly NetlinkMessage[]> {
    this.requests += 1;
    await this.busy;
    if (this.isGone) throw new NetlinkError('the kernel takes no netlink request: ENOBUFS');
    const messages = [...parseNetlinkMessages(request)];
    const [first] = messages;
    if (first === undefined) return [];
    if (this.errno !== 0) return [this.#refuse(first, this.errno)];
    if (first.type === BATCH_BEGIN) return this.#change(messages);
    if (first.type === GET_GENERATION)
      return reply(first, 15, [encodeAttribute(1, encodeWord(this.generation))]);
    const attributes = readAttributes(first);
    const set = this.sets.get(readText(attributes.get(2)));
    if (set === undefined) return [this.#refuse(first, ENOENT)];
    if (first.type === GET_SET) {
      const flags = encodeAttribute(3, encodeWord(set.hasTimeout ? FLAG_TIMEOUT : 0));
      return reply(first, 9, [flags, encodeAttribute(4, encodeWord(KEY_TYPES[set.keyType]))]);
    }
    if (first.type !== GET_ELEMENTS) return [this.#refuse(first, EINVAL)];
    const end = set.elements.get(readKey(attributes));
    if (end === undefined) return [this.#refuse(first, ENOENT)];
    const time =
      end === Number.POSITIVE_INFINITY ? [] : [encodeAttribute(5, encodeTime(end - this.#clock.monotonic()))];
    return reply(first, 12, [encodeNest(3, encodeNest(1, ...time))]);
  }

  async close(): Promise<void> {}

  /** The addresses that are in a set now. */
  list(name: string): readonly string[] {
    const now = this.#clock.monotonic();
    return [...(this.sets.get(name)?.elements ?? [])].flatMap(([key, end]) => (end > now ? [key] : []));
  }

  #change(messages: readonly NetlinkMessage[]): readonly NetlinkMessage[] {
    const drafts = new Map(
      [...this.sets].map(([name, set]) => [name, { ...set, elements: new Map(set.elements) }]),
    );
    const errors = messages.flatMap((message) => {
      const errno = this.#apply(message, drafts);
      return errno === 0 ? [] : [this.#refuse(message, errno)];
    });
    if (errors.length > 0) return errors;
    for (const [name, { elements }] of drafts) {
      const own = this.sets.get(name)?.elements;
      own?.clear();
      for (const [key, end] of elements) own?.set(key, end);
    }
    this.generation += 1;
    return [];
  }

  #apply(message: NetlinkMessage, drafts: ReadonlyMap<string, SetDouble>): number {
    if (message.type !== NEW_ELEMENTS && message.type !== DELETE_ELEMENTS) return 0;
    const attributes = readAttributes(message);
    const set = drafts.get(readText(attributes.get(2)));
    if (set === undefined) return ENOENT;
    const key = readKey(attributes);
    if (key.length !== (set.keyType === 'ipv6' ? 32 : 8)) return EINVAL;
    const now = this.#clock.monotonic();
    const has = (set.elements.get(key) ?? 0) > now;
    if (message.type === DELETE_ELEMENTS) {
      set.elements.delete(key);
      return has ? 0 : ENOENT;
    }
    if (has) return (message.flags & NLM_F_EXCL) === 0 ? 0 : EEXIST;
    const time = parseAttributes(
      parseAttributes(attributes.get(3) ?? new Uint8Array()).get(1) ?? new Uint8Array(),
    );
    const timeout = time.get(4);
    if (timeout !== undefined && !set.hasTimeout) return EINVAL;
    set.elements.set(key, timeout === undefined ? Number.POSITIVE_INFINITY : now + readTime(timeout));
    return 0;
  }

  #refuse({ sequence }: NetlinkMessage, errno: number): NetlinkMessage {
    const body = new Uint8Array(Int32Array.of(-errno).buffer);
    return { type: NLMSG_ERROR, flags: 0, sequence, body };
  }
}

function reply(
  { sequence }: NetlinkMessage,
  message: number,
  attributes: readonly Uint8Array[],
): readonly NetlinkMessage[] {
  const body = Buffer.concat([Uint8Array.of(1, 0, 0, 0), ...attributes]);
  return [
    ...parseNetlinkMessages(encodeNetlinkMessage({ type: 0x0a00 | message, flags: 0, sequence, body })),
  ];
}

function readAttributes({ body }: NetlinkMessage): ReadonlyMap<number, Uint8Array> {
  return parseAttributes(body.subarray(4));
}

function readText(octets: Uint8Array = new Uint8Array()): string {
  return Buffer.from(octets).toString().replace(/\0$/, '');
}

function readKey(attributes: ReadonlyMap<number, Uint8Array>): string {
  const none = new Uint8Array();
  const item = parseAttributes(attributes.get(3) ?? none).get(1) ?? none;
  const key = parseAttributes(parseAttributes(item).get(1) ?? none).get(1) ?? none;
  return Buffer.from(key).toString('hex');
}

function readTime(octets: Uint8Array): number {
  return Number(Buffer.from(octets).readBigUInt64BE());
}

function encodeTime(milliseconds: number): Uint8Array {
  const octets = Buffer.alloc(8);
  octets.writeBigUInt64BE(BigInt(Math.round(milliseconds)));
  return octets;
}

function encodeWord(value: number): Uint8Array {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}
