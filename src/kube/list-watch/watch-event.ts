/**
 * One line of a watch stream as a value.
 */
import { asRecord, asText } from '../trim/fields.ts';
import { type Failure, failureOf } from './failure.ts';

export type WatchEvent =
  | { readonly kind: 'upsert'; readonly object: unknown; readonly resourceVersion: string | undefined }
  | { readonly kind: 'delete'; readonly object: unknown; readonly resourceVersion: string | undefined }
  /** Its object is empty but for the resource version. */
  | {
      readonly kind: 'bookmark';
      readonly resourceVersion: string | undefined;
      /** The last of the objects that stood when the watch began has been sent. */
      readonly endsInitialEvents: boolean;
    }
  | { readonly kind: 'error'; readonly failure: Failure }
  /** Nothing that a watch should say: whatever it was is lost to us. */
  | { readonly kind: 'broken'; readonly problem: string };

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Never throws. `now` is in milliseconds since the epoch. */
export function readWatchEvent(line: string, now: number): WatchEvent {
  const event = asRecord(parse(line));
  const object = event?.['object'];
  const metadata = asRecord(asRecord(object)?.['metadata']);
  const resourceVersion = asText(metadata?.['resourceVersion']);
  switch (event?.['type']) {
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
      return { kind: 'error', failure: failureOf(status, object, undefined, now) };
    }
    default:
      return { kind: 'broken', problem: event === undefined ? 'not a JSON object' : 'an unknown type' };
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
