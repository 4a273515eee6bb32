/**
 * `k8s_external`: services of a cluster for clients outside it.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type Draft,
  fallthroughZones,
  readTtl,
  zonesOrBlock,
} from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { tryParseKey } from '@portolan/dns/name.ts';
import { PLAN } from '@portolan/kernel/contract/services.ts';
import type { K8sExternalOptions } from './options.ts';

const MAX_TTL = 3600;

/** Source: plugin/k8s_external of CoreDNS 1.14.7. The zones are those of the last use. */
export const k8s_external = definePlugin({
  name: 'k8s_external',
  answers: true,
  syntax: [
    'k8s_external [ZONES…] {',
    '    apex LABEL',
    '    ttl SECONDS',
    '    headless',
    '    fallthrough [ZONES…]',
    '}',
  ],
  read(cursor, context): K8sExternalOptions {
    const draft: Draft<K8sExternalOptions> = {
      zones: context.zones,
      apex: 'dns',
      ttl: 5,
      hasEndpoints: false,
      fallthrough: [],
    };
    cursor.eachUse(() => {
      draft.zones = zonesOrBlock(cursor.remainingArguments(), context);
      cursor.properties({
        apex: () => {
          draft.apex = readApex(cursor);
        },
        ttl: () => {
          draft.ttl = readTtl(cursor, MAX_TTL);
        },
        headless: () => {
          draft.hasEndpoints = true;
        },
        fallthrough: () => {
          draft.fallthrough = fallthroughZones(cursor.remainingArguments());
        },
      });
    });
    return draft;
  },
  async load() {
    const { K8sExternal } = await import('./k8s-external-plugin.ts');
    const { Transfer } = await import('@portolan/plugins/transfer/transfer.ts');
    return {
      create(options, context) {
        const transfer = context.find(Transfer);
        const onChange = (zone: K8sExternalOptions['zones'][number]) => transfer?.notify(zone);
        const made = new K8sExternal(options, {
          ...context,
          ...context.use(PLAN),
          chain: context.lookUp,
          onChange,
        });
        transfer?.add(made);
        return made;
      },
    };
  },
});

function readApex(cursor: DirectiveCursor): string {
  const [text] = cursor.remainingArguments();
  const remedy = 'Give a label, as in apex dns.';
  if (text === undefined) throw cursor.argumentError(remedy);
  const apex = tryParseKey(text);
  if (apex === undefined) throw cursor.error(`invalid apex ${JSON.stringify(text)}`, remedy);
  return apex.slice(0, -1);
}
