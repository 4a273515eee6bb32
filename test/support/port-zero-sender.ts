/**
 * Sends UDP packets with source port 0, as only forgers do: a reply to them is impossible.
 */
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { closeDescriptor } from '@portolan/kernel/socket/descriptor.ts';
import { ENVELOPE } from '@portolan/kernel/socket/envelope.ts';
import { batchesAvailable, libc } from '@portolan/kernel/socket/libc.ts';
import { AF_INET } from '@portolan/kernel/socket/linux.ts';
import { ReplySender } from '@portolan/kernel/socket/reply.ts';

const SOCK_RAW = 3;
const IPPROTO_UDP = 17;
const UDP_HEADER_OCTETS = 8;

/** A raw socket, or -1 where we have not the right to one. */
function openRawSocket(): number {
  return batchesAvailable() === true ? libc().socket(AF_INET, SOCK_RAW, IPPROTO_UDP) : -1;
}

function canForge(): boolean {
  const fd = openRawSocket();
  if (fd >= 0) closeDescriptor(fd);
  return fd >= 0;
}

export const mayForge = canForge();

export class PortZeroSender {
  readonly #sender = new ReplySender();
  readonly #fd = openRawSocket();
  readonly #envelope = new Uint8Array(ENVELOPE.OCTETS);

  constructor() {
    const destination = encodeSocketAddress({ address: '127.0.0.1', port: 0 });
    this.#envelope.set(destination, ENVELOPE.NAME);
    this.#envelope[ENVELOPE.NAME_LENGTH] = destination.length;
  }

  /** @param port of 127.0.0.1 */
  send(port: number, payload: Uint8Array): void {
    const packet = Buffer.alloc(UDP_HEADER_OCTETS + payload.length);
    packet.writeUInt16BE(port, 2);
    packet.writeUInt16BE(packet.length, 4);
    packet.set(payload, UDP_HEADER_OCTETS);
    const sent = this.#sender.send(this.#fd, this.#envelope, packet);
    if (sent !== 'sent') throw new Error(`a forged packet could not be sent: ${sent}`);
  }

  close(): void {
    closeDescriptor(this.#fd);
  }
}
