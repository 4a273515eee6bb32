/**
 * Reads capture files, piece by piece: pcap in both byte orders and both resolutions of time, and pcapng.
 *
 * It keeps one record at most, whose length is bounded. Captures are foreign: one that is malformed ends with an error, and the packets
 * before it count.
 */
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';

/** The octets are no capture, or no further part of one. */
export class CaptureError extends ItemFault {
  override readonly name = 'CaptureError';

  constructor(problem: string) {
    super('malformed', problem);
  }
}

export interface CapturedPacket {
  /** See `LINK_TYPE`. */
  readonly linkType: number;
  /** Valid until the next piece is added. */
  readonly octets: Uint8Array;
}

/** Of a record with its header; tcpdump captures 262,144 octets at most. */
const MAX_RECORD = 2 ** 19;
const PCAP_MAGICS: readonly number[] = [0xa1b2c3d4, 0xa1b23c4d];
const PCAP_HEADER = 24;
const PCAP_RECORD_HEADER = 16;
const PCAPNG_SECTION = 0x0a0d0d0a;
const PCAPNG_BYTE_ORDER = 0x1a2b3c4d;
const BLOCK = { INTERFACE: 1, SIMPLE_PACKET: 3, ENHANCED_PACKET: 6 } as const;
const MIN_BLOCK = 12;
/** Interfaces of a section. */
const MAX_INTERFACES = 4096;

export class CaptureReader {
  #held: Buffer = Buffer.alloc(0);
  #format: 'unknown' | 'pcap' | 'pcapng' = 'unknown';
  #isLittle = false;
  /** The link type of a pcap file; of the interfaces of a section of pcapng by their numbers. */
  #linkTypes: number[] = [];

  /** Adds a piece of the file, and returns its whole packets. @throws CaptureError */
  *read(piece: Uint8Array): Generator<CapturedPacket> {
    this.#held = this.#held.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#held, piece]);
    let at = 0;
    for (let length = this.#lengthAt(at); length > 0; length = this.#lengthAt(at)) {
      const packet = this.#take(this.#held.subarray(at, at + length));
      at += length;
      if (packet !== undefined) yield packet;
    }
    this.#held = Buffer.from(this.#held.subarray(at));
  }

  /** Call it at the end of the file. @throws CaptureError if a record is cut off */
  end(): void {
    if (this.#format === 'unknown') throw new CaptureError('not a pcap or pcapng file');
    if (this.#held.length > 0) throw new CaptureError('the capture is cut off');
  }

  /** The length of the next record; 0: it is not complete. */
  #lengthAt(at: number): number {
    const left = this.#held.length - at;
    if (this.#format === 'unknown' && left >= 4) this.#choose();
    const length = this.#announcedAt(at, left);
    if (length > MAX_RECORD) throw new CaptureError(`a record of ${length} octets`);
    return length <= left ? length : 0;
  }

  /** Infinite if not even its header is complete. */
  #announcedAt(at: number, left: number): number {
    if (this.#format === 'unknown') return 0;
    if (this.#format === 'pcap') {
      if (this.#linkTypes.length === 0) return left >= PCAP_HEADER ? PCAP_HEADER : 0;
      return left < PCAP_RECORD_HEADER ? 0 : PCAP_RECORD_HEADER + this.#uint32(this.#held, at + 8);
    }
    if (left < MIN_BLOCK) return 0;
    // A section begins with its byte order.
    if (this.#held.readUInt32BE(at) === PCAPNG_SECTION) this.#readByteOrder(at);
    const length = this.#uint32(this.#held, at + 4);
    if (length < MIN_BLOCK || length % 4 !== 0) throw new CaptureError(`a block of ${length} octets`);
    return length;
  }

  #choose(): void {
    const big = this.#held.readUInt32BE(0);
    const little = this.#held.readUInt32LE(0);
    if (big === PCAPNG_SECTION) this.#format = 'pcapng';
    else if (PCAP_MAGICS.includes(big) || PCAP_MAGICS.includes(little)) {
      this.#format = 'pcap';
      this.#isLittle = PCAP_MAGICS.includes(little);
    } else throw new CaptureError('not a pcap or pcapng file');
  }

  #readByteOrder(at: number): void {
    if (this.#held.readUInt32BE(at + 8) === PCAPNG_BYTE_ORDER) this.#isLittle = false;
    else if (this.#held.readUInt32LE(at + 8) === PCAPNG_BYTE_ORDER) this.#isLittle = true;
    else throw new CaptureError('a section of pcapng without its byte order');
  }

  #take(record: Buffer): CapturedPacket | undefined {
    return this.#format === 'pcap' ? this.#takeRecord(record) : this.#takeBlock(record);
  }

  #takeRecord(record: Buffer): CapturedPacket | undefined {
    const [linkType] = this.#linkTypes;
    if (linkType === undefined) {
      // The upper bits say how long check sequences are.
      this.#linkTypes = [this.#uint32(record, 20) & 0xffff];
      return undefined;
    }
    return { linkType, octets: record.subarray(PCAP_RECORD_HEADER) };
  }

  #takeBlock(block: Buffer): CapturedPacket | undefined {
    const type = this.#uint32(block, 0);
    const end = block.length - 4;
    if (type === PCAPNG_SECTION) this.#linkTypes = [];
    if (type === BLOCK.INTERFACE && end >= 16) {
      if (this.#linkTypes.length >= MAX_INTERFACES) throw new CaptureError('too many interfaces');
      this.#linkTypes.push(this.#isLittle ? block.readUInt16LE(8) : block.readUInt16BE(8));
    }
    if (type === BLOCK.ENHANCED_PACKET && end >= 28)
      return this.#toPacket(this.#uint32(block, 8), block.subarray(28, end), this.#uint32(block, 20));
    if (type === BLOCK.SIMPLE_PACKET && end >= 12)
      return this.#toPacket(0, block.subarray(12, end), this.#uint32(block, 8));
    return undefined;
  }

  #toPacket(number: number, octets: Buffer, length: number): CapturedPacket | undefined {
    const linkType = this.#linkTypes[number];
    return linkType === undefined ? undefined : { linkType, octets: octets.subarray(0, length) };
  }

  #uint32(octets: Buffer, at: number): number {
    return this.#isLittle ? octets.readUInt32LE(at) : octets.readUInt32BE(at);
  }
}
