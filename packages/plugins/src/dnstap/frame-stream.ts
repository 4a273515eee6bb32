/**
 * Frame Streams in both directions: the collector accepts the content before data frames come, and confirms the end.
 */

const CONTENT_TYPE = Buffer.from('protobuf:dnstap.Dnstap');

/** Control frames. */
export const CONTROL = { ACCEPT: 1, START: 2, STOP: 3, READY: 4, FINISH: 5 } as const;

const FIELD_CONTENT_TYPE = 1;
/** A collector has no longer control frames than this. */
const MAX_CONTROL_OCTETS = 512;
const WORD = 4;

/** @param type of `CONTROL` */
export function controlFrame(type: number): Buffer {
  const hasContent = type === CONTROL.READY || type === CONTROL.START || type === CONTROL.ACCEPT;
  const content = hasContent ? [words(FIELD_CONTENT_TYPE, CONTENT_TYPE.length), CONTENT_TYPE] : [];
  const body = Buffer.concat([words(type), ...content]);
  return Buffer.concat([words(0, body.length), body]);
}

export function dataFrame(octets: Uint8Array): Buffer {
  return Buffer.concat([words(octets.length), octets]);
}

function words(...values: readonly number[]): Buffer {
  const octets = Buffer.alloc(values.length * WORD);
  for (const [index, value] of values.entries()) octets.writeUInt32BE(value, index * WORD);
  return octets;
}

export type ControlReading =
  | { readonly kind: 'incomplete' }
  /** @property accepts whether it names the content type of dnstap, or none */
  | { readonly kind: 'control'; readonly type: number; readonly accepts: boolean }
  /** What came is no control frame. */
  | { readonly kind: 'wrong' };

/** Collects what a collector sends, and reads one control frame after the other. */
export class ControlReader {
  #octets = Buffer.alloc(0);

  push(octets: Buffer): void {
    this.#octets = Buffer.concat([this.#octets, octets]);
  }

  next(): ControlReading {
    const octets = this.#octets;
    if (octets.length < 2 * WORD) return { kind: 'incomplete' };
    const length = octets.readUInt32BE(WORD);
    if (octets.readUInt32BE(0) !== 0 || length < WORD || length > MAX_CONTROL_OCTETS)
      return { kind: 'wrong' };
    const end = 2 * WORD + length;
    if (octets.length < end) return { kind: 'incomplete' };
    this.#octets = octets.subarray(end);
    const type = octets.readUInt32BE(2 * WORD);
    return { kind: 'control', type, accepts: namesContent(octets.subarray(3 * WORD, end)) };
  }
}

function namesContent(fields: Buffer): boolean {
  let isOther = false;
  for (let at = 0; at + 2 * WORD <= fields.length; ) {
    const length = fields.readUInt32BE(at + WORD);
    const value = fields.subarray(at + 2 * WORD, at + 2 * WORD + length);
    if (fields.readUInt32BE(at) === FIELD_CONTENT_TYPE) {
      if (value.equals(CONTENT_TYPE)) return true;
      isOther = true;
    }
    at += 2 * WORD + length;
  }
  return !isOther;
}

/** A whole message of DNS over TCP, twice, and what belongs to it. */
const MAX_DATA_OCTETS = 2 ** 18;

export type FrameReading =
  | Exclude<ControlReading, { readonly kind: 'incomplete' }>
  /** @property octets in memory of their own */
  | { readonly kind: 'data'; readonly octets: Buffer };

/** Collects what a sender sends: control frames and data frames of a bounded length. After a wrong frame it reads nothing more. */
export class FrameReader {
  readonly #control = new ControlReader();
  #octets = Buffer.alloc(0);

  *read(octets: Buffer): Generator<FrameReading> {
    this.#octets = Buffer.concat([this.#octets, octets]);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
      yield frame;
      if (frame.kind === 'wrong') return;
    }
  }

  #next(): FrameReading | undefined {
    const octets = this.#octets;
    if (octets.length < WORD) return undefined;
    const length = octets.readUInt32BE(0);
    if (length > MAX_DATA_OCTETS) return { kind: 'wrong' };
    if (length === 0) return this.#nextControl();
    if (octets.length < WORD + length) return undefined;
    this.#octets = octets.subarray(WORD + length);
    return { kind: 'data', octets: Buffer.from(octets.subarray(WORD, WORD + length)) };
  }

  #nextControl(): FrameReading | undefined {
    const octets = this.#octets;
    if (octets.length < 2 * WORD) return undefined;
    const end = 2 * WORD + octets.readUInt32BE(WORD);
    if (end <= MAX_CONTROL_OCTETS + 2 * WORD && octets.length < end) return undefined;
    this.#octets = octets.subarray(end);
    this.#control.push(octets.subarray(0, end));
    const reading = this.#control.next();
    return reading.kind === 'incomplete' ? { kind: 'wrong' } : reading;
  }
}
