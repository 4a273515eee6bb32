/**
 * The questions in a capture: queries over UDP to one port.
 */
import { readItem } from '@portolan/kernel/base/item-guard.ts';
import type { AskedQuestion } from '../compare/asked-question.ts';
import type { LeftOut } from '../compare/question-source.ts';
import { CaptureError, CaptureReader } from './capture-reader.ts';
import { readDatagram } from './packet-layers.ts';
import { questionOfPacket } from './query-packet.ts';

/** @param port that the captured server listens on */
export async function* questionsOfCapture(
  pieces: AsyncIterable<Uint8Array>,
  port: number,
  leftOut: LeftOut,
): AsyncGenerator<AskedQuestion> {
  const reader = new CaptureReader();
  let number = 0;
  try {
    for await (const piece of pieces)
      for (const { linkType, octets } of reader.read(piece)) {
        number += 1;
        const reading = readItem(() => questionIn(linkType, octets, port));
        if (reading.kind === 'rejected') leftOut.add(`packet ${number}`, reading.problem);
        else if (reading.result !== undefined) yield reading.result;
      }
    reader.end();
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error;
    leftOut.add(`behind packet ${number}`, error.message);
  }
}

function questionIn(linkType: number, octets: Uint8Array, port: number): AskedQuestion | undefined {
  const datagram = readDatagram(linkType, octets);
  return datagram?.destinationPort === port ? questionOfPacket(datagram.data) : undefined;
}
