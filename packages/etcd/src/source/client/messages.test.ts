import { describe, expect, it } from 'vitest';
import {
  decodeLease,
  decodeRange,
  decodeWatch,
  encodeLeaseId,
  encodeRange,
  encodeTransaction,
  encodeWatch,
  endOfPrefix,
} from './messages.ts';

const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex');

describe('messages of etcd', () => {
  it('ends a prefix at the next key of its length', () => {
    expect(String(endOfPrefix(Buffer.from('/a/')))).toBe('/a0');
    expect(hex(endOfPrefix(Buffer.from([0x61, 0xff, 0xff])))).toBe('62');
    expect(hex(endOfPrefix(Buffer.from([0xff])))).toBe('00');
    expect(hex(endOfPrefix(Buffer.alloc(0)))).toBe('00');
  });

  it('writes requests, fields with zero left out', () => {
    const key = Buffer.from('a');
    expect(hex(encodeRange({ key, end: Buffer.from('b'), limit: 300, keysOnly: true }))).toBe(
      '0a016112016218ac024001',
    );
    expect(hex(encodeWatch({ key, revision: 5 }))).toBe('0a090a0161180520014001');
    expect(hex(encodeLeaseId(0x7fff_ffff_ffff_ffffn))).toBe('08ffffffffffffffff7f');
    const condition = { key, target: 'create-revision', revision: 0 } as const;
    const operation = { kind: 'delete', key } as const;
    expect(hex(encodeTransaction({ conditions: [condition], operations: [operation] }))).toBe(
      '0a0510011a016112051a030a0161',
    );
  });

  it('reads replies, unknown fields passed over', () => {
    // Header with cluster 2^63 and revision 7, one key with lease 2^63 - 1, more, count.
    const header = Buffer.from('08808080808080808080011807', 'hex');
    const keyValue = Buffer.from('0a016b100218032a017630ffffffffffffffff7f', 'hex');
    const octets = Buffer.concat([
      Buffer.from([0x0a, header.length]),
      header,
      Buffer.from([0x12, keyValue.length]),
      keyValue,
      Buffer.from('18012005', 'hex'),
      // Field 99, delimited.
      Buffer.from('9a060161', 'hex'),
    ]);
    const reply = decodeRange(octets);
    expect(reply).toMatchObject({ cluster: 1n << 63n, revision: 7, more: true });
    expect(reply.keyValues).toEqual([
      {
        key: Buffer.from('k'),
        value: Buffer.from('v'),
        createRevision: 2,
        modRevision: 3,
        lease: (1n << 63n) - 1n,
      },
    ]);
  });

  it('reads the end of a lease as less than nothing', () => {
    expect(decodeLease(Buffer.from('100518ffffffffffffffffff01', 'hex'))).toEqual({
      id: 5n,
      seconds: -1,
      error: '',
    });
  });

  it('refuses octets that are cut off', () => {
    expect(() => decodeRange(Buffer.from('1205', 'hex'))).toThrow('cut off');
    expect(() => decodeWatch(Buffer.from('5a', 'hex'))).toThrow('cut off');
  });
});
