/**
 * All kinds of record data in one table: for code that reads, writes or prints records.
 */
import { formatAddress, parseAddress } from './address.ts';
import type { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import { type Codec, type DataOf, type KnownKind, RecordDataError } from './record-codec.ts';
import { HTTPS, SVCB } from './service-binding-records.ts';
import { MX, NAPTR, SRV } from './service-records.ts';
import { CAA, HINFO, TXT } from './text-records.ts';
import { CLASS, type RecordData, TYPE } from './types.ts';
import { presentUnknown, readUnknown, writeUnknown } from './unknown-records.ts';
import { WireError } from './wire-error.ts';

type TargetData = DataOf<'CNAME'>;

/** The types whose data is one name: CNAME, NS and PTR (RFC 1035 section 3.3), DNAME (RFC 6672). */
function targetCodec(kind: TargetData['kind']): Codec<TargetData> {
  return {
    read: (from) => ({ kind, target: from.name() }),
    write(data, into) {
      // RFC 6672 section 2.5: the target of a DNAME must not be compressed.
      if (kind === 'DNAME') into.fullName(data.target);
      else into.name(data.target);
    },
    present: (data) => data.target,
  };
}

const CNAME = targetCodec('CNAME');
const DNAME = targetCodec('DNAME');
const NS = targetCodec('NS');
const PTR = targetCodec('PTR');

/** RFC 1035 section 3.3.13. */
const SOA: Codec<DataOf<'SOA'>> = {
  read: (from) => ({
    kind: 'SOA',
    primary: from.name(),
    mailbox: from.name(),
    serial: from.uint32(),
    refresh: from.uint32(),
    retry: from.uint32(),
    expire: from.uint32(),
    minimum: from.uint32(),
  }),
  write(data, into) {
    into.name(data.primary);
    into.name(data.mailbox);
    into.uint32(data.serial);
    into.uint32(data.refresh);
    into.uint32(data.retry);
    into.uint32(data.expire);
    into.uint32(data.minimum);
  },
  present: (data) =>
    `${data.primary} ${data.mailbox} ${data.serial} ${data.refresh} ${data.retry} ${data.expire} ${data.minimum}`,
};

/** A (RFC 1035 section 3.4.1) and AAAA (RFC 3596 section 2.2). */
function addressCodec(kind: 'A' | 'AAAA', octets: number): Codec<DataOf<'A' | 'AAAA'>> {
  return {
    read: (from) => ({ kind, address: formatAddress(from.bytes(octets)) }),
    write(data, into) {
      const address = parseAddress(data.address);
      if (address?.length !== octets)
        throw new RecordDataError(kind, 'not an address of its kind', data.address);
      into.bytes(address);
    },
    present: (data) => data.address,
  };
}

const A = addressCodec('A', 4);
const AAAA = addressCodec('AAAA', 16);

const CODECS: { readonly [Kind in KnownKind]: Codec<DataOf<Kind>> } = {
  A,
  AAAA,
  CAA,
  CNAME,
  DNAME,
  HINFO,
  HTTPS,
  MX,
  NAPTR,
  NS,
  PTR,
  SOA,
  SRV,
  SVCB,
  TXT,
};

/** Types whose data is specified only for class IN. */
const INTERNET_ONLY: ReadonlySet<number> = new Set([
  TYPE.A,
  TYPE.AAAA,
  TYPE.SRV,
  TYPE.NAPTR,
  TYPE.SVCB,
  TYPE.HTTPS,
]);

const CODEC_OF_TYPE: ReadonlyMap<number, Codec<RecordData>> = new Map(
  // Each codec returns only its own kind, so reading through the wider type is safe.
  Object.entries(CODECS).map(([kind, codec]) => [TYPE[kind as KnownKind], codec as Codec<RecordData>]),
);

/** The number of the data's type. */
export function typeOfData(data: RecordData): number {
  return data.kind === 'unknown' ? data.type : TYPE[data.kind];
}

/**
 * Reads the data of one record, which must end exactly at `from.end`.
 *
 * @throws WireError
 */
export function readData(type: number, recordClass: number, from: OctetReader): RecordData {
  const codec = CODEC_OF_TYPE.get(type);
  // RFC 2136 sections 2.4 and 2.5: classes that express a condition have no data.
  const isCondition = from.remaining === 0 && (recordClass === CLASS.ANY || recordClass === CLASS.NONE);
  const isForeign = recordClass !== CLASS.IN && INTERNET_ONLY.has(type);
  if (codec === undefined || isCondition || isForeign) return readUnknown(type, from);
  const data = codec.read(from);
  if (from.remaining > 0) throw new WireError(`${from.remaining} octets behind record data`, from.position);
  return data;
}

/** @throws RecordDataError if the data has no wire form. */
export function writeData(data: RecordData, into: OctetWriter): void {
  if (data.kind === 'unknown') writeUnknown(data, into);
  else findCodec(data).write(data, into);
}

/** The data in zone-file form. */
export function presentData(data: RecordData): string {
  return data.kind === 'unknown' ? presentUnknown(data) : findCodec(data).present(data);
}

function findCodec(data: DataOf<KnownKind>): Codec<RecordData> {
  return CODECS[data.kind] as Codec<RecordData>; // The table pairs each kind with the codec of that kind.
}
