/**
 * A socket for whole frames of one interface (`packet(7)`): what is sent leaves through it, and what arrives there is received, whatever
 * the packet filter says. It needs the capability NET_RAW.
 *
 *     sockaddr_ll    0 family  2 protocol  4 interface  8 type, kind and length of an address, and the address (12)
 */
import { type Libc, libc } from './libc.ts';
import { AF_PACKET, ETH_P_ALL, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_RAW } from './linux.ts';

const SOCKADDR_LL_OCTETS = 20;
/** Enough for any frame that matters here; longer ones are cut. */
const FRAME_OCTETS = 2048;

/** The kernel refuses a packet socket, or the interface is gone. */
export class PacketSocketError extends Error {
  override readonly name = 'PacketSocketError';
}

export class PacketSocket {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #frame = new Uint8Array(FRAME_OCTETS);

  /**
   * @param index of the interface
   * @throws PacketSocketError
   */
  constructor(index: number) {
    try {
      this.#libc = libc();
    } catch (error) {
      throw new PacketSocketError(`the C library cannot be called: ${String(error)}`);
    }
    // Without a protocol it receives nothing before it is bound.
    this.#fd = this.#libc.socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (this.#fd < 0) throw this.#failure('open a packet socket');
    const address = new Uint8Array(SOCKADDR_LL_OCTETS);
    const view = new DataView(address.buffer);
    view.setUint16(0, AF_PACKET, true);
    view.setUint16(2, ETH_P_ALL);
    view.setInt32(4, index, true);
    if (this.#libc.bind(this.#fd, address, address.length) === 0) return;
    const error = this.#failure('bind a packet socket');
    this.close();
    throw error;
  }

  /** @throws PacketSocketError */
  send(frame: Uint8Array): void {
    if (this.#libc.send(this.#fd, frame, frame.length, 0) < 0) throw this.#failure('send a frame');
  }

  /** The next frame, valid until the next call; undefined: none has arrived. */
  receive(): Uint8Array | undefined {
    const length = this.#libc.recv(this.#fd, this.#frame, this.#frame.length, 0);
    return length < 0 ? undefined : this.#frame.subarray(0, length);
  }

  close(): void {
    this.#libc.close(this.#fd);
  }

  #failure(operation: string): PacketSocketError {
    return new PacketSocketError(`cannot ${operation}: ${this.#libc.errorName(this.#libc.errno())}`);
  }
}
