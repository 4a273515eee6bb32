/**
 * Our requests are those of nft itself, which `nft-requests.jsonl` has.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { parseAttributes, parseNetlinkMessages } from '@portolan/kernel/socket/netlink-message.ts';
import { encodeChanges } from '@portolan/plugins/nftset/nft-messages.ts';
import { NFT_FAMILIES } from '@portolan/plugins/nftset/options.ts';
import { describe, expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface Recorded {
  readonly command: string;
  readonly type: number;
  readonly flags: number;
  readonly family: number;
  readonly elements: string;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['h', 3_600_000],
]);
const COMMAND = /^nft (add|create|delete) element (\w+) (\w+) (\w+) \{ (\S+)(?: timeout (\d+)([sh]))? \}$/;

/** What we send for a command. */
function encode(command: string): Omit<Recorded, 'command'> | undefined {
  const [, verb, familyWord, table = '', name = '', text = '', count, unit = ''] =
    COMMAND.exec(command) ?? [];
  const family = NFT_FAMILIES.find((word) => word === familyWord);
  const address = parseAddress(text);
  if (family === undefined || address === undefined) return undefined;
  const set = { family, table, name, only: undefined };
  const timeout = count === undefined ? undefined : Number(count) * (UNITS.get(unit) ?? 0);
  const way = verb === 'create' ? 'add' : 'renew';
  const batch = encodeChanges([{ set, isInterval: name.startsWith('iv'), address, timeout, way }], 1);
  const [begin, first, second, ...others] = [...parseNetlinkMessages(batch)];
  expect([begin?.type, others.at(-1)?.type ?? second?.type]).toEqual([0x10, 0x11]);
  const message = verb === 'delete' ? second : first;
  if (message === undefined) return undefined;
  const attributes = parseAttributes(message.body.subarray(4));
  const texts = [1, 2].map((type) => Buffer.from(attributes.get(type) ?? []).toString());
  expect(texts).toEqual([`${table}\0`, `${name}\0`]);
  const elements = Buffer.from(attributes.get(3) ?? []).toString('hex');
  return { type: message.type & 0xff, flags: message.flags, family: message.body[0] ?? 0, elements };
}

describe('a request', () => {
  it.each(readRecording<Recorded>('test/nftset/nft-requests.jsonl'))(
    '$command',
    ({ command, ...recorded }) => {
      expect(encode(command)).toEqual(recorded);
    },
  );
});
