/**
 * An object in Protocol Buffers that is read when its fields are asked for, in the shape of JSON.
 *
 * Decoders that know the kind read its octets themselves, in one pass and without values for what they pass over.
 */
import { Cursor, readMessage, type Schema } from '@portolan/kernel/base/protobuf-message.ts';

export class EncodedObject {
  readonly octets: Buffer;
  readonly start: number;
  readonly end: number;
  readonly #schema: Schema;
  readonly #metadataSchema: Schema;
  #whole: Readonly<Record<string, unknown>> | undefined;

  /** @param metadataSchema the part of `schema` that has only the metadata */
  constructor(
    octets: Buffer,
    [start, end]: readonly [number, number],
    schema: Schema,
    metadataSchema: Schema,
  ) {
    this.octets = octets;
    this.start = start;
    this.end = end;
    this.#schema = schema;
    this.#metadataSchema = metadataSchema;
  }

  /** @throws ProtobufError, as all fields */
  get metadata(): unknown {
    if (this.#whole !== undefined) return this.#whole['metadata'];
    return readMessage(this.#cursor(), this.#metadataSchema)['metadata'];
  }

  get spec(): unknown {
    return this.#read()['spec'];
  }

  get status(): unknown {
    return this.#read()['status'];
  }

  get endpoints(): unknown {
    return this.#read()['endpoints'];
  }

  get ports(): unknown {
    return this.#read()['ports'];
  }

  get addressType(): unknown {
    return this.#read()['addressType'];
  }

  #read(): Readonly<Record<string, unknown>> {
    this.#whole ??= readMessage(this.#cursor(), this.#schema);
    return this.#whole;
  }

  #cursor(): Cursor {
    return new Cursor(this.octets, this.start, this.end);
  }
}
