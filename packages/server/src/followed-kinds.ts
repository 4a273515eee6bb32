/**
 * How each kind of object is followed: by the server, and by plugins with a cluster of their own.
 */
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';

/** Times in milliseconds. */
export interface FollowedKind {
  /** As in `services`. */
  readonly kind: string;
  readonly state: string;
  readonly age: number | undefined;
  readonly objects: number;
  /** How often it was listed completely. */
  readonly lists: number;
  /** For people; undefined: all is well. */
  readonly words: string | undefined;
}

/** @param reasons why the server does not know its cluster yet; those about a kind begin with it */
export function listKinds(
  inspections: readonly PluginInspection[],
  watches: readonly WatchStats[],
  reasons: readonly string[],
): readonly FollowedKind[] {
  const ofPlugins = clustersIn(inspections).flatMap(({ status }) => status?.kinds ?? []);
  return [
    ...watches.map(({ title, state, age, objects, lists }) => ({
      kind: title,
      state,
      age,
      objects,
      lists,
      words: reasons.find((reason) => reason.startsWith(`${title}: `))?.slice(title.length + 2),
    })),
    ...ofPlugins.map(({ title, state, age, objects, lists, words }) => ({
      kind: title,
      state: state.kind,
      age,
      objects,
      lists,
      words: words === state.kind ? undefined : words,
    })),
  ];
}
