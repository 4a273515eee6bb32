/**
 * The keepers of cached answers, by texts that another process with the same settings has too.
 */
import { createHash } from 'node:crypto';
import type { AnswerKeeper } from '../../chain/handover-answer.ts';
import type { Plugin } from '../../contract/plugin.ts';
import type { ServerBlockPlan } from '../../plan/server-blocks-plan.ts';

export interface KeepingBlock {
  readonly plan: ServerBlockPlan;
  /** The first listener group that has it: `dns://:53`. */
  readonly server: string;
  readonly plugins: readonly { readonly name: string; readonly plugin: Plugin }[];
}

/**
 * Answers depend on all plugins of a block that handle queries. The text of a keeper has a digest of their options, so that it
 * differs for other options. A process of another version may have other options for the same configuration: then it starts with an empty
 * cache.
 */
export function findKeepers(blocks: readonly KeepingBlock[]): ReadonlyMap<string, AnswerKeeper> {
  const keepers = new Map<string, AnswerKeeper>();
  for (const { plan, server, plugins } of blocks)
    for (const { name, plugin } of plugins) {
      const digest = plugin.keeper && computeDigest(plan, plugins);
      if (plugin.keeper !== undefined && digest !== undefined)
        keepers.set(`${server} ${plan.zones.join()} ${name} ${digest}`, plugin.keeper);
    }
  return keepers;
}

/** Undefined: the block has options that JSON cannot represent. */
function computeDigest(
  { zones, plugins }: ServerBlockPlan,
  running: KeepingBlock['plugins'],
): string | undefined {
  const handling = plugins.filter((_, place) => running[place]?.plugin.handler !== undefined);
  try {
    const text = JSON.stringify([zones, handling.map(({ name, options }) => [name, options])], writeDown);
    return createHash('sha256').update(text).digest('base64url');
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Converts values that JSON cannot represent. @throws TypeError for objects that may have hidden state */
function writeDown(_: string, value: unknown): unknown {
  // A function of the program: its name identifies the choice.
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof RegExp) return String(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || ArrayBuffer.isView(value)) return value;
  throw new TypeError('an object of a class');
}
