/**
 * The spans of one query, from the first, which is about all of its time, to those of single handlers.
 */
import { randomBytes } from 'node:crypto';
import type { TraceSpan } from '@portolan/kernel/chain/query.ts';

/** What the spans of a query share. */
export interface QueryTrace {
  /** Of 8 or 16 octets. */
  readonly id: Buffer;
  /** Milliseconds since the Unix epoch, with a fraction; they never go back. */
  readonly now: () => number;
  readonly onEnd: (span: TracedSpan) => void;
}

export interface SpanFailure {
  /** As `QueryTrace.now`. */
  readonly time: number;
  readonly message: string;
}

const ID_OCTETS = 8;

export class TracedSpan implements TraceSpan {
  readonly trace: QueryTrace;
  readonly name: string;
  readonly id: Buffer;
  /** The id of the span around it; undefined: it is the first of its trace. */
  readonly outer: Buffer | undefined;
  readonly start: number;
  /** Milliseconds. */
  duration = 0;
  failure: SpanFailure | undefined;
  /** Undefined: it has none. */
  tags: Map<string, string> | undefined;

  private constructor(trace: QueryTrace, name: string, id: Buffer, outer: Buffer | undefined) {
    this.trace = trace;
    this.name = name;
    this.id = id;
    this.outer = outer;
    this.start = trace.now();
  }

  /** Its id is the end of that of the trace, as in CoreDNS. */
  static begin(trace: QueryTrace, name: string): TracedSpan {
    return new TracedSpan(trace, name, trace.id.subarray(-ID_OCTETS), undefined);
  }

  startChild(name: string): TracedSpan {
    return new TracedSpan(this.trace, name, drawId(), this.id);
  }

  setTag(name: string, value: string): void {
    this.tags ??= new Map();
    this.tags.set(name, value);
  }

  fail(message: string): void {
    this.failure = { time: this.trace.now(), message };
  }

  end(): void {
    this.duration = this.trace.now() - this.start;
    this.trace.onEnd(this);
  }
}

/** Random, and positive where it is read as a signed number. */
export function drawId(): Buffer {
  const id = randomBytes(ID_OCTETS);
  id[0] = (id[0] ?? 0) & 0x7f;
  return id;
}
