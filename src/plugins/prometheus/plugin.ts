/**
 * `prometheus`: metrics of a server block, over HTTP.
 */

import type { Directive } from '../../corefile/directive/directive.ts';
import type { DirectiveCursor } from '../../corefile/directive/directive-cursor.ts';
import { readListenAddress } from '../../corefile/directive/listen-address.ts';
import type { PrometheusOptions } from './options.ts';

const DEFAULT_ADDRESS = 'localhost:9153';

/** `prometheus [ADDRESS] { runtime_metrics; tls FILE }`. Source: plugin/metrics of CoreDNS 1.14.7. */
export const prometheus: Directive<PrometheusOptions> = {
  syntax: ['prometheus [ADDRESS] {', '    runtime_metrics', '    tls FILE', '}'],
  read(cursor) {
    let address = DEFAULT_ADDRESS;
    let hasRuntimeMetrics = false;
    let tlsConfiguration: string | undefined;
    cursor.onlyUse(() => {
      address = readListenAddress(cursor, address);
      cursor.properties(
        {
          runtime_metrics: () => {
            cursor.remainingBetween(0, 0);
            hasRuntimeMetrics = true;
          },
          tls: () => {
            tlsConfiguration = readTls(cursor, tlsConfiguration);
          },
        },
        (name) => cursor.error(`unknown option: ${name}`, 'Known here: runtime_metrics, tls.'),
      );
    });
    return { address, hasRuntimeMetrics, tlsConfiguration };
  },
};

function readTls(cursor: DirectiveCursor, before: string | undefined): string | undefined {
  if (before !== undefined)
    throw cursor.error('tls block already specified', 'Take one of the two lines out.');
  return cursor.remainingBetween(1, 1)[0];
}
