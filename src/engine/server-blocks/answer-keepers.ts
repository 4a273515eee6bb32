/**
 * The keepers of cached answers, by texts that another process with the same settings has too.
 */
import { createHash } from 'node:crypto';
import type { AnswerKeeper } from '../../chain/handed-answer.ts';
import type { FormerUse, ServerBlockPlan } from '../../config/server/server-blocks-plan.ts';
import type { Plugin } from '../../contract/plugin.ts';

export interface KeepingBlock {
  readonly plan: ServerBlockPlan;
  /** The first listener group that has it: `dns://:53`. */
  readonly server: string;
  readonly plugins: readonly { readonly name: string; readonly plugin: Plugin }[];
}

/** Keepers by their texts. */
export interface FoundKeepers {
  readonly current: ReadonlyMap<string, AnswerKeeper>;
  /** By the texts that a process of the version before has for them. */
  readonly former: ReadonlyMap<string, AnswerKeeper>;
}

/**
 * Answers depend on all plugins of a block that handle queries. The text of a keeper has a digest of their options, so that it
 * differs for other options.
 */
export function findKeepers(blocks: readonly KeepingBlock[]): FoundKeepers {
  const current = new Map<string, AnswerKeeper>();
  const former = new Map<string, AnswerKeeper>();
  for (const { plan, server, plugins } of blocks) {
    const keeping = plugins.flatMap(({ name, plugin: { keeper } }) => (keeper ? [{ name, keeper }] : []));
    if (keeping.length === 0) continue;
    const uses = plan.plugins.map(({ name, options }, place) => ({ name, options, place }));
    const digest = digestUses(plan.zones, uses, plugins);
    const formerDigest = digestUses(plan.zones, plan.formerUses ?? uses, plugins);
    for (const { name, keeper } of keeping) {
      const textWith = (of: string) => `${server} ${plan.zones.join()} ${name} ${of}`;
      if (digest !== undefined) current.set(textWith(digest), keeper);
      if (formerDigest !== undefined) former.set(textWith(formerDigest), keeper);
    }
  }
  return { current, former };
}

/** Undefined: the block has options that JSON cannot represent. */
function digestUses(
  zones: ServerBlockPlan['zones'],
  uses: readonly FormerUse[],
  running: KeepingBlock['plugins'],
): string | undefined {
  const handling = uses.filter(({ place }) => running[place]?.plugin.handler !== undefined);
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
