/**
 * What changes between two plans: blocks, their zones and listeners, plugins and their options, endpoints.
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import type { PluginUse } from '@portolan/kernel/contract/plugin-use.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { ServerBlockPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';

export interface PlanChange {
  /** The block, or another part of the plan. */
  readonly where: string;
  /** `added`, `removed`, or an option with its old and new value. */
  readonly what: string;
}

/** The most changes that are listed; further ones are counted. */
const MAX_CHANGES = 500;
const MAX_DEPTH = 12;
const MAX_VALUE_LETTERS = 120;

/** In the order of the blocks. Empty: the plans are the same. */
export function changesBetween(old: ServerPlan, next: ServerPlan): readonly PlanChange[] {
  const changes = [...blockChanges(old.engine, next.engine), ...endpointChanges(old, next)];
  const rest = changes.length - MAX_CHANGES;
  if (rest <= 0) return changes;
  return [...changes.slice(0, MAX_CHANGES), { where: 'the plan', what: `${rest} further changes` }];
}

interface NamedBlock {
  /** Listeners and zones. */
  readonly name: string;
  readonly plugins: readonly PluginUse[];
}

function blockChanges(old: EnginePlan, next: EnginePlan): readonly PlanChange[] {
  const olds = namedBlocks(old);
  const nexts = namedBlocks(next);
  const removed = [...olds.keys()].filter((name) => !nexts.has(name));
  const changed = [...nexts.values()].flatMap((block) => {
    const former = olds.get(block.name);
    return former === undefined
      ? [{ where: block.name, what: `added: ${listPluginNames(block.plugins).join(' ')}` }]
      : pluginChanges(former, block);
  });
  return [...removed.map((where) => ({ where, what: 'removed' })), ...changed];
}

/** Blocks with the same listeners and zones, as with `view`, have numbers. */
function namedBlocks(plan: EnginePlan): ReadonlyMap<string, NamedBlock> {
  const named = new Map<string, NamedBlock>();
  for (const [index, block] of plan.blocks.entries()) {
    const plain = nameOfBlock(plan, block, index);
    let name = plain;
    let number = 2;
    for (; named.has(name); number += 1) name = `${plain} (${number})`;
    named.set(name, { name, plugins: block.plugins });
  }
  return named;
}

function nameOfBlock({ groups }: EnginePlan, { zones }: ServerBlockPlan, index: number): string {
  const servers = groups.filter(({ sites }) => sites.some(({ block }) => block === index));
  return [...servers.map(({ server }) => server), ...zones].join(' ');
}

const listPluginNames = (plugins: readonly PluginUse[]) => plugins.map(({ name }) => name);

function pluginChanges(old: NamedBlock, next: NamedBlock): readonly PlanChange[] {
  const where = next.name;
  const olds = listPluginNames(old.plugins);
  const nexts = listPluginNames(next.plugins);
  const common = olds.filter((name) => nexts.includes(name));
  const isMoved = !isDeepStrictEqual(
    common,
    nexts.filter((name) => olds.includes(name)),
  );
  const options = next.plugins.flatMap((plugin) => {
    const former = old.plugins.find(({ name }) => name === plugin.name);
    return former === undefined ? [] : valueChanges(plugin.name, former.options, plugin.options);
  });
  return [
    ...olds.filter((name) => !nexts.includes(name)).map((name) => `${name} removed`),
    ...nexts.filter((name) => !olds.includes(name)).map((name) => `${name} added`),
    ...(isMoved ? [`another order: ${nexts.join(' ')}`] : []),
    ...options,
  ].map((what) => ({ where, what }));
}

function endpointChanges(old: ServerPlan, next: ServerPlan): readonly PlanChange[] {
  const formatEndpoints = ({ endpoints }: ServerPlan) =>
    endpoints.map(({ kind, address }) => `${kind} at ${address}`);
  const olds = formatEndpoints(old);
  const nexts = formatEndpoints(next);
  return [
    ...olds.filter((text) => !nexts.includes(text)).map((text) => `${text} removed`),
    ...nexts.filter((text) => !olds.includes(text)).map((text) => `${text} added`),
  ].map((what) => ({ where: 'endpoints', what }));
}

/** The places in two values that differ, with both values. */
function valueChanges(path: string, old: unknown, next: unknown, depth = 0): readonly string[] {
  if (isDeepStrictEqual(old, next)) return [];
  const olds = listParts(old);
  const nexts = listParts(next);
  if (olds === undefined || nexts === undefined || depth >= MAX_DEPTH)
    return [`${path}: ${formatValue(old)} -> ${formatValue(next)}`];
  return [...new Set([...olds.keys(), ...nexts.keys()])].flatMap((key) => {
    const place = typeof key === 'number' ? `${path}[${key}]` : `${path}.${key}`;
    return valueChanges(place, olds.get(key), nexts.get(key), depth + 1);
  });
}

/** The parts of a plain object or an array; undefined for all other values. */
function listParts(value: unknown): ReadonlyMap<string | number, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.entries());
  const isPlain =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? new Map(Object.entries(value)) : undefined;
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'none';
  const text = inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 20 });
  return text.length > MAX_VALUE_LETTERS ? `${text.slice(0, MAX_VALUE_LETTERS)}…` : text;
}
