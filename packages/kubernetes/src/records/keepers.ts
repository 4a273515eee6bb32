/**
 * How the objects of each kind are kept as records. Those that are lost in a sudden loss stay, as stale ones.
 */
import type { LossGuard, LossMark, LossSource, StaleNames } from '@portolan/kernel/base/losses.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { NO_LIST } from '@portolan/kernel/records/stale-entries.ts';
import type { EndpointsObject, NamespaceObject, ObjectKey, ServiceObject } from '../objects/objects.ts';
import { keyOfObject } from '../objects/objects.ts';
import { DraftedService, DraftedSlice } from './drafted.ts';
import { draftService, draftSlice, serviceKey, sliceKey, toWireLabel } from './fill-drafts.ts';
import type { RecordKeeper } from './record-sink.ts';

/** Makes the guard of the objects of one kind. */
export type GuardRecords = (kind: LossSource['kind'], stale: StaleNames) => LossGuard;

const changedIf = (isChanged: boolean) => (isChanged ? 'changed' : 'same');

/** The namespace and the name in a key. */
function namesIn(key: ObjectKey): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

/** What becomes of entries that the source has lost. */
interface LostRecords {
  readonly guard: LossGuard;
  /** Of those that are not stale. */
  readonly present: () => number;
  readonly keep: (entry: number, mark: LossMark) => void;
  readonly drop: (entry: number) => void;
}

/** @returns whether there were any */
function lose(entries: readonly number[], { guard, present, keep, drop }: LostRecords): boolean {
  const mark = guard.judge(entries.length, present);
  for (const entry of entries)
    if (mark === 0) drop(entry);
    else keep(entry, mark);
  return entries.length > 0;
}

export function keepServices(writer: RecordWriter, makeGuard: GuardRecords): RecordKeeper<ServiceObject> {
  const { stale } = writer;
  const all = () => writer.servicesMissingIn(NO_LIST).filter((entry) => stale.markOfService(entry) !== 0);
  const guard = makeGuard('services', {
    count: () => stale.services,
    remove(mark) {
      for (const entry of all()) if (stale.markOfService(entry) === mark) writer.dropService(entry);
    },
  });
  const lost: LostRecords = {
    guard,
    present: () => writer.services - stale.services,
    keep: (entry, mark) => stale.keepService(entry, mark),
    drop: (entry) => writer.dropService(entry),
  };
  return {
    put(object, list) {
      const draft = object instanceof DraftedService ? object.draft : draftService(object);
      if (!draft.isUsable) return 'unusable';
      const before = stale.services;
      const isChanged = writer.putService(draft, list);
      if (before === stale.services) return changedIf(isChanged);
      guard.settle();
      return 'changed';
    },
    remove(key) {
      const octets = serviceKey(...namesIn(key));
      const entry = octets === undefined ? 0 : writer.findServiceObject(octets);
      return entry !== 0 && lose([entry], lost);
    },
    sweep: (list) =>
      lose(
        writer.servicesMissingIn(list).filter((entry) => stale.markOfService(entry) === 0),
        lost,
      ),
    count: () => writer.services - stale.services,
    guard,
  };
}

/** A service, and the last of its slices. */
type ServiceLoss = readonly [service: number, slices: readonly number[]];

/**
 * A service loses its endpoints with the last of its slices: these losses count. Where other slices remain, or new ones have come, a
 * slice that is gone has no say.
 */
export function keepSlices(writer: RecordWriter, makeGuard: GuardRecords): RecordKeeper<EndpointsObject> {
  const { slices, stale } = writer;
  const guard = makeGuard('endpoints', {
    count: () => stale.servicesWithSlices,
    remove(mark) {
      for (const slice of stale.listSlices()) if (stale.markOfSlice(slice) === mark) writer.dropSlice(slice);
    },
  });
  /** Slices of a service that are not stale. */
  const countPresent = (service: number) => slices.countAt(service) - stale.slicesAt(service).length;
  const present = () => {
    const services = new Set<number>();
    for (const slice of slices.all())
      if (stale.markOfSlice(slice) === 0) services.add(slices.readService(slice));
    return services.size;
  };
  const drop = (gone: readonly number[]) => {
    for (const slice of gone) writer.dropSlice(slice);
  };
  const end = (losses: readonly ServiceLoss[], mark: LossMark) => {
    for (const [service, gone] of losses)
      if (mark === 0) drop(gone);
      else for (const slice of gone) stale.keepSlice(slice, service, mark);
  };
  /** @param gone not stale */
  const lose = (gone: readonly number[]): boolean => {
    const own: ServiceLoss[] = [];
    const ofStale: ServiceLoss[] = [];
    for (const [service, lost] of groupByService(gone, (slice) => slices.readService(slice))) {
      if (lost.length < countPresent(service)) drop(lost);
      else (stale.markOfService(service) === 0 ? own : ofStale).push([service, lost]);
    }
    end(own, guard.judge(own.length, present));
    // A stale service keeps its endpoints.
    end(ofStale, guard.keep(ofStale.length, present));
    return gone.length > 0;
  };
  const remove = (key: ObjectKey) => {
    const octets = sliceKey(...namesIn(key));
    const slice = octets === undefined ? 0 : slices.find(octets);
    return slice !== 0 && lose([slice]);
  };
  return {
    put(object, list) {
      const draft = object instanceof DraftedSlice ? object.draft : draftSlice(object);
      if (!draft.isUsable) {
        // It may have belonged to a service with a usable name.
        remove(keyOfObject(object));
        return 'unusable';
      }
      if (stale.slices === 0) return changedIf(writer.putSlice(draft, list));
      const key = draft.key.items.subarray(0, draft.key.length);
      const isNew = slices.find(key) === 0;
      const before = stale.slices;
      const isChanged = writer.putSlice(draft, list);
      // A new slice replaces those that are gone; of those that come back, others may follow.
      if (isNew) drop(stale.slicesAt(slices.readService(slices.find(key))));
      if (before === stale.slices) return changedIf(isChanged);
      guard.settle();
      return 'changed';
    },
    remove,
    sweep(list) {
      const before = stale.slices;
      const lost: number[] = [];
      for (const slice of slices.missingIn(list))
        if (stale.markOfSlice(slice) === 0) lost.push(slice);
        // Its service has other endpoints again.
        else if (countPresent(slices.readService(slice)) > 0) writer.dropSlice(slice);
      if (stale.slices < before) guard.settle();
      return lose(lost) || stale.slices < before;
    },
    count: () => slices.count - stale.slices,
    guard,
  };
}

function groupByService(
  slices: readonly number[],
  readService: (slice: number) => number,
): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, number[]>();
  for (const slice of slices) {
    const service = readService(slice);
    const group = groups.get(service);
    if (group === undefined) groups.set(service, [slice]);
    else group.push(slice);
  }
  return groups;
}

export function keepNamespaces(writer: RecordWriter, makeGuard: GuardRecords): RecordKeeper<NamespaceObject> {
  const { stale } = writer;
  const guard = makeGuard('namespaces', {
    count: () => stale.namespaces,
    remove(mark) {
      for (const entry of writer.namespacesMissingIn(NO_LIST))
        if (stale.markOfNamespace(entry) === mark) writer.dropNamespace(entry);
    },
  });
  const lost: LostRecords = {
    guard,
    present: () => writer.namespaceObjects - stale.namespaces,
    keep: (entry, mark) => stale.keepNamespace(entry, mark),
    drop: (entry) => writer.dropNamespace(entry),
  };
  return {
    put({ name }, list) {
      const label = toWireLabel(name);
      if (label === undefined) return 'unusable';
      const before = stale.namespaces;
      const isNew = writer.putNamespace(label, list);
      if (before !== stale.namespaces) guard.settle();
      return changedIf(isNew);
    },
    remove(key) {
      const label = toWireLabel(key);
      const entry = label === undefined ? 0 : writer.findNamespace(label);
      return entry !== 0 && writer.isObject(entry) && lose([entry], lost);
    },
    sweep: (list) =>
      lose(
        writer.namespacesMissingIn(list).filter((entry) => stale.markOfNamespace(entry) === 0),
        lost,
      ),
    count: () => writer.namespaceObjects - stale.namespaces,
    guard,
  };
}
