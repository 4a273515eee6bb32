/**
 * Puts the records of a transfer together: a whole zone (AXFR, RFC 5936), or changes of a known one (IXFR, RFC 1995).
 */
import { presentRecord } from '@portolan/dns/present.ts';
import type { ResourceRecord } from '@portolan/dns/types.ts';

/** A transfer does not have the form that the standards demand. */
export class TransferFormError extends Error {
  override readonly name = 'TransferFormError';
}

/** The records of a zone, without its SOA record. */
export interface KnownRecords {
  readonly serial: number;
  records(): Iterable<ResourceRecord>;
}

export type TransferResult =
  /** All records of the zone, its SOA record first. */
  | { readonly kind: 'zone'; readonly records: readonly ResourceRecord[] }
  /** The known zone is the newest. */
  | { readonly kind: 'current' };

type TransferState =
  | 'first'
  /** The record behind the first SOA record tells whether changes come, or a whole zone. */
  | 'second'
  | 'whole'
  | 'deleting'
  | 'adding'
  | 'ended';

export class RecordStream {
  readonly #known: KnownRecords | undefined;
  #state: TransferState = 'first';
  #soa: ResourceRecord | undefined;
  #serial = 0;
  /** By their texts. A whole zone may have a record twice. */
  readonly #records = new Map<string, ResourceRecord>();
  #hasChanges = false;

  /** @param known the zone that changes apply to; undefined: the whole zone is asked for */
  constructor(known: KnownRecords | undefined) {
    this.#known = known;
  }

  /** Whether all records have come. */
  get isComplete(): boolean {
    return this.#state === 'ended';
  }

  /** The records of one message. @throws TransferFormError */
  push(records: readonly ResourceRecord[]): void {
    for (const record of records) this.#take(record);
    // A single SOA record says that there is nothing new.
    if (this.#state === 'second' && this.#known !== undefined && this.#serial === this.#known.serial)
      this.#state = 'ended';
  }

  /** Call it once the transfer is complete. */
  result(): TransferResult {
    const soa = this.#soa;
    if (soa === undefined) throw new TransferFormError('dns: no SOA');
    if (!this.#hasChanges) return { kind: 'current' };
    return { kind: 'zone', records: [soa, ...this.#records.values()] };
  }

  #take(record: ResourceRecord): void {
    const { data } = record;
    const serial = data.kind === 'SOA' ? data.serial : undefined;
    switch (this.#state) {
      case 'first':
        if (serial === undefined) throw new TransferFormError('dns: no SOA');
        this.#soa = record;
        this.#serial = serial;
        this.#state = 'second';
        return;
      case 'second':
        this.#hasChanges = true;
        if (serial === undefined || serial === this.#serial) this.#takeWhole(record, serial);
        else this.#beginChanges(serial);
        return;
      case 'whole':
        this.#takeWhole(record, serial);
        return;
      case 'deleting':
        if (serial !== undefined) this.#state = 'adding';
        else if (!this.#records.delete(presentRecord(record)))
          throw new TransferFormError('a change deletes a record that the zone does not have');
        return;
      case 'adding':
        if (serial === undefined) this.#records.set(presentRecord(record), record);
        else this.#state = serial === this.#serial ? 'ended' : 'deleting';
        return;
      case 'ended':
        throw new TransferFormError('records behind the last SOA record');
    }
  }

  #takeWhole(record: ResourceRecord, serial: number | undefined): void {
    this.#state = serial === undefined ? 'whole' : 'ended';
    if (serial === undefined) this.#records.set(presentRecord(record), record);
  }

  #beginChanges(serial: number): void {
    if (serial !== this.#known?.serial)
      throw new TransferFormError('changes of another version than the known one');
    for (const record of this.#known.records()) this.#records.set(presentRecord(record), record);
    this.#state = 'deleting';
  }
}
