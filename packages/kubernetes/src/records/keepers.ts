/**
 * How the objects of each kind are kept as records.
 */
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import type { EndpointsObject, NamespaceObject, ObjectKey, ServiceObject } from '../objects/objects.ts';
import { keyOfObject } from '../objects/objects.ts';
import { DraftedService, DraftedSlice } from './drafted.ts';
import { draftService, draftSlice, serviceKey, sliceKey, toWireLabel } from './fill-drafts.ts';
import type { RecordKeeper } from './record-sink.ts';

const changedIf = (isChanged: boolean) => (isChanged ? 'changed' : 'same');

/** The namespace and the name in a key. */
function namesIn(key: ObjectKey): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}

export function keepServices(writer: RecordWriter): RecordKeeper<ServiceObject> {
  return {
    put(object, list) {
      const draft = object instanceof DraftedService ? object.draft : draftService(object);
      return draft.isUsable ? changedIf(writer.putService(draft, list)) : 'unusable';
    },
    remove(key) {
      const octets = serviceKey(...namesIn(key));
      return octets !== undefined && writer.removeService(octets);
    },
    sweep: (list) => writer.sweepServices(list),
    count: () => writer.services,
  };
}

export function keepSlices(writer: RecordWriter): RecordKeeper<EndpointsObject> {
  const remove = (key: ObjectKey) => {
    const octets = sliceKey(...namesIn(key));
    return octets !== undefined && writer.removeSlice(octets);
  };
  return {
    put(object, list) {
      const draft = object instanceof DraftedSlice ? object.draft : draftSlice(object);
      if (draft.isUsable) return changedIf(writer.putSlice(draft, list));
      // It may have belonged to a service with a usable name.
      remove(keyOfObject(object));
      return 'unusable';
    },
    remove,
    sweep: (list) => writer.sweepSlices(list),
    count: () => writer.slices.count,
  };
}

export function keepNamespaces(writer: RecordWriter): RecordKeeper<NamespaceObject> {
  return {
    put({ name }, list) {
      const label = toWireLabel(name);
      return label === undefined ? 'unusable' : changedIf(writer.putNamespace(label, list));
    },
    remove(key) {
      const label = toWireLabel(key);
      return label !== undefined && writer.removeNamespace(label);
    },
    sweep: (list) => writer.sweepNamespaces(list),
    count: () => writer.namespaceObjects,
  };
}
