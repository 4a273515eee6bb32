/**
 * Who keeps cached answers, by texts that another process with the same settings has too.
 */
import { createHash } from 'node:crypto';
import type { AnswerKeeper } from '../../chain/handed-answer.ts';
import type { ServerBlockPlan } from '../../config/server/server-blocks-plan.ts';
import type { Plugin } from '../../contract/plugin.ts';

export interface KeepingBlock {
  readonly plan: ServerBlockPlan;
  /** Where it is reached first: `dns://:53`. */
  readonly server: string;
  readonly plugins: readonly { readonly name: string; readonly plugin: Plugin }[];
}

/**
 * Answers depend on all plugins of a block that handle queries, so a text has a digest of all of their options: with other options it
 * is another keeper.
 */
export function findKeepers(blocks: readonly KeepingBlock[]): ReadonlyMap<string, AnswerKeeper> {
  const keepers = new Map<string, AnswerKeeper>();
  for (const { plan, server, plugins } of blocks)
    for (const { name, plugin } of plugins) {
      const digest = plugin.keeper && digestOf(plan, plugins);
      if (plugin.keeper !== undefined && digest !== undefined)
        keepers.set(`${server} ${plan.zones.join()} ${name} ${digest}`, plugin.keeper);
    }
  return keepers;
}

/** Undefined: it has options that cannot be written down. */
function digestOf({ zones, plugins }: ServerBlockPlan, running: KeepingBlock['plugins']): string | undefined {
  const handling = plugins.filter((_, place) => running[place]?.plugin.handler !== undefined);
  try {
    const text = JSON.stringify([zones, handling.map(({ name, options }) => [name, options])], writeDown);
    return createHash('sha256').update(text).digest('base64url');
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Values of options that JSON has no form for. @throws TypeError for objects that may have more in them than they show */
function writeDown(_: string, value: unknown): unknown {
  // Code of the program: what options choose among is told by its name.
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof RegExp) return String(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || ArrayBuffer.isView(value)) return value;
  throw new TypeError('an object of a class');
}
