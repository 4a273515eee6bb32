/**
 * Metrics of rejected items of sources: keys, objects, files and lines.
 */
import { countRejectedItems } from '../../base/item-fence.ts';
import type { Metric } from './metric.ts';

export const ITEM_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_rejected_items_total',
    help: 'Keys, objects, files and lines that were passed over, by source and reason.',
    labels: ['source', 'reason'],
    read: () => countRejectedItems().map(({ source, reason, count }) => [{ source, reason }, count] as const),
  },
];
