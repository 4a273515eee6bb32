/**
 * Leaves out what a plan writes or sends beside answers, for commands that only compare.
 */
import { portolan } from '@portolan/frontends/plugins/portolan/plugin.ts';
import { findPluginOptions, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { mapUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';

export function dropSideEffects(plan: ServerPlan): ServerPlan {
  const blocks = plan.engine.blocks.map((block) => ({
    ...block,
    plugins: block.plugins.filter(({ definition }) => definition.hasSideEffects !== true),
  }));
  const engine = mapUses({ ...plan.engine, blocks }, (use) => {
    const options = findPluginOptions([use], portolan);
    return options === undefined ? use : usePlugin(portolan, { ...options, snapshot: undefined });
  });
  return { ...plan, engine };
}
