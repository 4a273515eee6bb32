import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CONTROL, controlFrame, dataFrame, FrameReader, type FrameReading } from './frame-stream.ts';
import { readClientQuery } from './read-tap-message.ts';
import { encodeFrame, TAP_TYPE } from './tap-message.ts';

const common = { identity: 'me', version: '1', extra: 'more' };

it('finds the query of a client in a message, and in no other message', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(...Object.values(TAP_TYPE)),
      (query, type) => {
        const frame = encodeFrame({
          ...common,
          message: { type, transport: 'udp', asker: { address: '::1', port: 9 }, asked: 5.5, query },
        });
        const found = readClientQuery(Buffer.from(frame));
        expect(found && [...found]).toEqual(type === TAP_TYPE.CLIENT_QUERY ? [...query] : undefined);
      },
    ),
  );
});

function readAll(pieces: readonly Buffer[]): readonly FrameReading[] {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => [...reader.read(piece)]);
}

it('reads frames alike, however they come', () => {
  const frames = [controlFrame(CONTROL.READY), controlFrame(CONTROL.START), dataFrame(Buffer.from('abc'))];
  const stream = Buffer.concat([...frames, dataFrame(Buffer.from('d')), controlFrame(CONTROL.STOP)]);
  const whole = readAll([stream]);
  expect(whole).toMatchObject([
    { kind: 'control', type: CONTROL.READY, accepts: true },
    { kind: 'control', type: CONTROL.START, accepts: true },
    { kind: 'data', octets: Buffer.from('abc') },
    { kind: 'data', octets: Buffer.from('d') },
    { kind: 'control', type: CONTROL.STOP },
  ]);
  expect(readAll([...stream].map((octet) => Buffer.of(octet)))).toEqual(whole);
});

it('refuses frames without bound, and malformed control frames', () => {
  expect(readAll([Buffer.from('7fffffff', 'hex')])).toEqual([{ kind: 'wrong' }]);
  expect(readAll([Buffer.from('000000007fffffff', 'hex')])).toEqual([{ kind: 'wrong' }]);
  expect(readAll([Buffer.from('0000000000000000', 'hex')])).toEqual([{ kind: 'wrong' }]);
});
