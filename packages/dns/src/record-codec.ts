/**
 * The codec of one kind of record data: reads, writes and prints it.
 */
import type { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import type { RecordData } from './types.ts';

export type DataKind = RecordData['kind'];
/** The kinds whose data has its own form here. */
export type KnownKind = Exclude<DataKind, 'unknown'>;

/** Record data of one kind, or of all kinds that share its form. */
export type DataOf<Kind extends DataKind, Data extends RecordData = RecordData> = Data extends RecordData
  ? Kind extends Data['kind']
    ? Data
    : never
  : never;

export interface Codec<Data> {
  /** Reads from `from.position` to `from.end`. @throws WireError */
  read(from: OctetReader): RecordData;
  /** @throws RecordDataError if the data has no wire form. */
  write(data: Data, into: OctetWriter): void;
  /** The data in zone-file form. */
  present(data: Data): string;
}

/** Record data that cannot be written: an error of the code that made it, never of a received message. */
export class RecordDataError extends Error {
  override readonly name = 'RecordDataError';
  readonly kind: DataKind;

  constructor(kind: DataKind, what: string, value: string) {
    super(`${kind} record data, ${what}: ${value}`);
    this.kind = kind;
  }
}
