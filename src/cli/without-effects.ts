/**
 * Leaves out what a plan writes or sends beside answers, for commands that only compare.
 */
import type { ServerPlan } from '../config/server/server-plan.ts';

/** `loop` asks the upstream servers for a name of its own. */
const EFFECTS: ReadonlySet<string> = new Set(['dnstap', 'log', 'loop']);

export function withoutEffects(plan: ServerPlan): ServerPlan {
  const blocks = plan.engine.blocks.map((block) => ({
    ...block,
    plugins: block.plugins
      .filter(({ name }) => !EFFECTS.has(name))
      .map((plugin) =>
        plugin.name === 'portolan'
          ? { ...plugin, options: { ...plugin.options, snapshot: undefined } }
          : plugin,
      ),
  }));
  return { ...plan, engine: { ...plan.engine, blocks } };
}
