/**
 * One event of a watch as a value, from a line of JSON or a frame of Protocol Buffers.
 */
import { ProtobufError } from '@portolan/kernel/base/protobuf-message.ts';
import { asRecord, asText } from '../../objects/trim/fields.ts';
import { readEvent } from '../../protobuf/envelope.ts';
import { type Failure, toFailure } from './failure.ts';

export type WatchEvent =
  | { readonly kind: 'upsert'; readonly object: unknown; readonly resourceVersion: string | undefined }
  | { readonly kind: 'delete'; readonly object: unknown; readonly resourceVersion: string | undefined }
  /** Its object has only the resource version. */
  | {
      readonly kind: 'bookmark';
      readonly resourceVersion: string | undefined;
      /** The server has now sent all objects that existed when the watch began. */
      readonly endsInitialEvents: boolean;
    }
  | { readonly kind: 'error'; readonly failure: Failure }
  /** An invalid event: its content is lost. */
  | { readonly kind: 'broken'; readonly problem: string };

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Never throws. `now` is in milliseconds since the epoch. */
export function readWatchEvent(line: string, now: number): WatchEvent {
  const event = asRecord(parse(line));
  if (event === undefined) return { kind: 'broken', problem: 'not a JSON object' };
  return toEvent(event['type'], event['object'], now);
}

/** Never throws. `now` is in milliseconds since the epoch. */
export function readWatchFrame(frame: Buffer, now: number): WatchEvent {
  try {
    const { type, object } = readEvent(frame);
    return toEvent(type, object, now);
  } catch (error) {
    if (error instanceof ProtobufError) return { kind: 'broken', problem: error.message };
    throw error;
  }
}

function toEvent(type: unknown, object: unknown, now: number): WatchEvent {
  const metadata = asRecord(asRecord(object)?.['metadata']);
  const resourceVersion = asText(metadata?.['resourceVersion']);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { kind: 'upsert', object, resourceVersion };
    case 'DELETED':
      return { kind: 'delete', object, resourceVersion };
    case 'BOOKMARK': {
      const endsInitialEvents = asRecord(metadata?.['annotations'])?.[INITIAL_EVENTS_END] === 'true';
      return { kind: 'bookmark', resourceVersion, endsInitialEvents };
    }
    case 'ERROR': {
      const code = asRecord(object)?.['code'];
      const status = typeof code === 'number' ? code : 500;
      return { kind: 'error', failure: toFailure(status, object, undefined, now) };
    }
    default:
      return { kind: 'broken', problem: 'an unknown type' };
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
