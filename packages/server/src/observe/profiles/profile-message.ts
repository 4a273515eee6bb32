/**
 * Profiles in pprof format: a compressed Protocol Buffers message for `go tool pprof`.
 */
import { promisify } from 'node:util';

/** A function and its first line. */
export interface Frame {
  readonly name: string;
  readonly file: string;
  /** From 1; 0: unknown. */
  readonly line: number;
}

/** A measured quantity: `samples` in `count`, `cpu` in `nanoseconds`. */
export type ValueType = readonly [type: string, unit: string];

export interface ProfileSample {
  /** Innermost frame first. */
  readonly stack: readonly Frame[];
  /** One value per type. */
  readonly values: readonly number[];
}

export interface ProfileData {
  readonly types: readonly ValueType[];
  readonly samples: readonly ProfileSample[];
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The distance between samples, in the unit of the last type. */
  readonly period: number;
}

/** Field numbers of `profile.proto`. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  text: 6,
  time: 9,
  duration: 10,
  periodType: 11,
  period: 12,
} as const;
const SAMPLE = { location: 1, value: 2 } as const;
const LOCATION = { id: 1, line: 4 } as const;
const LINE = { function: 1, line: 2 } as const;
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4, startLine: 5 } as const;
const VALUE_TYPE = { type: 1, unit: 2 } as const;

const NANOSECONDS = 1e6;

export async function encodeProfile(profile: ProfileData): Promise<Buffer> {
  // Loaded late: profiles are rare.
  const { gzip } = await import('node:zlib');
  return await promisify(gzip)(writeProfile(profile));
}

/** The message before compression. */
export function writeProfile({ types, samples, time, duration, period }: ProfileData): Uint8Array {
  const texts = new FirstUseNumbers<string>(['']);
  const functions = new Map<string, { readonly id: number; readonly frame: Frame }>();
  const assignId = (frame: Frame): number => {
    const key = `${frame.name}\n${frame.file}\n${frame.line}`;
    const known = functions.get(key) ?? { id: functions.size + 1, frame };
    functions.set(key, known);
    return known.id;
  };
  const message = new ProfileMessage();
  const valueType = ([type, unit]: ValueType) =>
    new ProfileMessage().number(VALUE_TYPE.type, texts.of(type)).number(VALUE_TYPE.unit, texts.of(unit));
  for (const type of types) message.message(PROFILE.sampleType, valueType(type));
  for (const { stack, values } of samples)
    message.message(
      PROFILE.sample,
      new ProfileMessage().numbers(SAMPLE.location, stack.map(assignId)).numbers(SAMPLE.value, values),
    );
  // One location per function: the profile does not tell lines within functions.
  for (const { id, frame } of functions.values()) {
    const line = new ProfileMessage().number(LINE.function, id).number(LINE.line, frame.line);
    message.message(
      PROFILE.location,
      new ProfileMessage().number(LOCATION.id, id).message(LOCATION.line, line),
    );
    message.message(PROFILE.function, createFunctionMessage(id, frame, texts));
  }
  const last = types.at(-1);
  if (last !== undefined) message.message(PROFILE.periodType, valueType(last));
  message.number(PROFILE.time, time * NANOSECONDS);
  message.number(PROFILE.duration, duration * NANOSECONDS);
  message.number(PROFILE.period, period);
  for (const text of texts.all) message.text(PROFILE.text, text);
  return message.octets();
}

function createFunctionMessage(
  id: number,
  { name, file, line }: Frame,
  texts: FirstUseNumbers<string>,
): ProfileMessage {
  return new ProfileMessage()
    .number(FUNCTION.id, id)
    .number(FUNCTION.name, texts.of(name))
    .number(FUNCTION.systemName, texts.of(name))
    .number(FUNCTION.file, texts.of(file))
    .number(FUNCTION.startLine, line);
}

/** Numbers values in order of first use. */
class FirstUseNumbers<Value> {
  readonly #numbers = new Map<Value, number>();

  constructor(first: readonly Value[]) {
    for (const value of first) this.of(value);
  }

  of(value: Value): number {
    const number = this.#numbers.get(value) ?? this.#numbers.size;
    this.#numbers.set(value, number);
    return number;
  }

  get all(): readonly Value[] {
    return [...this.#numbers.keys()];
  }
}

/** Writes a message field by field. Numbers are non-negative integers. */
class ProfileMessage {
  readonly #octets: number[] = [];
  readonly #parts: Uint8Array[] = [];

  number(field: number, value: number): this {
    this.#varint(field * 8);
    this.#varint(value);
    return this;
  }

  numbers(field: number, values: readonly number[]): this {
    const packed = new ProfileMessage();
    for (const value of values) packed.#varint(value);
    return this.#bytes(field, packed.octets());
  }

  text(field: number, value: string): this {
    return this.#bytes(field, Buffer.from(value));
  }

  message(field: number, value: ProfileMessage): this {
    return this.#bytes(field, value.octets());
  }

  octets(): Uint8Array {
    this.#flush();
    return Buffer.concat(this.#parts);
  }

  #bytes(field: number, octets: Uint8Array): this {
    this.#varint(field * 8 + 2);
    this.#varint(octets.length);
    this.#flush();
    this.#parts.push(octets);
    return this;
  }

  #flush(): void {
    this.#parts.push(Uint8Array.from(this.#octets.splice(0)));
  }

  /** Seven bits per octet, the lowest first; numbers beyond 32 bits rule out bit operators. */
  #varint(value: number): void {
    let rest = Math.max(0, Math.round(value));
    while (rest > 0x7f) {
      this.#octets.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#octets.push(rest);
  }
}
