/**
 * `prometheus`: metrics of a server block, over HTTP.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { readListenAddress } from '@portolan/corefile/directive/listen-address.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { BLOCK, PLAN } from '@portolan/kernel/contract/services.ts';
import type { PrometheusOptions } from './options.ts';
import { createPrometheusHandler } from './prometheus.ts';

const DEFAULT_ADDRESS = 'localhost:9153';

/** `prometheus [ADDRESS] { runtime_metrics; tls FILE }`. Source: plugin/metrics of CoreDNS 1.14.7. */
export const prometheus = definePlugin({
  name: 'prometheus',
  syntax: ['prometheus [ADDRESS] {', '    runtime_metrics', '    tls FILE', '}'],
  read(cursor): PrometheusOptions {
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
  create(_, context) {
    const { handlerNames } = context.use(BLOCK);
    const { restored } = context.use(PLAN);
    const pluginBehind = () => handlerNames()[handlerNames().indexOf('prometheus') + 1] ?? '';
    const findCountedPlugin = restored.has('plugin-label')
      ? pluginBehind
      : ({ answeredBy }: Query) => answeredBy;
    // Readers do not know the rewritten name.
    const computeQuerySize = restored.has('size-as-received')
      ? ({ octets }: Query) => octets
      : ({ site }: Query) => site.octets;
    const countsFurther = restored.has('further-questions');
    return {
      handler: createPrometheusHandler({ ...context, findCountedPlugin, computeQuerySize, countsFurther }),
    };
  },
});

function readTls(cursor: DirectiveCursor, before: string | undefined): string | undefined {
  if (before !== undefined)
    throw cursor.error('tls block already specified', 'Take one of the two lines out.');
  return cursor.remainingBetween(1, 1)[0];
}
