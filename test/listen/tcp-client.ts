/**
 * A client over TCP that sends given octets and collects the messages received.
 */
import { connect, type Socket } from 'node:net';
import { FrameParser } from '@portolan/dns/frames.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { onTestFinished } from 'vitest';

export class TcpClient {
  readonly messages: Buffer[] = [];
  /** The server has sent FIN. */
  isEnded = false;
  /** The connection is gone, by FINs of both sides or by a reset. */
  isClosed = false;
  readonly socket: Socket;

  constructor(port: number, address: string, localAddress?: string) {
    // Half-open, so that a test decides when the client ends.
    this.socket = connect({
      port,
      host: address,
      allowHalfOpen: true,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    const parser = new FrameParser();
    this.socket.on('data', (chunk) => {
      parser.push(chunk);
      for (let message = parser.next(); message !== undefined; message = parser.next()) {
        this.messages.push(Buffer.from(message));
      }
    });
    this.socket.on('end', () => {
      this.isEnded = true;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    onTestFinished(() => void this.socket.destroy());
  }

  send(octets: Uint8Array): void {
    this.socket.write(octets);
  }

  async waitForMessages(count: number): Promise<readonly Buffer[]> {
    await waitUntil(`${count} messages`, () => this.messages.length >= count);
    return this.messages;
  }
}
