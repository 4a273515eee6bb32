/**
 * The cluster: whether it is known, how old the data is, how its watches stand.
 */
import type { Figures, WatchFigures } from '../figures.ts';
import { type Metric, one, type Sample, seconds } from './metric.ts';

const WATCH_STATES = ['idle', 'listing', 'watching', 'waiting'] as const;

const perWatch = (read: (watch: WatchFigures) => number | undefined) => (figures: Figures) =>
  figures.watches.flatMap((watch): readonly Sample[] => {
    const value = read(watch);
    return value === undefined ? [] : [[{ kind: watch.title }, value]];
  });

export const CLUSTER_METRICS: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_ready',
    help: '1 when /readyz says so.',
    labels: [],
    read: (figures) => one(figures.ready ? 1 : 0),
  },
  {
    kind: 'gauge',
    name: 'portolan_data_age_seconds',
    help: 'How long ago the data was last known to be what the API server holds.',
    labels: [],
    read: (figures) => one(seconds(figures.dataAge)),
  },
  {
    kind: 'gauge',
    name: 'portolan_watch_state',
    help: '1 for the state that the watch of a kind is in.',
    labels: ['kind', 'state'],
    read: (figures) =>
      figures.watches.flatMap(({ title, state }) =>
        WATCH_STATES.map((each): Sample => [{ kind: title, state: each }, each === state ? 1 : 0]),
      ),
  },
  {
    kind: 'gauge',
    name: 'portolan_watch_age_seconds',
    help: 'How long ago the objects of a kind were last known to be current.',
    labels: ['kind'],
    read: perWatch(({ age }) => seconds(age)),
  },
  {
    kind: 'gauge',
    name: 'portolan_objects',
    help: 'Objects held, by kind.',
    labels: ['kind'],
    read: perWatch(({ objects }) => objects),
  },
  {
    kind: 'counter',
    name: 'portolan_watch_lists_total',
    help: 'How often a kind was listed whole.',
    labels: ['kind'],
    read: perWatch(({ lists }) => lists),
  },
  {
    kind: 'counter',
    name: 'portolan_watch_repairs_total',
    help: 'How often a kind was listed again since what was held was wrong.',
    labels: ['kind'],
    read: perWatch(({ repairs }) => repairs),
  },
  {
    kind: 'counter',
    name: 'portolan_malformed_objects_total',
    help: 'Objects left out since they could not be understood.',
    labels: ['kind'],
    read: perWatch(({ malformed }) => malformed),
  },
];
