/**
 * `kubernetai`: the zones of several clusters in one block.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { Transfer } from '@portolan/plugins/transfer/transfer.ts';
import type { KubernetesOptions } from '../kubernetes/options.ts';
import { kubernetes, readStanza } from '../kubernetes/plugin.ts';

/** Source: coredns/kubernetai. Each use has the properties of `kubernetes`. */
export const kubernetai = definePlugin({
  name: 'kubernetai',
  before: 'kubernetes',
  answers: true,
  followsApiServer: () => true,
  outlivesPlans: () => true,
  syntax: ['kubernetai [ZONES…] {', ...kubernetes.syntax.slice(1, -1), '}'],
  read(cursor, context): readonly KubernetesOptions[] {
    const stanzas: KubernetesOptions[] = [];
    cursor.eachUse(() => readStanza(cursor, context, (options) => stanzas.push(options)));
    return stanzas;
  },
  async load() {
    const { Kubernetai } = await import('./kubernetai-plugin.ts');
    const { collectDependencies } = await import('../kubernetes/collect-dependencies.ts');
    return {
      create(stanzas, context, former) {
        const made = new Kubernetai(stanzas, collectDependencies(context), ofKind(Kubernetai, former));
        context.find(Transfer)?.add(made);
        return made;
      },
    };
  },
});
