/**
 * Writes Protocol Buffers messages with the few field types of requests to etcd. Fields with the value zero are omitted, as
 * in proto3.
 */

const VARINT = 0;
const DELIMITED = 2;

export class ProtobufWriter {
  readonly #octets: Buffer[] = [];

  number(field: number, value: number | bigint | undefined): this {
    if (value === undefined || BigInt(value) === 0n) return this;
    this.#octets.push(varint(field * 8 + VARINT), varint(value));
    return this;
  }

  flag(field: number, value: boolean | undefined): this {
    return this.number(field, value === true ? 1 : 0);
  }

  octets(field: number, value: Uint8Array | string | undefined): this {
    if (value === undefined || value.length === 0) return this;
    return this.#delimited(field, typeof value === 'string' ? Buffer.from(value, 'utf8') : value);
  }

  /** Writes a message, even an empty one. */
  message(field: number, message: ProtobufWriter): this {
    return this.#delimited(field, message.finish());
  }

  finish(): Buffer {
    return Buffer.concat(this.#octets);
  }

  #delimited(field: number, value: Uint8Array): this {
    this.#octets.push(varint(field * 8 + DELIMITED), varint(value.length), Buffer.from(value));
    return this;
  }
}

/** Negative numbers take ten octets. */
function varint(value: number | bigint): Buffer {
  const octets: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) octets.push(Number(rest & 127n) | 128);
  octets.push(Number(rest));
  return Buffer.from(octets);
}
