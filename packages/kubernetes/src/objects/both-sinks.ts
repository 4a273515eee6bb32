/**
 * Two sinks for the objects of one kind.
 */
import type { ObjectSink, WatchedObject } from './objects.ts';

/** Calls both sinks. @param first counts the objects */
export function bothSinks<Kind extends WatchedObject>(
  first: ObjectSink<Kind>,
  second: ObjectSink<Kind>,
): ObjectSink<Kind> {
  const takesDrafts = first.takesDrafts === true && second.takesDrafts === true;
  return {
    ...(takesDrafts ? { takesDrafts } : {}),
    listStarted() {
      first.listStarted();
      second.listStarted();
    },
    upsert(object) {
      first.upsert(object);
      second.upsert(object);
    },
    listCompleted() {
      first.listCompleted();
      second.listCompleted();
    },
    remove(key) {
      first.remove(key);
      second.remove(key);
    },
    count: () => first.count(),
  };
}
