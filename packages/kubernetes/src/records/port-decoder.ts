/**
 * Decodes a port, which has the same parts in Services and EndpointSlices, into a draft.
 */
import type { Cursor } from '@portolan/kernel/base/protobuf-message.ts';
import type { PortsDraft } from '@portolan/kernel/records/drafts.ts';
import { PROTOCOLS } from '@portolan/kernel/records/layout.ts';
import { encodeAppProtocol, parseAppProtocol } from '../names/app-protocol.ts';
import { clearRange, delimited, isText, newRange, readInner, readRange, varint } from './protobuf-fields.ts';

const NAME = delimited(1);
const PROTOCOL = delimited(2);
const NUMBER = varint(3);
/** Only ports of services have it under this number. */
const APP_PROTOCOL = delimited(6);
const NAMES = PROTOCOLS.map((protocol) => Buffer.from(protocol, 'latin1'));

export class PortDecoder {
  readonly #ports: PortsDraft;
  readonly #name = newRange();
  readonly #protocol = newRange();
  readonly #appProtocol = newRange();
  #number = 0;

  constructor(ports: PortsDraft) {
    this.#ports = ports;
  }

  /**
   * Reads the port at the cursor. Leaves out ports without a number (a slice for all ports) or with another protocol.
   *
   * @throws ProtobufError
   */
  read(cursor: Cursor): void {
    clearRange(this.#name);
    clearRange(this.#protocol);
    clearRange(this.#appProtocol);
    this.#number = 0;
    readInner(cursor, this.#take);
    const { start, end } = this.#protocol;
    const protocol =
      start === end ? 0 : NAMES.findIndex((name) => isText(cursor.octets, this.#protocol, name));
    if (protocol < 0 || this.#number <= 0 || this.#number > 0xffff) return;
    this.#ports.add(this.#number, protocol, cursor.octets, this.#name.start, this.#name.end);
    this.#ports.note(this.#readAppProtocol(cursor.octets));
  }

  /** @returns of `APP_PROTOCOL`, without versions */
  #readAppProtocol(octets: Buffer): number {
    const { start, end } = this.#appProtocol;
    return start === end
      ? 0
      : encodeAppProtocol(parseAppProtocol(octets.toString('utf8', start, end), undefined));
  }

  readonly #take = (tag: number, cursor: Cursor): boolean => {
    if (tag === NAME) readRange(cursor, this.#name);
    else if (tag === PROTOCOL) readRange(cursor, this.#protocol);
    else if (tag === APP_PROTOCOL) readRange(cursor, this.#appProtocol);
    else if (tag === NUMBER) this.#number = cursor.readNumber();
    else return false;
    return true;
  };
}
