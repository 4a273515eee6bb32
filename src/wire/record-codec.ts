/**
 * What is to be known of one kind of record data: how it is read, written and shown.
 */
import type { OctetReader } from './octet-reader.ts';
import type { OctetWriter } from './octet-writer.ts';
import type { RecordData } from './types.ts';

export type DataKind = RecordData['kind'];
/** The kinds whose data has a form of its own here. */
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
  /** The data as a zone file has it. */
  present(data: Data): string;
}

/** Record data that cannot be written: a mistake of the code that made it, never of a message that was read. */
export class RecordDataError extends Error {
  override readonly name = 'RecordDataError';
  readonly kind: DataKind;

  constructor(kind: DataKind, what: string, value: string) {
    super(`${kind} record data, ${what}: ${value}`);
    this.kind = kind;
  }
}
