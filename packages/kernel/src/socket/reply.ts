/**
 * Sends single answers of any size on a reader's own socket, from the address that the query was sent to. The main
 * thread uses it for answers that a reader could not give.
 */
import { MessageRow, type RefusedMessages } from './message-row.ts';

export type Sent = 'sent' | 'refused' | 'blocked';

const MAX_UDP_PAYLOAD = 65_507;

export class ReplySender implements RefusedMessages {
  readonly #row = new MessageRow(1, MAX_UDP_PAYLOAD, 'any');
  #isRefused = false;

  /**
   * Sends without waiting.
   *
   * @param envelope from a batch
   * @returns `refused` if the kernel will never send it, `blocked` if the send buffer is full
   */
  send(fd: number, envelope: Uint8Array, response: Uint8Array): Sent {
    if (response.length > MAX_UDP_PAYLOAD) return 'refused';
    const row = this.#row;
    row.address(0, envelope);
    row.octets.set(response, row.packets);
    row.setLength(0, response.length);
    this.#isRefused = false;
    if (row.send(fd, 1, this) > 0) return 'blocked';
    return this.#isRefused ? 'refused' : 'sent';
  }

  skips(): boolean {
    this.#isRefused = true;
    return true;
  }
}
