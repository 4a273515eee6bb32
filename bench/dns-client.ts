/**
 * Asks one question at a time over UDP, to check that a server answers and to get its current answer.
 */
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DecodedPacket, decode, encode, RECURSION_DESIRED, type RecordType } from 'dns-packet';

/** The data of the answers that have the type asked for. */
export type AnswerData = readonly unknown[];

const PATIENCE_MILLISECONDS = 200;

export class DnsClient {
  readonly #socket: Socket = createSocket('udp4');
  readonly #connected: Promise<void>;
  #id = 0;
  #expected: ((packet: DecodedPacket | undefined) => void) | undefined;

  constructor(port: number) {
    // Connected, so that a port which nobody serves yet is told at once.
    this.#connected = new Promise((resolve) => this.#socket.connect(port, '127.0.0.1', resolve));
    this.#socket.on('message', (packet) => {
      const reply = decode(packet);
      if (reply.id === this.#id) this.#expected?.(reply);
    });
    this.#socket.on('error', () => this.#expected?.(undefined));
  }

  /** @returns what was answered, or nothing if no reply came in time, or nobody serves the port */
  async ask(name: string, type: RecordType): Promise<AnswerData | undefined> {
    await this.#connected;
    this.#id = (this.#id + 1) & 0xffff;
    const packet = await new Promise<DecodedPacket | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), PATIENCE_MILLISECONDS);
      this.#expected = (reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const query = encode({
        type: 'query',
        id: this.#id,
        flags: RECURSION_DESIRED,
        questions: [{ name, type }],
      });
      this.#socket.send(query);
    });
    return packet && listData(packet, type);
  }

  /**
   * Asks again and again until the reply is as wanted.
   *
   * @param pause milliseconds from a reply to the next query; 0 asks at once
   * @returns whether it came to that in time
   */
  async askUntil(
    name: string,
    type: RecordType,
    isWanted: (data: AnswerData) => boolean,
    milliseconds: number,
    pause = 1,
  ): Promise<boolean> {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const data = await this.ask(name, type);
      if (data !== undefined && isWanted(data)) return true;
      if (data === undefined || pause > 0) await sleep(Math.max(1, pause));
    }
    return false;
  }

  close(): void {
    this.#socket.close();
  }
}

function listData(packet: DecodedPacket, type: RecordType): AnswerData {
  return (packet.answers ?? []).flatMap((answer) =>
    answer.type === type && 'data' in answer ? [answer.data] : [],
  );
}
