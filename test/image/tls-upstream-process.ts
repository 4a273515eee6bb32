/**
 * An upstream that answers each query over TLS at port 853 with NOERROR and no records. It ends with its standard input.
 */
import { createServer, type TLSSocket } from 'node:tls';
import { readTlsFixture } from '../api-server/tls-fixture.ts';

const LENGTH = 2;
/** Of the flags: a response, recursion available. */
const RESPONSE = 0x8180;

function answerAll(socket: TLSSocket): void {
  let received = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (octets: Buffer) => {
    received = Buffer.concat([received, octets]);
    while (received.length >= LENGTH && received.length >= LENGTH + received.readUInt16BE(0)) {
      const end = LENGTH + received.readUInt16BE(0);
      socket.write(answerTo(received.subarray(LENGTH, end)));
      received = received.subarray(end);
    }
  });
}

/** Only header and question, with the length before. */
function answerTo(query: Buffer): Buffer {
  const name = query.indexOf(0, 12);
  const answer = Buffer.from(query.subarray(0, name + 5));
  answer.writeUInt16BE(RESPONSE, 2);
  answer.fill(0, 6, 12);
  const length = Buffer.alloc(LENGTH);
  length.writeUInt16BE(answer.length, 0);
  return Buffer.concat([length, answer]);
}

createServer(readTlsFixture('server'), answerAll).listen(853, '127.0.0.1');
process.stdin.on('end', () => process.exit()).resume();
