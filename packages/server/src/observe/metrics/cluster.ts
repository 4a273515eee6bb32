/**
 * Metrics of the cluster: whether it is known, the age of its data, and the state of its watches.
 */
import { one, type Sample } from '@portolan/kernel/base/metrics/family.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import type { Stats } from '../stats.ts';
import { type Metric, seconds } from './metric.ts';

const WATCH_STATES = ['idle', 'listing', 'watching', 'silent', 'waiting'] as const;

const perWatch = (read: (watch: WatchStats) => number | undefined) => (stats: Stats) =>
  stats.watches.flatMap((watch): readonly Sample[] => {
    const value = read(watch);
    return value === undefined ? [] : [[{ kind: watch.title }, value]];
  });

export const CLUSTER_METRICS: readonly Metric[] = [
  {
    type: 'gauge',
    name: 'portolan_ready',
    help: '1 while /readyz answers 200.',
    labels: [],
    read: (stats) => one(stats.ready ? 1 : 0),
  },
  {
    type: 'gauge',
    name: 'portolan_data_age_seconds',
    help: 'Time since the data was last known to be current.',
    labels: [],
    read: (stats) => one(seconds(stats.dataAge)),
  },
  {
    type: 'gauge',
    name: 'portolan_watch_state',
    help: '1 for the current state of the watch of a kind.',
    labels: ['kind', 'state'],
    read: (stats) =>
      stats.watches.flatMap(({ title, state }) =>
        WATCH_STATES.map((each): Sample => [{ kind: title, state: each }, each === state ? 1 : 0]),
      ),
  },
  {
    type: 'gauge',
    name: 'portolan_watch_age_seconds',
    help: 'Time since the objects of a kind were last known to be current.',
    labels: ['kind'],
    read: perWatch(({ age }) => seconds(age)),
  },
  {
    type: 'gauge',
    name: 'portolan_objects',
    help: 'Objects held, by kind.',
    labels: ['kind'],
    read: perWatch(({ objects }) => objects),
  },
  {
    type: 'counter',
    name: 'portolan_watch_lists_total',
    help: 'Complete lists of a kind.',
    labels: ['kind'],
    read: perWatch(({ lists }) => lists),
  },
  {
    type: 'counter',
    name: 'portolan_watch_relists_total',
    formerName: 'portolan_watch_repairs_total',
    help: 'Lists of a kind made because the objects held differed from those of the API server.',
    labels: ['kind'],
    read: perWatch(({ repairs }) => repairs),
  },
  {
    type: 'counter',
    name: 'portolan_malformed_objects_total',
    help: 'Malformed objects left out.',
    labels: ['kind'],
    read: perWatch(({ malformed }) => malformed),
  },
];
