/**
 * A client that only reads a watch: the least time that a change can take from the API server to any server.
 */
import { EventEmitter, once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { machineTime } from './machine.ts';

const SLICES = '/apis/discovery.k8s.io/v1/endpointslices?watch=1';

export class PlainWatch {
  readonly #request: ClientRequest;
  readonly #events = new EventEmitter();
  #arrivedAt = 0;

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    response.on('data', () => {
      this.#arrivedAt = machineTime();
      this.#events.emit('event');
    });
    // It ends with `close`, or with the API server.
    response.on('error', () => {});
  }

  static async open(apiServer: string): Promise<PlainWatch> {
    const request = get(new URL(SLICES, apiServer), { rejectUnauthorized: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return new PlainWatch(request, response);
  }

  /** @returns when the first event after `sentAt` came, both by the machine's clock */
  async arrivalAfter(sentAt: number): Promise<number> {
    while (this.#arrivedAt < sentAt) await once(this.#events, 'event');
    return this.#arrivedAt;
  }

  close(): void {
    this.#request.destroy();
  }
}
