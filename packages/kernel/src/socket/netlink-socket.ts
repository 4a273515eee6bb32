/**
 * A netlink socket (`netlink(7)`): requests to the kernel, and its answers. The kernel works on a request while it is sent, which may wait
 * for the work of other programs. So a thread of Node's pool sends it.
 */
import { describeError } from '../base/describe-error.ts';
import { batchesAvailable, type Libc, libc } from './libc.ts';
import {
  AF_NETLINK,
  EAGAIN,
  MSG_DONTWAIT,
  NETLINK_CAP_ACK,
  SOCK_CLOEXEC,
  SOCK_RAW,
  SOL_NETLINK,
} from './linux.ts';
import { type NetlinkMessage, parseNetlinkMessages } from './netlink-message.ts';

/** The kernel takes no request, or its answers are lost. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
}

/** More than one message of the kernel has. */
const DATAGRAM_OCTETS = 16_384;

/** One request at a time. */
export class NetlinkSocket {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #datagram = new Uint8Array(DATAGRAM_OCTETS);
  /** The request on its way; undefined: none. */
  #sending: Promise<number> | undefined;
  #isClosed = false;

  /**
   * @param protocol the family of netlink: `NETLINK_NETFILTER`
   * @throws NetlinkError
   */
  constructor(protocol: number) {
    const available = batchesAvailable();
    if (available !== true) throw new NetlinkError(available.reason);
    this.#libc = libc();
    this.#fd = this.#libc.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (this.#fd < 0) throw this.#failure('cannot open a netlink socket', this.#libc.errno());
    // Errors without a copy of the request.
    this.#libc.setsockopt(this.#fd, SOL_NETLINK, NETLINK_CAP_ACK, new Uint8Array(Int32Array.of(1).buffer), 4);
  }

  /**
   * Sends a request. All that the kernel answers is there once it is sent.
   *
   * @param request one message, or several that belong together
   * @throws NetlinkError
   */
  async exchange(request: Uint8Array): Promise<readonly NetlinkMessage[]> {
    if (this.#isClosed) throw new NetlinkError('the netlink socket is closed');
    this.#sending = this.#libc.sendLater(this.#fd, request, 0);
    try {
      const errno = await this.#sending;
      if (errno !== 0) throw this.#failure('the kernel takes no netlink request', errno);
    } catch (error) {
      throw error instanceof NetlinkError ? error : new NetlinkError(describeError(error));
    } finally {
      this.#sending = undefined;
    }
    return [...this.#receive()];
  }

  *#receive(): Iterable<NetlinkMessage> {
    for (;;) {
      const length = this.#libc.recv(this.#fd, this.#datagram, this.#datagram.length, MSG_DONTWAIT);
      if (length >= 0) yield* parseNetlinkMessages(this.#datagram.subarray(0, length));
      else if (this.#libc.errno() === EAGAIN) return;
      else throw this.#failure('answers of netlink are lost', this.#libc.errno());
    }
  }

  /** Once no request is on its way. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#sending?.catch(() => {});
    this.#libc.close(this.#fd);
  }

  #failure(what: string, errno: number): NetlinkError {
    return new NetlinkError(`${what}: ${this.#libc.errorName(errno)}`);
  }
}
