/**
 * The services that the engine offers to the plugins of a block.
 */
import { COUNTERS, type Counters, type Service, STORED_ANSWERS, type StoredAnswers } from '@portolan/plugin';
import type { Offer } from '../../base/capability.ts';
import type { Losses } from '../../base/losses.ts';
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import { type Chain, composeChain, type Handler } from '../../chain/handler.ts';
import { CountFamily } from '../../chain/handler-counts.ts';
import type { UsedServices } from '../../contract/owned-service.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import {
  ANSWER_TABLE,
  BLOCK,
  FORWARDING,
  type ForwardingService,
  LOSSES,
  PLAN,
  QUERY_COUNTS,
  QUERY_LINES,
  type QueryLines,
} from '../../contract/services.ts';
import type { EnginePlan } from '../../plan/engine-plan.ts';
import type { QueryCounts } from '../../table/counter-sums.ts';
import type { TableWriter } from '../../table/writer.ts';

/** The block as far as it is made. */
export interface BlockInMaking {
  readonly plugins: readonly { readonly name: string; readonly plugin: Plugin }[];
  readonly handlers: readonly Handler[];
}

export interface ServedBlock {
  /** Of its plugins, in order. */
  readonly names: readonly string[];
  readonly made: BlockInMaking;
}

export interface ServedPlan {
  readonly plan: EnginePlan;
  /** Whether no plan has answered yet. */
  readonly isFirst: boolean;
}

export interface OfferedServices extends ForwardingService {
  readonly table: TableWriter;
  readonly metrics: MetricRegistry;
  readonly losses: Losses;
  readonly queryLog: QueryLines;
  readonly countQueries: () => QueryCounts;
  readonly version: string;
}

/** What all blocks of a plan offer, by name. */
export function offerServices(
  { plan, isFirst }: ServedPlan,
  {
    table,
    metrics,
    losses,
    queryLog,
    countQueries,
    version,
    readerPath,
    forwardTally,
    connectUpstream,
  }: OfferedServices,
): ReadonlyMap<string, unknown> {
  const offers: readonly Offer[] = [
    ANSWER_TABLE.offer(table),
    {
      capability: COUNTERS,
      value: {
        family: (name, help, labels = ['server', 'view']) => new CountFamily(metrics, name, help, labels),
      } satisfies Counters,
    },
    { capability: STORED_ANSWERS, value: { drop: () => table.planChanged() } satisfies StoredAnswers },
    PLAN.offer({
      version,
      restored: plan.restored,
      isFirst,
      listensAt: (address, port) => listensAt(plan, address, port),
    }),
    QUERY_LINES.offer(queryLog),
    FORWARDING.offer({ readerPath, forwardTally, connectUpstream }),
    LOSSES.offer(losses),
    QUERY_COUNTS.offer(countQueries),
  ];
  return new Map(offers.map(({ capability, value }) => [capability.name, value]));
}

/** What a block offers of itself. */
export function offerBlock({ names, made }: ServedBlock): Offer {
  return BLOCK.offer({
    pluginNames: names,
    handlers: () => made.handlers,
    handlerNames: () => made.handlers.map(({ name }) => name),
    furtherHandler: (name, place) => made.plugins.find((each) => each.name === name)?.plugin.further?.[place],
    chainBehind: (name) => composeBehind(made, name),
  });
}

function listensAt({ groups }: EnginePlan, address: string, port: number): boolean {
  return groups.some(
    (group) =>
      group.server.startsWith('dns:') && group.port === port && ['', address].includes(group.address ?? ''),
  );
}

function composeBehind({ plugins }: BlockInMaking, name: string): Chain {
  const place = plugins.findIndex((each) => each.name === name);
  return composeChain(plugins.slice(place + 1).flatMap(({ plugin }) => plugin.handler ?? []));
}

/** @throws TypeError where there is none */
export function findService<Value>({ name }: Service<Value>, find: (name: string) => unknown): Value {
  const found = find(name);
  if (found === undefined) throw new TypeError(`no service: ${name}`);
  // A name has one type.
  return found as Value;
}

/** The context of the block for one of its plugins. */
export function withServices(context: PluginContext, services: UsedServices): PluginContext {
  const use: PluginContext['use'] = (service) =>
    services.has(service.name) ? findService(service, (name) => services.find(name)) : context.use(service);
  return { ...context, use };
}
